import { snapshotRef } from '../commit/snapshot-ref.ts'
import type { CommitRequest, TableRequirement, TableUpdate } from '../commit/table-update.ts'
import type { Snapshot, SnapshotRef } from '../spec/snapshot.ts'
import type { StatisticsFile, TableMetadata } from '../spec/table-metadata.ts'

export interface RebaseTarget {
  readonly metadata: TableMetadata
  readonly branch: string
  /** The snapshots of the request as they are attached, by id. */
  readonly snapshots: ReadonlyMap<bigint, Snapshot>
}

/**
 * The request with these snapshots in place of its own: it requires the branch where it is now, keeps the retention that
 * the branch has now, and its statistics name the new sequence numbers.
 */
export function rebasedRequest(request: CommitRequest, target: RebaseTarget): CommitRequest {
  const ref = snapshotRef(target.metadata, target.branch)
  return {
    requirements: request.requirements.map((one) => requireHead(one, target, ref)),
    updates: request.updates.map((one) => moveUpdate(one, target, ref)),
  }
}

function requireHead(
  requirement: TableRequirement,
  { branch }: RebaseTarget,
  ref: SnapshotRef | undefined,
): TableRequirement {
  if (requirement.type !== 'assert-ref-snapshot-id' || requirement.ref !== branch) {
    return requirement
  }
  const { type } = requirement
  return ref === undefined
    ? { type, ref: branch }
    : { type, ref: branch, snapshotId: ref.snapshotId }
}

function moveUpdate(
  update: TableUpdate,
  { snapshots }: RebaseTarget,
  ref: SnapshotRef | undefined,
): TableUpdate {
  if (update.action === 'add-snapshot') {
    return { ...update, snapshot: snapshots.get(update.snapshot.snapshotId) ?? update.snapshot }
  }
  if (update.action === 'set-snapshot-ref') {
    // Java sends the retention that the branch had when it loaded, PyIceberg none.
    return { ...update, ref: { ...(ref ?? update.ref), snapshotId: update.ref.snapshotId } }
  }
  if (update.action !== 'set-statistics') return update
  return { ...update, statistics: moveStatistics(update.statistics, snapshots) }
}

function moveStatistics(
  statistics: StatisticsFile,
  snapshots: ReadonlyMap<bigint, Snapshot>,
): StatisticsFile {
  const blobMetadata = statistics.blobMetadata.map((blob) => {
    const sequenceNumber = snapshots.get(blob.snapshotId)?.sequenceNumber
    return sequenceNumber === undefined ? blob : { ...blob, sequenceNumber }
  })
  return { ...statistics, blobMetadata }
}
