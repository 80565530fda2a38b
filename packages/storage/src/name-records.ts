/*
 * What a warehouse itself remembers of the names in its database, so that a lost database can be rebuilt: one small
 * JSON object per table, view and namespace under `<warehouse>/.timelake/names/<kind>/<id>/`. The database stays the
 * truth; these are copies that are read by `timelake recover` alone. A change writes a new, higher-numbered object and
 * then deletes the older ones, so a crash leaves the old or the new record, never half of one. The name of the object
 * holds a hash of its content, so a listing alone tells whether it says what the database says, and two processes that
 * write the same write one object.
 */
import { createHash } from 'node:crypto'
import { StoreUnavailableError, type ObjectEntry, type ObjectStore } from './object-store.ts'

/** The name of a table, or of a view. */
export interface TableNameRecord {
  readonly kind: 'table' | 'view'
  readonly id: string
  readonly tableUuid: string
  readonly levels: readonly string[]
  readonly name: string
  readonly location: string
  /** Newest metadata file when the record was written; there may be newer ones. */
  readonly metadataLocation: string
}

export interface NamespaceNameRecord {
  readonly kind: 'namespace'
  readonly id: string
  readonly levels: readonly string[]
  readonly properties: Readonly<Record<string, string>>
}

export type NameRecord = TableNameRecord | NamespaceNameRecord

export interface NameRecordKey {
  readonly kind: NameRecord['kind']
  readonly id: string
}

export interface StoredNames {
  readonly records: readonly NameRecord[]
  /** Locations of objects that are there but say nothing that can be understood. */
  readonly unreadable: readonly string[]
}

/** Several processes may write the records of one warehouse. The last one wins, so each must go on to what is newest. */
export interface NameRecords {
  /** Durable once it returns. Writing what is already recorded writes nothing. */
  put(record: NameRecord): Promise<void>
  /** Forgets the subject; forgetting one that is not recorded does nothing. */
  remove(key: NameRecordKey): Promise<void>
  /** Whether a record was already written when this was called: one listing instead of a look at each. */
  recorded(): Promise<(record: NameRecord) => boolean>
  /** The newest record of every subject. */
  readAll(): Promise<StoredNames>
}

const RECORD_BYTES_MAX = 4_194_304
const NUMBER_DIGITS = 8
const HASH_DIGITS = 16
const RECORD_READS_MAX = 16

/** The folder below a warehouse's location that is the server's own and no table's. */
export const WAREHOUSE_FOLDER = '.timelake'

/** The records below a warehouse's location. Errors: those of the store. */
export function openNameRecords(store: ObjectStore, warehouseLocation: string): NameRecords {
  const root = `${warehouseLocation}/${WAREHOUSE_FOLDER}/names`
  return {
    put: (record) => putRecord(store, root, record),
    remove: async (key) => deleteAll(store, await versionsOf(store, folderOf(root, key))),
    async recorded() {
      const newest = await newestByFolder(store, root)
      return (record) => newest.get(folderOf(root, record))?.hash === hashOf(textOf(record))
    },
    readAll: () => readAll(store, root),
  }
}

interface RecordVersion {
  readonly location: string
  readonly number: number
  /** Absent in the names that earlier releases gave. */
  readonly hash: string | undefined
  readonly lastModifiedMs: number
}

async function putRecord(store: ObjectStore, root: string, record: NameRecord): Promise<void> {
  const folder = folderOf(root, record)
  const versions = await versionsOf(store, folder)
  const newest = versions.at(-1)
  const text = textOf(record)
  const hash = hashOf(text)
  if (newest !== undefined && newest.hash === hash) return deleteAll(store, versions.slice(0, -1))
  const number = String((newest?.number ?? 0) + 1).padStart(NUMBER_DIGITS, '0')
  const location = `${folder}/${number}-${hash}.json`
  const outcome = await store.putIfAbsent(location, new TextEncoder().encode(text))
  // Under this name, `exists` is the same content, written by another process.
  if (outcome === 'unknown') throw new StoreUnavailableError(`write ${location}: ${outcome}`)
  await deleteAll(store, versions)
}

async function readAll(store: ObjectStore, root: string): Promise<StoredNames> {
  const newest = await newestByFolder(store, root)
  const records: NameRecord[] = []
  const unreadable: string[] = []
  const waiting = newest.values()
  const read = async (): Promise<void> => {
    for (const { location } of waiting) {
      const record = decodeRecord(await readText(store, location))
      if (record === undefined) unreadable.push(location)
      else records.push(record)
    }
  }
  await Promise.all(Array.from({ length: RECORD_READS_MAX }, read))
  return { records, unreadable }
}

async function newestByFolder(
  store: ObjectStore,
  root: string,
): Promise<Map<string, RecordVersion>> {
  const newest = new Map<string, RecordVersion>()
  for await (const entry of store.list(root)) {
    const version = versionOf(entry)
    if (version === undefined) continue
    const folder = version.location.slice(0, version.location.lastIndexOf('/'))
    const known = newest.get(folder)
    if (known === undefined || byAge(known, version) < 0) newest.set(folder, version)
  }
  return newest
}

async function versionsOf(store: ObjectStore, folder: string): Promise<RecordVersion[]> {
  const versions: RecordVersion[] = []
  for await (const entry of store.list(folder)) {
    const version = versionOf(entry)
    if (version !== undefined) versions.push(version)
  }
  return versions.sort(byAge)
}

// Two processes may have written the same number at one time.
function byAge(left: RecordVersion, right: RecordVersion): number {
  return (
    left.number - right.number ||
    left.lastModifiedMs - right.lastModifiedMs ||
    (left.location < right.location ? -1 : 1)
  )
}

// Oldest first: what a crash leaves over is the newest.
async function deleteAll(store: ObjectStore, versions: readonly RecordVersion[]): Promise<void> {
  for (const { location } of versions) await store.delete(location)
}

function folderOf(root: string, { kind, id }: NameRecordKey): string {
  return `${root}/${kind}/${id}`
}

function versionOf({ location, lastModifiedMs }: ObjectEntry): RecordVersion | undefined {
  const [, digits, hash] = /\/(\d+)(?:-([0-9a-f]+))?\.json$/.exec(location) ?? []
  return digits === undefined
    ? undefined
    : { location, number: Number(digits), hash, lastModifiedMs }
}

// Members in one order, whatever the caller's was.
function textOf(record: NameRecord): string {
  const { kind, id, levels } = record
  if (kind === 'namespace')
    return JSON.stringify({ kind, id, levels, properties: record.properties })
  const { tableUuid, name, location, metadataLocation } = record
  return JSON.stringify({ kind, id, tableUuid, levels, name, location, metadataLocation })
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}

async function readText(store: ObjectStore, location: string): Promise<string> {
  const bytes = await store.get(location, { sizeBytesMax: RECORD_BYTES_MAX })
  return new TextDecoder().decode(bytes)
}

function decodeRecord(text: string): NameRecord | undefined {
  const value = parseObject(text)
  const levels = value?.['levels']
  if (value === undefined || !Array.isArray(levels) || !levels.every(isText)) return undefined
  const { kind, id } = value
  if (!isText(id)) return undefined
  return kind === 'table' || kind === 'view'
    ? decodeTable(value, { kind, id, levels })
    : decodeNamespace(value, id, levels)
}

type ParsedObject = Readonly<Record<string, unknown>>

function decodeTable(
  value: ParsedObject,
  known: Pick<TableNameRecord, 'kind' | 'id' | 'levels'>,
): NameRecord | undefined {
  const { name, tableUuid, location, metadataLocation } = value
  const isComplete =
    isText(name) && isText(tableUuid) && isText(location) && isText(metadataLocation)
  if (!isComplete) return undefined
  return { ...known, tableUuid, name, location, metadataLocation }
}

function decodeNamespace(
  value: ParsedObject,
  id: string,
  levels: string[],
): NameRecord | undefined {
  const properties = value['properties']
  if (value['kind'] !== 'namespace' || !isObject(properties)) return undefined
  const entries = Object.entries(properties)
  const isTextual = (entry: [string, unknown]): entry is [string, string] => isText(entry[1])
  if (!entries.every(isTextual)) return undefined
  return { kind: 'namespace', id, levels, properties: Object.fromEntries(entries) }
}

function parseObject(text: string): ParsedObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is ParsedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
