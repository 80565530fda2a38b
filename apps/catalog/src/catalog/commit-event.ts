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
  /** Batches of append intents that the snapshot holds. */
  readonly batchIds?: readonly string[]
}

/** Snapshots of one commit that its event names beside the one that it shows. */
const FURTHER_SNAPSHOTS_MAX = 20

/**
 * The payload of a table event, JSON text: where the metadata is and was, and the snapshot that the commit made
 * current, or otherwise added last. `operation` is absent when the commit added no snapshot. `refs` are the branches and
 * tags that point at the snapshot, `further-snapshots` the others that the commit added.
 */
export function commitEventPayload(input: CommitEventInput): string {
  const { metadata, batchIds = [] } = input
  const snapshot = newSnapshot(input)
  const further = furtherSnapshots(input, snapshot)
  const payload: JsonObject = {
    'metadata-location': input.metadataLocation,
    'previous-metadata-location': input.previousMetadataLocation,
    ...(snapshot === undefined ? {} : snapshotJson(snapshot)),
    ...(snapshot === undefined ? {} : { refs: refsAt(metadata, snapshot.snapshotId) }),
    'further-snapshots': further.length === 0 ? undefined : further.map(snapshotJson),
    'batch-ids': batchIds.length === 0 ? undefined : batchIds,
    'timestamp-ms': BigInt(metadata.lastUpdatedMs),
  }
  return printJson(payload)
}

function snapshotJson(snapshot: Snapshot): JsonObject {
  return {
    'snapshot-id': snapshot.snapshotId,
    'parent-snapshot-id': snapshot.parentSnapshotId,
    'sequence-number': snapshot.sequenceNumber,
    operation: snapshot.summary?.['operation'],
    summary: snapshot.summary,
    'manifest-list': snapshot.manifestList,
  }
}

function newSnapshot({ metadata, addedSnapshotIds }: CommitEventInput): Snapshot | undefined {
  const { currentSnapshotId } = metadata
  const isCurrentNew =
    addedSnapshotIds === undefined ||
    addedSnapshotIds.some((snapshotId) => snapshotId === currentSnapshotId)
  const shownId = isCurrentNew ? currentSnapshotId : addedSnapshotIds?.at(-1)
  return shownId === undefined ? undefined : findSnapshot(metadata, shownId)
}

/** Added ones that are still there, oldest first. */
function furtherSnapshots(
  { metadata, addedSnapshotIds = [] }: CommitEventInput,
  shown: Snapshot | undefined,
): readonly Snapshot[] {
  return addedSnapshotIds
    .filter((snapshotId) => snapshotId !== shown?.snapshotId)
    .slice(-FURTHER_SNAPSHOTS_MAX)
    .flatMap((snapshotId) => findSnapshot(metadata, snapshotId) ?? [])
}

function findSnapshot({ snapshots }: TableMetadata, id: bigint): Snapshot | undefined {
  return snapshots.findLast(({ snapshotId }) => snapshotId === id)
}

function refsAt({ refs }: TableMetadata, id: bigint): readonly string[] {
  return Object.entries(refs).flatMap(([name, { snapshotId }]) => (snapshotId === id ? [name] : []))
}
