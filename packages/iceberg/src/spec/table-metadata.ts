import type { JsonObject } from './json-value.ts'
import type { PartitionSpec } from './partition-spec.ts'
import type { Schema } from './schema.ts'
import type { Snapshot, SnapshotRef } from './snapshot.ts'
import type { SortOrder } from './sort-order.ts'

export type FormatVersion = 1 | 2 | 3
export const FORMAT_VERSION_MAX: FormatVersion = 3
export const FORMAT_VERSION_DEFAULT: FormatVersion = 2

export interface SnapshotLogEntry {
  readonly timestampMs: number
  readonly snapshotId: bigint
  readonly extra?: JsonObject
}

export interface MetadataLogEntry {
  readonly timestampMs: number
  readonly metadataFile: string
  readonly extra?: JsonObject
}

export interface BlobMetadata {
  readonly type: string
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
  readonly fields: readonly number[]
  readonly properties?: Readonly<Record<string, string>>
  readonly extra?: JsonObject
}

export interface StatisticsFile {
  readonly snapshotId: bigint
  readonly statisticsPath: string
  readonly fileSizeBytes: bigint
  readonly fileFooterSizeBytes: bigint
  readonly keyMetadata?: string
  readonly blobMetadata: readonly BlobMetadata[]
  readonly extra?: JsonObject
}

export interface PartitionStatisticsFile {
  readonly snapshotId: bigint
  readonly statisticsPath: string
  readonly fileSizeBytes: bigint
  readonly extra?: JsonObject
}

export interface EncryptedKey {
  readonly keyId: string
  /** base64, kept as sent. */
  readonly encryptedKeyMetadata: string
  readonly encryptedById?: string
  readonly properties?: Readonly<Record<string, string>>
  readonly extra?: JsonObject
}

/**
 * The content of one metadata file, v1 to v3, in one shape. Spec: Table Metadata Fields.
 * A v1 file's single `schema` and `partition-spec` are folded into the lists by the decoder and written
 * as deprecated copies by the encoder.
 */
export interface TableMetadata {
  readonly formatVersion: FormatVersion
  readonly tableUuid: string
  /** Without a trailing slash. */
  readonly location: string
  readonly lastSequenceNumber: bigint
  readonly lastUpdatedMs: number
  readonly lastColumnId: number
  readonly currentSchemaId: number
  readonly schemas: readonly Schema[]
  readonly defaultSpecId: number
  readonly partitionSpecs: readonly PartitionSpec[]
  readonly lastPartitionId: number
  readonly defaultSortOrderId: number
  readonly sortOrders: readonly SortOrder[]
  readonly properties: Readonly<Record<string, string>>
  /** Absent when there is no current snapshot (−1, null and absent in JSON). */
  readonly currentSnapshotId?: bigint
  readonly snapshots: readonly Snapshot[]
  readonly snapshotLog: readonly SnapshotLogEntry[]
  readonly metadataLog: readonly MetadataLogEntry[]
  readonly refs: Readonly<Record<string, SnapshotRef>>
  readonly statistics: readonly StatisticsFile[]
  readonly partitionStatistics: readonly PartitionStatisticsFile[]
  /** Present exactly in v3. */
  readonly nextRowId?: bigint
  readonly encryptionKeys: readonly EncryptedKey[]
  readonly extra?: JsonObject
}
