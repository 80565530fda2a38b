import { InvalidInputError } from '../spec/errors.ts'
import { PARTITION_FIELD_ID_BEFORE_FIRST, type PartitionSpec } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import { MAIN_BRANCH } from '../spec/snapshot.ts'
import type { SortOrder } from '../spec/sort-order.ts'
import type {
  EncryptedKey,
  FormatVersion,
  PartitionStatisticsFile,
  SnapshotLogEntry,
  StatisticsFile,
  TableMetadata,
} from '../spec/table-metadata.ts'
import { FilesBySnapshot } from './files-by-snapshot.ts'
import { appendPreviousFile } from './metadata-log.ts'
import { RefSet } from './ref-set.ts'
import { nextSnapshotLog } from './snapshot-log.ts'
import { snapshotRef } from './snapshot-ref.ts'
import { SnapshotSet } from './snapshot-set.ts'
import type { TableUpdate } from './table-update.ts'

/** What a commit needs besides the request: the clock and where the base was read from. */
export interface CommitContext {
  readonly nowMs: number
  /** The file of the base, for the metadata log. */
  readonly baseMetadataLocation?: string
}

/**
 * The table while a commit is applied to it: the only thing in this package that changes. The functions of
 * `*-updates.ts` write to its members and call `record` for each update that changed something; updates without
 * an effect are not recorded, so an empty `changes` means that there is nothing to write.
 */
export class TableMetadataDraft {
  readonly base: TableMetadata | undefined
  readonly changes: TableUpdate[] = []
  /** Never before the time of the base. Epoch milliseconds. */
  readonly lastUpdatedMs: number

  formatVersion: FormatVersion
  tableUuid: string | undefined
  location: string | undefined
  lastSequenceNumber: bigint
  nextRowId: bigint | undefined
  lastColumnId: number
  currentSchemaId: number
  schemas: readonly Schema[]
  defaultSpecId: number
  partitionSpecs: readonly PartitionSpec[]
  lastPartitionId: number
  defaultSortOrderId: number
  sortOrders: readonly SortOrder[]
  readonly properties: Map<string, string>
  readonly snapshots: SnapshotSet
  readonly refs: RefSet
  readonly mainMoves: SnapshotLogEntry[] = []
  readonly statistics: FilesBySnapshot<StatisticsFile>
  readonly partitionStatistics: FilesBySnapshot<PartitionStatisticsFile>
  readonly encryptionKeys: Map<string, EncryptedKey>

  /** What −1 means in the updates that follow, per kind. */
  lastAddedSchemaId: number | undefined = undefined
  lastAddedSpecId: number | undefined = undefined
  lastAddedSortOrderId: number | undefined = undefined

  constructor(base: TableMetadata | undefined, initialFormatVersion: FormatVersion, nowMs: number) {
    this.base = base
    this.lastUpdatedMs = Math.max(nowMs, base?.lastUpdatedMs ?? nowMs)
    this.formatVersion = base?.formatVersion ?? initialFormatVersion
    this.tableUuid = base?.tableUuid
    this.location = base?.location
    this.lastSequenceNumber = base?.lastSequenceNumber ?? 0n
    this.nextRowId = base?.nextRowId ?? (this.formatVersion >= 3 ? 0n : undefined)
    this.lastColumnId = base?.lastColumnId ?? 0
    this.currentSchemaId = base?.currentSchemaId ?? 0
    this.schemas = base?.schemas ?? []
    this.defaultSpecId = base?.defaultSpecId ?? 0
    this.partitionSpecs = base?.partitionSpecs ?? []
    this.lastPartitionId = base?.lastPartitionId ?? PARTITION_FIELD_ID_BEFORE_FIRST
    this.defaultSortOrderId = base?.defaultSortOrderId ?? 0
    this.sortOrders = base?.sortOrders ?? []
    this.properties = new Map(Object.entries(base?.properties ?? {}))
    this.snapshots = new SnapshotSet(base?.snapshots ?? [])
    this.refs = new RefSet(base?.refs ?? {})
    this.statistics = new FilesBySnapshot(base?.statistics ?? [])
    this.partitionStatistics = new FilesBySnapshot(base?.partitionStatistics ?? [])
    this.encryptionKeys = new Map(base?.encryptionKeys.map((key) => [key.keyId, key]))
    const main = base === undefined ? undefined : snapshotRef(base, MAIN_BRANCH)
    if (main !== undefined) this.refs.set(MAIN_BRANCH, main)
  }

  /** Notes that this update changed the draft. */
  record(update: TableUpdate): void {
    this.changes.push(update)
  }

  get currentSnapshotId(): bigint | undefined {
    return this.refs.get(MAIN_BRANCH)?.snapshotId
  }

  /** The schema that new specs and sort orders bind to. Throws InvalidInputError before the first one is added. */
  get currentSchema(): Schema {
    const schema = this.schemas.find(({ schemaId }) => schemaId === this.currentSchemaId)
    if (schema === undefined)
      throw new InvalidInputError(`cannot find current schema: ${this.currentSchemaId}`)
    return schema
  }

  /** The metadata with everything that the server computes. Throws InvalidInputError when a create lacks a member. */
  finish(baseMetadataLocation: string | undefined): TableMetadata {
    const { base, currentSnapshotId, nextRowId } = this
    return {
      formatVersion: this.formatVersion,
      tableUuid: present(this.tableUuid, 'assign-uuid'),
      location: present(this.location, 'set-location'),
      lastSequenceNumber: this.lastSequenceNumber,
      lastUpdatedMs: this.lastUpdatedMs,
      lastColumnId: this.lastColumnId,
      currentSchemaId: this.currentSchemaId,
      schemas: this.schemas,
      defaultSpecId: this.defaultSpecId,
      partitionSpecs: this.partitionSpecs,
      lastPartitionId: this.lastPartitionId,
      defaultSortOrderId: this.defaultSortOrderId,
      sortOrders: this.sortOrders,
      properties: Object.fromEntries(this.properties),
      ...(currentSnapshotId === undefined ? {} : { currentSnapshotId }),
      snapshots: this.snapshots.toList(),
      snapshotLog: this.#snapshotLog(),
      metadataLog:
        base === undefined || baseMetadataLocation === undefined
          ? (base?.metadataLog ?? [])
          : appendPreviousFile({
              base,
              baseMetadataLocation,
              properties: this.properties,
              nowMs: this.lastUpdatedMs,
            }),
      refs: this.refs.toRecord(),
      statistics: this.statistics.toList(),
      partitionStatistics: this.partitionStatistics.toList(),
      ...(nextRowId === undefined ? {} : { nextRowId }),
      encryptionKeys: [...this.encryptionKeys.values()],
      ...(base?.extra === undefined ? {} : { extra: base.extra }),
    }
  }

  #snapshotLog(): readonly SnapshotLogEntry[] {
    return nextSnapshotLog({
      before: this.base?.snapshotLog ?? [],
      appended: this.mainMoves,
      currentSnapshotId: this.currentSnapshotId,
      hasSnapshot: (snapshotId) => this.snapshots.find(snapshotId) !== undefined,
      wasAdded: (snapshotId) => this.snapshots.wasAdded(snapshotId),
      hasRemovals: this.snapshots.hasRemovals,
      lastUpdatedMs: this.lastUpdatedMs,
    })
  }
}

function present(value: string | undefined, action: string): string {
  if (value === undefined)
    throw new InvalidInputError(`cannot create a table without the update ${action}`)
  return value
}
