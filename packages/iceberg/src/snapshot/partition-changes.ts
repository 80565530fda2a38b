import { type PartitionType, partitionKey, partitionType } from '../manifest/partition-type.ts'
import type { DataFile, ResolvedEntry } from '../manifest/data-file.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import { indexSchema } from '../spec/schema-index.ts'
import { decodeSingleValue } from '../spec/single-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField } from '../spec/type.ts'
import { schemasNewestFirst } from './new-snapshot.ts'

/** Files that one snapshot added to a partition or removed from it. */
export interface FileTotals {
  readonly dataFileCount: number
  readonly deleteFileCount: number
  /** Of data files. */
  readonly rowCount: bigint
  /** Of data and delete files. */
  readonly sizeBytes: bigint
}

export interface PartitionChange {
  readonly specId: number
  readonly partition: readonly PartitionValue[]
  readonly type: PartitionType
  readonly added: FileTotals
  readonly removed: FileTotals
  /** The smallest and largest time in the data files that came or went; absent when one of them does not say. */
  readonly time: TimeBounds | undefined
}

/** In the unit of the time column: days, microseconds or nanoseconds since the epoch. */
export interface TimeBounds {
  readonly min: bigint
  readonly max: bigint
}

export interface PartitionChanges {
  /** Absent when the table has no column that says when. */
  readonly timeColumn: NestedField | undefined
  /** By spec and partition, in the order in which they come. */
  readonly partitions: readonly PartitionChange[]
}

/** A manifest that a snapshot added, with its entries. */
export interface OwnManifest {
  readonly snapshotId: bigint
  readonly specId: number
  readonly entries: readonly ResolvedEntry[]
}

/** The property that names the column that says when a row happened. */
const TIME_COLUMN_PROPERTY = 'timelake.time-column'

const TIME_TRANSFORMS: ReadonlySet<string> = new Set(['year', 'month', 'day', 'hour'])
const TIME_TYPES: ReadonlySet<string> = new Set([
  'date',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
])

/** What snapshots did to each partition by manifests of their own: entries of others and those that stay are passed over. */
export function partitionChanges(
  metadata: TableMetadata,
  manifests: readonly OwnManifest[],
): PartitionChanges {
  const timeColumn = findTimeColumn(metadata)
  const tallies = new Map<string, Tally>()
  for (const { snapshotId, specId, entries } of manifests) {
    for (const entry of entries) {
      if (entry.snapshotId !== snapshotId || entry.status === 'existing') continue
      const { partition } = entry.dataFile
      const key = `${specId} ${partitionKey(partition)}`
      let tally = tallies.get(key)
      if (tally === undefined) tallies.set(key, (tally = newTally(specId, partition)))
      count(tally, entry, timeColumn)
    }
  }
  const types = partitionTypes(metadata)
  const partitions = [...tallies.values()].map((tally) => changeOf(tally, types))
  return { timeColumn, partitions }
}

/**
 * The column that says when: the one that the property `timelake.time-column` names, or else the first one by whose year,
 * month, day or hour the table is partitioned. Undefined when there is none.
 */
function findTimeColumn(metadata: TableMetadata): NestedField | undefined {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId)
  if (schema === undefined) return undefined
  const { fieldsById, idsByName } = indexSchema(schema)
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId)
  const partitioned = spec?.fields.find(({ transform }) => TIME_TRANSFORMS.has(transform.kind))
  const named = idsByName.get(metadata.properties[TIME_COLUMN_PROPERTY] ?? '')
  const field = fieldsById.get(named ?? partitioned?.sourceIds[0] ?? -1)
  return field !== undefined && TIME_TYPES.has(field.type.kind) ? field : undefined
}

interface Tally {
  readonly specId: number
  readonly partition: readonly PartitionValue[]
  readonly added: MutableTotals
  readonly removed: MutableTotals
  time: TimeBounds | undefined
  hasUnknownTime: boolean
}

type MutableTotals = { -readonly [Key in keyof FileTotals]: FileTotals[Key] }

function newTally(specId: number, partition: readonly PartitionValue[]): Tally {
  const none = { dataFileCount: 0, deleteFileCount: 0, rowCount: 0n, sizeBytes: 0n }
  const [added, removed] = [{ ...none }, { ...none }]
  return { specId, partition, added, removed, time: undefined, hasUnknownTime: false }
}

function count(
  tally: Tally,
  { status, dataFile }: ResolvedEntry,
  timeColumn: NestedField | undefined,
): void {
  const totals = status === 'added' ? tally.added : tally.removed
  totals.sizeBytes += dataFile.contentSizeBytes ?? dataFile.fileSizeBytes
  if (dataFile.content !== 'data') {
    totals.deleteFileCount += 1
    return
  }
  totals.dataFileCount += 1
  totals.rowCount += dataFile.recordCount
  if (timeColumn === undefined || dataFile.recordCount === 0n) return
  const time = timeOf(dataFile, timeColumn)
  if (time === undefined) tally.hasUnknownTime = true
  else tally.time = tally.time === undefined ? time : around(tally.time, time)
}

function timeOf(
  { lowerBounds, upperBounds }: DataFile,
  { id, type }: NestedField,
): TimeBounds | undefined {
  const [lower, upper] = [lowerBounds?.get(id), upperBounds?.get(id)]
  if (lower === undefined || upper === undefined) return undefined
  const [min, max] = [decodeSingleValue(type, lower), decodeSingleValue(type, upper)]
  // A date is a number of days, every other time a bigint.
  const isTime = (value: unknown) => typeof value === 'bigint' || typeof value === 'number'
  return isTime(min) && isTime(max) ? { min: BigInt(min), max: BigInt(max) } : undefined
}

function around(a: TimeBounds, b: TimeBounds): TimeBounds {
  return { min: a.min < b.min ? a.min : b.min, max: a.max > b.max ? a.max : b.max }
}

function partitionTypes(metadata: TableMetadata): ReadonlyMap<number, PartitionType> {
  const schemas = schemasNewestFirst(metadata)
  return new Map(metadata.partitionSpecs.map((spec) => [spec.specId, partitionType(spec, schemas)]))
}

function changeOf(tally: Tally, types: ReadonlyMap<number, PartitionType>): PartitionChange {
  const { specId, partition, added, removed, hasUnknownTime } = tally
  const type = types.get(specId) ?? { fields: [] }
  const time = hasUnknownTime ? undefined : tally.time
  return { specId, partition, type, added, removed, time }
}
