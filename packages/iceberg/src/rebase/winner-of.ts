import { snapshotRef } from '../commit/snapshot-ref.ts'
import type { CommitRequest } from '../commit/table-update.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { shown } from './rebase-shape.ts'

/** Who came first, as a fragment: the head of the first branch that the request moves, and what made it. */
export function winnerOf(metadata: TableMetadata, request: CommitRequest): string {
  const moved = request.updates.find(({ action }) => action === 'set-snapshot-ref')
  const branch = moved?.action === 'set-snapshot-ref' ? moved.refName : 'main'
  const ref = snapshotRef(metadata, branch)
  if (ref === undefined) return `${shown(branch)} does not exist`
  const head = metadata.snapshots.findLast(({ snapshotId }) => snapshotId === ref.snapshotId)
  const { operation = 'unknown', 'engine-name': engine } = head?.summary ?? {}
  const by = engine === undefined ? '' : ` by ${shown(engine)}`
  return `${shown(branch)} is at snapshot ${ref.snapshotId} (${shown(operation)}${by})`
}
