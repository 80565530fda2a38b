import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'

export interface CommitEventInput {
  readonly metadataLocation: string
  readonly previousMetadataLocation?: string
  readonly metadata: TableMetadata
  /** Absent when the whole table is new. */
  readonly addedSnapshotIds?: readonly bigint[]
}

/**
 * The payload of a table event, JSON text: where the metadata is and was, and the snapshot that the commit made
 * current, or otherwise added last. `operation` is absent when the commit added no snapshot.
 */
export function commitEventPayload(input: CommitEventInput): string {
  const snapshot = newSnapshot(input)
  const payload: JsonObject = {
    'metadata-location': input.metadataLocation,
    'previous-metadata-location': input.previousMetadataLocation,
    'snapshot-id': snapshot?.snapshotId,
    'parent-snapshot-id': snapshot?.parentSnapshotId,
    'sequence-number': snapshot?.sequenceNumber,
    operation: snapshot?.summary?.['operation'],
    summary: snapshot?.summary,
    'timestamp-ms': BigInt(input.metadata.lastUpdatedMs),
  }
  return printJson(payload)
}

function newSnapshot({ metadata, addedSnapshotIds }: CommitEventInput): Snapshot | undefined {
  const { currentSnapshotId, snapshots } = metadata
  const isCurrentNew =
    addedSnapshotIds === undefined ||
    addedSnapshotIds.some((snapshotId) => snapshotId === currentSnapshotId)
  const shownId = isCurrentNew ? currentSnapshotId : addedSnapshotIds?.at(-1)
  return shownId === undefined
    ? undefined
    : snapshots.findLast(({ snapshotId }) => snapshotId === shownId)
}
