import type { TableRow } from '@timelake/database/table-row'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import { applyViewCommit } from '@timelake/iceberg/view/apply-view-commit'
import type { LoadedView } from '../cache/loaded-view.ts'
import { NoSuchViewError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findViewRow } from './find-row.ts'
import { publishView } from './publish-view.ts'
import type { ViewCommit } from './view-commit.ts'
import { checkViewRoots } from './view-location-rules.ts'
import { writeView } from './write-view.ts'

/**
 * Applies the request to the view; answers the metadata that the view has then, durable and visible to every later
 * load. Commits of one view take turns; a lost race with another process is tried again on the new state, its
 * requirements included.
 * Throws NoSuchViewError, CommitFailedError (a requirement, or too many lost races) and InvalidInputError, all of them
 * with nothing applied; NotAppliedError likewise; CommitStateUnknownError when the outcome could not be read.
 * Spec: REST catalog, replaceView.
 */
export async function replaceView(catalog: Catalog, commit: ViewCommit): Promise<LoadedView> {
  const row = await findViewRow(catalog, commit.warehouse, commit.identifier)
  if (row === undefined) throw new NoSuchViewError(commit.identifier)
  return catalog.lanes.run(row.id, () => commitInTurn(catalog, commit))
}

async function commitInTurn(catalog: Catalog, commit: ViewCommit): Promise<LoadedView> {
  const { warehouse, identifier } = commit
  const { commitAttemptsMax } = catalog.config
  for (let attempt = 1; attempt <= commitAttemptsMax; attempt += 1) {
    const row = await findViewRow(catalog, warehouse, identifier)
    if (row === undefined) throw new NoSuchViewError(identifier)
    const outcome = await commitOnto(catalog, row, commit)
    if (outcome !== 'stale') return outcome
    catalog.metrics.commitRaces.inc()
    catalog.pointers.forget(warehouse.id, identifier)
  }
  throw new CommitFailedError(`the view changed ${commitAttemptsMax} times during the commit`)
}

async function commitOnto(
  catalog: Catalog,
  row: TableRow,
  commit: ViewCommit,
): Promise<LoadedView | 'stale'> {
  const { warehouse, request } = commit
  const base = await catalog.views.get(warehouse, row.metadataLocation)
  const metadata = applyViewCommit(base.metadata, request, { nowMs: catalog.context.nowMs() })
  catalog.context.reachFaultPoint('commit.requirements-checked')
  if (metadata === base.metadata) return base
  await checkViewRoots(catalog, warehouse, { metadata, base: base.metadata })
  const written = await writeView(catalog, {
    warehouse,
    metadata,
    previousLocation: row.metadataLocation,
  })
  catalog.context.reachFaultPoint('commit.metadata-written')
  return publishView(catalog, { commit, row, base: base.metadata, written })
}
