/*
 * What a warehouse itself remembers of the names in its database, so that a lost database can be rebuilt: one small
 * JSON object per table and namespace under `<warehouse>/.timelake/names/`. The database stays the truth; these are
 * copies that are read by `timelake recover` alone. A change writes a new, higher-numbered object and then deletes the
 * older ones, so a crash leaves the old or the new record, never half of one.
 */
import { StoreUnavailableError, type ObjectStore } from './object-store.ts'

export interface TableNameRecord {
  readonly kind: 'table'
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

export interface NameRecords {
  /** Durable once it returns. Writing what is already recorded writes nothing. */
  put(record: NameRecord): Promise<void>
  /** Forgets the subject; forgetting one that is not recorded does nothing. */
  remove(key: NameRecordKey): Promise<void>
  /** The newest record of every subject. */
  readAll(): Promise<StoredNames>
}

const RECORD_BYTES_MAX = 4_194_304
const NUMBER_DIGITS = 8

/** The folder below a warehouse's location that is the server's own and no table's. */
export const WAREHOUSE_FOLDER = '.timelake'

/** The records below a warehouse's location. Errors: those of the store. */
export function openNameRecords(store: ObjectStore, warehouseLocation: string): NameRecords {
  const root = `${warehouseLocation}/${WAREHOUSE_FOLDER}/names`
  return {
    put: (record) => putRecord(store, root, record),
    remove: async (key) => deleteAll(store, await versionsOf(store, folderOf(root, key))),
    readAll: () => readAll(store, root),
  }
}

interface RecordVersion {
  readonly location: string
  readonly number: number
}

async function putRecord(store: ObjectStore, root: string, record: NameRecord): Promise<void> {
  const folder = folderOf(root, record)
  const versions = await versionsOf(store, folder)
  const newest = versions.at(-1)
  const text = JSON.stringify(record)
  if (newest !== undefined && (await readText(store, newest.location)) === text) return
  const number = String((newest?.number ?? 0) + 1).padStart(NUMBER_DIGITS, '0')
  const location = `${folder}/${number}.json`
  const outcome = await store.putIfAbsent(location, new TextEncoder().encode(text))
  // The writers of one warehouse take turns, so anything else is bad weather, and the caller tries again.
  if (outcome !== 'created') throw new StoreUnavailableError(`write ${location}: ${outcome}`)
  await deleteAll(store, versions)
}

async function readAll(store: ObjectStore, root: string): Promise<StoredNames> {
  const newest = new Map<string, RecordVersion>()
  for await (const { location } of store.list(root)) {
    const version = versionOf(location)
    if (version === undefined) continue
    const folder = location.slice(0, location.lastIndexOf('/'))
    if ((newest.get(folder)?.number ?? 0) < version.number) newest.set(folder, version)
  }
  const records: NameRecord[] = []
  const unreadable: string[] = []
  for (const { location } of newest.values()) {
    const record = decodeRecord(await readText(store, location))
    if (record === undefined) unreadable.push(location)
    else records.push(record)
  }
  return { records, unreadable }
}

async function versionsOf(store: ObjectStore, folder: string): Promise<RecordVersion[]> {
  const versions: RecordVersion[] = []
  for await (const { location } of store.list(folder)) {
    const version = versionOf(location)
    if (version !== undefined) versions.push(version)
  }
  return versions.sort((left, right) => left.number - right.number)
}

// Oldest first: what a crash leaves over is the newest.
async function deleteAll(store: ObjectStore, versions: readonly RecordVersion[]): Promise<void> {
  for (const { location } of versions) await store.delete(location)
}

function folderOf(root: string, { kind, id }: NameRecordKey): string {
  return `${root}/${kind}/${id}`
}

function versionOf(location: string): RecordVersion | undefined {
  const digits = /\/(\d+)\.json$/.exec(location)?.[1]
  return digits === undefined ? undefined : { location, number: Number(digits) }
}

async function readText(store: ObjectStore, location: string): Promise<string> {
  const bytes = await store.get(location, { sizeBytesMax: RECORD_BYTES_MAX })
  return new TextDecoder().decode(bytes)
}

function decodeRecord(text: string): NameRecord | undefined {
  const value = parseObject(text)
  const levels = value?.['levels']
  if (value === undefined || !Array.isArray(levels) || !levels.every(isText)) return undefined
  if (!isText(value['id'])) return undefined
  return value['kind'] === 'table'
    ? decodeTable(value, value['id'], levels)
    : decodeNamespace(value, value['id'], levels)
}

type ParsedObject = Readonly<Record<string, unknown>>

function decodeTable(value: ParsedObject, id: string, levels: string[]): NameRecord | undefined {
  const { name, tableUuid, location, metadataLocation } = value
  const isComplete =
    isText(name) && isText(tableUuid) && isText(location) && isText(metadataLocation)
  if (!isComplete) return undefined
  return { kind: 'table', id, tableUuid, levels, name, location, metadataLocation }
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
