import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { notingSnapshots } from './commit-outcome.ts'
import { landCommits } from './land-commits.ts'
import { wantedSnapshots } from '../pending-commits.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One call of the commit route. */
export interface SingleCommit extends MutationScope {
  readonly identifier: TableIdentifier
  readonly request: CommitRequest
  /** See `commitRequestHash`. */
  readonly requestHash: string
  readonly isRebaseAsked: boolean
}

/**
 * Applies the request to the table, or creates the table when the request asserts that; answers the metadata that the
 * table has then. Throws what `landCommits` throws. Spec: REST catalog, updateTable.
 */
export async function commitTable(catalog: Catalog, commit: SingleCommit): Promise<LoadedMetadata> {
  const { identifier, request } = commit
  const commits = [{ identifier, requests: [request] }]
  const wanted = wantedSnapshots(commit.warehouse.id, commits)
  const slot = notingSnapshots(commit.slot, snapshotsAdded(request))
  const [loaded] = await catalog.pending.during(wanted, () =>
    landCommits(catalog, { ...commit, slot, commits, answers: 'table' }),
  )
  invariant(loaded !== undefined, 'a commit that landed leaves a table')
  return loaded
}
