import type {
  NameRecord,
  NamespaceNameRecord,
  TableNameRecord,
} from '@timelake/storage/name-records'

/** The newest usable metadata file of one folder, and what it says of its table or view. */
export interface FoundMetadata {
  readonly kind: TableNameRecord['kind']
  readonly metadataLocation: string
  readonly tableUuid: string
  readonly location: string
  readonly lastUpdatedMs: number
  /** Earlier metadata files that it names. */
  readonly earlierLocations: readonly string[]
}

export interface RecoveredNamespace {
  /** Absent when it is only known as the home of a table; then it gets a new one. */
  readonly id: string | undefined
  readonly levels: readonly string[]
  readonly properties: Readonly<Record<string, string>>
}

/** A table or a view. */
export interface RecoveredTable {
  readonly kind: TableNameRecord['kind']
  /** Absent when the name was lost; then it gets a new one. */
  readonly id: string | undefined
  readonly levels: readonly string[]
  readonly name: string
  readonly tableUuid: string
  readonly location: string
  readonly metadataLocation: string
}

export interface RecoveryPlan {
  /** Parents before children. */
  readonly namespaces: readonly RecoveredNamespace[]
  readonly tables: readonly RecoveredTable[]
  /** Metadata of tables without a recorded name that are not restored: dropped ones, mostly. */
  readonly unnamed: readonly FoundMetadata[]
  /** Sentences about what cannot be restored or needed a choice. */
  readonly problems: readonly string[]
}

export interface RecoveryInput {
  readonly records: readonly NameRecord[]
  readonly found: readonly FoundMetadata[]
  /** Namespace for tables whose name is lost; absent: they are only reported. */
  readonly unnamedInto: string | undefined
}

/**
 * Which rows a rebuilt database gets. A recorded table takes the newest metadata found for its UUID, in the folder
 * that the record names or in one that its history leads to. Pure; the order of the input does not matter.
 */
export function planRecovery({ records, found, unnamedInto }: RecoveryInput): RecoveryPlan {
  const problems: string[] = []
  const byUuid = groupByUuid(found)
  const recorded = records.filter((record) => record.kind !== 'namespace')
  const tables: RecoveredTable[] = []
  for (const record of [...recorded].sort(byName)) {
    const metadata = newestOf(record, byUuid.get(uuidKey(record)) ?? [])
    if (metadata === undefined) problems.push(`${label(record)}: no usable metadata file was found`)
    else tables.push({ ...identityOf(record), ...pointerOf(metadata) })
  }
  const used = new Set(recorded.map(uuidKey))
  const unnamed = found.filter((each) => !used.has(uuidKey(each)))
  const rescued =
    unnamedInto === undefined ? [] : unnamed.map((each) => rescuedTable(each, unnamedInto))
  const all = withoutClashes([...tables, ...rescued], problems)
  return {
    namespaces: planNamespaces(records, all),
    tables: all,
    unnamed: unnamedInto === undefined ? unnamed : [],
    problems,
  }
}

function groupByUuid(found: readonly FoundMetadata[]): Map<string, FoundMetadata[]> {
  const groups = new Map<string, FoundMetadata[]>()
  for (const each of found) {
    const group = groups.get(uuidKey(each))
    if (group === undefined) groups.set(uuidKey(each), [each])
    else group.push(each)
  }
  return groups
}

function uuidKey({ kind, tableUuid }: Pick<FoundMetadata, 'kind' | 'tableUuid'>): string {
  return `${kind} ${tableUuid}`
}

// A table whose location was changed has files in two folders, and a copied folder has the same UUID as its source:
// begin where the record says, and go on only to a folder whose history contains what was found there.
function newestOf(
  record: TableNameRecord,
  candidates: readonly FoundMetadata[],
): FoundMetadata | undefined {
  const home = folderOf(record.metadataLocation)
  const byTime = [...candidates].sort((left, right) => right.lastUpdatedMs - left.lastUpdatedMs)
  const atHome = byTime.find(({ metadataLocation }) => folderOf(metadataLocation) === home)
  let chosen = atHome ?? byTime[0]
  // Each folder at most once: files are untrusted and may name each other.
  const passed = new Set<FoundMetadata>()
  while (chosen !== undefined) {
    const at: FoundMetadata = chosen
    passed.add(at)
    const later = byTime.find(
      (each) => !passed.has(each) && each.earlierLocations.includes(at.metadataLocation),
    )
    if (later === undefined) return at
    chosen = later
  }
  return undefined
}

function identityOf({ kind, id, levels, name }: TableNameRecord) {
  return { kind, id, levels, name }
}

function pointerOf({ tableUuid, location, metadataLocation }: FoundMetadata) {
  return { tableUuid, location, metadataLocation }
}

// The folder is named after the table where the catalog chose it, so its name is the best hint there is.
function rescuedTable(metadata: FoundMetadata, namespace: string): RecoveredTable {
  const folder = metadata.location.replace(/\/+$/, '').split('/').at(-1) ?? 'table'
  const { kind } = metadata
  return { kind, id: undefined, levels: namespace.split('.'), name: folder, ...pointerOf(metadata) }
}

// Two records of one name are left by a crash between a drop and a create; two of one location by a broken record.
// Views may share a location among themselves.
function withoutClashes(tables: readonly RecoveredTable[], problems: string[]): RecoveredTable[] {
  const names = new Set<string>()
  const locations = new Map<string, FoundMetadata['kind']>()
  return tables.filter((table) => {
    const { kind, location } = table
    const name = JSON.stringify([table.levels, table.name])
    const there = locations.get(location)
    const isFree =
      !names.has(name) && (there === undefined || (there === 'view' && kind === 'view'))
    if (!isFree)
      problems.push(`${label(table)} at ${location}: name or location is taken by another table`)
    names.add(name)
    if (there !== 'table') locations.set(location, kind)
    return isFree
  })
}

function planNamespaces(
  records: readonly NameRecord[],
  tables: readonly RecoveredTable[],
): RecoveredNamespace[] {
  const namespaces = new Map<string, RecoveredNamespace>()
  const isNamespace = (record: NameRecord): record is NamespaceNameRecord =>
    record.kind === 'namespace'
  for (const { id, levels, properties } of records.filter(isNamespace)) {
    namespaces.set(JSON.stringify(levels), { id, levels, properties })
  }
  const homes = [...namespaces.values(), ...tables].map(({ levels }) => levels)
  for (const levels of homes) addMissing(namespaces, levels)
  return [...namespaces.values()].sort(
    (left, right) =>
      left.levels.length - right.levels.length || compareLevels(left.levels, right.levels),
  )
}

function addMissing(namespaces: Map<string, RecoveredNamespace>, levels: readonly string[]): void {
  for (let depth = 1; depth <= levels.length; depth += 1) {
    const ancestor = levels.slice(0, depth)
    const key = JSON.stringify(ancestor)
    if (!namespaces.has(key))
      namespaces.set(key, { id: undefined, levels: ancestor, properties: {} })
  }
}

function byName(left: TableNameRecord, right: TableNameRecord): number {
  return compareLevels(
    [...left.levels, left.name, left.id],
    [...right.levels, right.name, right.id],
  )
}

function compareLevels(left: readonly string[], right: readonly string[]): number {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)]
  return a < b ? -1 : Number(a > b)
}

function label({
  levels,
  name,
}: {
  readonly levels: readonly string[]
  readonly name: string
}): string {
  return [...levels, name].join('.')
}

function folderOf(location: string): string {
  return location.slice(0, location.lastIndexOf('/'))
}
