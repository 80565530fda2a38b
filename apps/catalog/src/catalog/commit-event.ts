import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'

export interface CommitEventInput {
  readonly metadataLocation: string
  readonly previousMetadataLocation?: string
  readonly metadata: TableMetadata
  readonly base?: TableMetadata
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

function newSnapshot({ metadata, base }: CommitEventInput): Snapshot | undefined {
  const known = new Set(base?.snapshots.map(({ snapshotId }) => snapshotId))
  const added = metadata.snapshots.filter(({ snapshotId }) => !known.has(snapshotId))
  const current = added.find(({ snapshotId }) => snapshotId === metadata.currentSnapshotId)
  return current ?? added.at(-1)
}
