import type { JsonObject } from './json-value.ts'

/** Spec: Snapshots. `summary` holds `operation` beside the other keys, all strings. */
export interface Snapshot {
  readonly snapshotId: bigint
  readonly parentSnapshotId?: bigint
  /** 0 in v1 tables. */
  readonly sequenceNumber: bigint
  readonly timestampMs: number
  readonly manifestList?: string
  /** Paths of manifests, only in old v1 snapshots that have no manifest list. */
  readonly manifests?: readonly string[]
  readonly summary?: Readonly<Record<string, string>>
  readonly schemaId?: number
  /** v3 row lineage. */
  readonly firstRowId?: bigint
  readonly addedRows?: bigint
  readonly keyId?: string
  readonly extra?: JsonObject
}

export interface SnapshotRef {
  readonly snapshotId: bigint
  readonly type: 'branch' | 'tag'
  readonly minSnapshotsToKeep?: number
  readonly maxSnapshotAgeMs?: number
  readonly maxRefAgeMs?: number
  readonly extra?: JsonObject
}

export const MAIN_BRANCH = 'main'
