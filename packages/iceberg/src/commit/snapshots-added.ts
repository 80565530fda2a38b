import type { CommitRequest } from './table-update.ts'

/** The ids of the snapshots that the request adds, in order. */
export function snapshotsAdded(request: CommitRequest): bigint[] {
  return request.updates.flatMap((update) =>
    update.action === 'add-snapshot' ? [update.snapshot.snapshotId] : [],
  )
}
