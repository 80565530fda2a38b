import { MAIN_BRANCH, type SnapshotRef } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'

/**
 * The branch or tag of this name. Old files have a current snapshot and no refs: there `main` is the branch that
 * points at it.
 */
export function snapshotRef(metadata: TableMetadata, name: string): SnapshotRef | undefined {
  if (Object.hasOwn(metadata.refs, name)) return metadata.refs[name]
  if (name !== MAIN_BRANCH || metadata.currentSnapshotId === undefined) return undefined
  return { snapshotId: metadata.currentSnapshotId, type: 'branch' }
}
