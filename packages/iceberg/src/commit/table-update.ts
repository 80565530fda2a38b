import type { UnboundPartitionSpec } from '../spec/partition-spec.ts'
import type { Schema } from '../spec/schema.ts'
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts'
import type { SortField } from '../spec/sort-order.ts'
import type {
  EncryptedKey,
  PartitionStatisticsFile,
  StatisticsFile,
} from '../spec/table-metadata.ts'

/** The id that means "the one most recently added in this request". */
export const LAST_ADDED = -1

/** Every table update of the REST protocol. Spec: REST catalog, TableUpdate. */
export type TableUpdate =
  | { readonly action: 'assign-uuid'; readonly uuid: string }
  | { readonly action: 'upgrade-format-version'; readonly formatVersion: number }
  | { readonly action: 'add-schema'; readonly schema: Schema }
  | { readonly action: 'set-current-schema'; readonly schemaId: number }
  | { readonly action: 'add-spec'; readonly spec: UnboundPartitionSpec }
  | { readonly action: 'set-default-spec'; readonly specId: number }
  | {
      readonly action: 'add-sort-order'
      readonly sortOrder: { readonly orderId: number; readonly fields: readonly SortField[] }
    }
  | { readonly action: 'set-default-sort-order'; readonly sortOrderId: number }
  | { readonly action: 'add-snapshot'; readonly snapshot: Snapshot }
  | { readonly action: 'set-snapshot-ref'; readonly refName: string; readonly ref: SnapshotRef }
  | { readonly action: 'remove-snapshot-ref'; readonly refName: string }
  | { readonly action: 'remove-snapshots'; readonly snapshotIds: readonly bigint[] }
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] }
  | {
      readonly action: 'set-statistics'
      readonly statistics: StatisticsFile
    }
  | { readonly action: 'remove-statistics'; readonly snapshotId: bigint }
  | {
      readonly action: 'set-partition-statistics'
      readonly partitionStatistics: PartitionStatisticsFile
    }
  | { readonly action: 'remove-partition-statistics'; readonly snapshotId: bigint }
  | { readonly action: 'remove-partition-specs'; readonly specIds: readonly number[] }
  | { readonly action: 'remove-schemas'; readonly schemaIds: readonly number[] }
  | { readonly action: 'add-encryption-key'; readonly encryptionKey: EncryptedKey }
  | { readonly action: 'remove-encryption-key'; readonly keyId: string }

/** Every table requirement of the REST protocol. An absent `snapshotId` means that the ref must not exist. */
export type TableRequirement =
  | { readonly type: 'assert-create' }
  | { readonly type: 'assert-table-uuid'; readonly uuid: string }
  | { readonly type: 'assert-ref-snapshot-id'; readonly ref: string; readonly snapshotId?: bigint }
  | { readonly type: 'assert-last-assigned-field-id'; readonly lastAssignedFieldId: number }
  | { readonly type: 'assert-current-schema-id'; readonly currentSchemaId: number }
  | { readonly type: 'assert-last-assigned-partition-id'; readonly lastAssignedPartitionId: number }
  | { readonly type: 'assert-default-spec-id'; readonly defaultSpecId: number }
  | { readonly type: 'assert-default-sort-order-id'; readonly defaultSortOrderId: number }

export interface CommitRequest {
  readonly requirements: readonly TableRequirement[]
  readonly updates: readonly TableUpdate[]
}
