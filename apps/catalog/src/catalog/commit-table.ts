import type { TableRow } from '@timelake/database/table-row'
import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { createsTable } from '@timelake/iceberg/commit/check-requirements'
import { locationsIn } from '@timelake/iceberg/commit/introduced-locations'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { createTableByCommit } from './create-table-by-commit.ts'
import { hasLanded, isResultOf } from './landed-request.ts'
import { checkIntroducedFiles, checkTableRoots } from './location-rules.ts'
import { publishCommit } from './publish-commit.ts'
import type { TableCommit } from './table-commit.ts'
import { identifierKey } from './table-identifier.ts'
import { writeMetadata } from './write-metadata.ts'

/**
 * Applies the request to the table, or creates the table when the request asserts that; answers the metadata that
 * the table has then, durable and visible to every later load. The repetition of a landed request changes nothing
 * and succeeds. Commits of one table take turns; a lost race with another process is tried again on the new
 * state, its requirements included.
 * Throws NoSuchTableError, CommitFailedError (a requirement, or too many lost races) and InvalidInputError, all of them
 * with nothing applied; NotAppliedError likewise; CommitStateUnknownError when the outcome could not be read.
 * Spec: REST catalog, updateTable.
 */
export async function commitTable(catalog: Catalog, commit: TableCommit): Promise<LoadedMetadata> {
  const { warehouse, identifier } = commit
  const creates = createsTable(commit.request)
  const row = await catalog.pointers.find(warehouse.id, identifier)
  const lane = row?.id ?? identifierKey(warehouse.id, identifier)
  return catalog.lanes.run(lane, () => commitInTurn(catalog, commit, creates))
}

async function commitInTurn(
  catalog: Catalog,
  commit: TableCommit,
  creates: boolean,
): Promise<LoadedMetadata> {
  const { warehouse, identifier } = commit
  const { commitAttemptsMax } = catalog.config
  for (let attempt = 1; attempt <= commitAttemptsMax; attempt += 1) {
    const row = await catalog.pointers.find(warehouse.id, identifier)
    if (row === undefined && !creates) throw new NoSuchTableError(identifier)
    const outcome =
      row === undefined
        ? await createTableByCommit(catalog, commit)
        : await commitOnto(catalog, row, { ...commit, creates })
    if (outcome !== 'stale') return outcome
    catalog.metrics.commitRaces.inc()
    catalog.pointers.forget(warehouse.id, identifier)
  }
  throw new CommitFailedError(`the table changed ${commitAttemptsMax} times during the commit`)
}

async function commitOnto(
  catalog: Catalog,
  row: TableRow,
  commit: TableCommit & { readonly creates: boolean },
): Promise<LoadedMetadata | 'stale'> {
  const { warehouse } = commit
  const base = await catalog.metadata.get(warehouse, row.metadataLocation)
  if (await hasLanded(catalog, row, { ...commit, base: base.metadata })) return base
  const metadata = await applyOrRecognize(catalog, row, { ...commit, base: base.metadata })
  catalog.context.reachFaultPoint('commit.requirements-checked')
  if (metadata === base.metadata) return base
  await checkLocations(catalog, row, { ...commit, metadata, base: base.metadata })
  const written = await writeMetadata(catalog, {
    warehouse,
    metadata,
    previousLocation: row.metadataLocation,
  })
  catalog.context.reachFaultPoint('commit.metadata-written')
  return publishCommit(catalog, { commit, row, base, written })
}

/** The new metadata; the base itself when nothing changes, or when the base is what this same request made. */
async function applyOrRecognize(
  catalog: Catalog,
  row: TableRow,
  commit: TableCommit & { readonly base: TableMetadata },
): Promise<TableMetadata> {
  try {
    return applyCommit(commit.base, commit.request, {
      nowMs: catalog.context.nowMs(),
      baseMetadataLocation: row.metadataLocation,
    })
  } catch (error) {
    const isRepeated =
      error instanceof CommitFailedError && (await isResultOf(catalog, row, commit.requestHash))
    if (isRepeated) return commit.base
    throw error
  }
}

async function checkLocations(
  catalog: Catalog,
  row: TableRow,
  commit: TableCommit & { readonly metadata: TableMetadata; readonly base: TableMetadata },
): Promise<void> {
  const { warehouse, request, metadata, base } = commit
  await checkTableRoots(catalog, warehouse, { id: row.id, metadata, base })
  checkIntroducedFiles(locationsIn(request), metadata, base)
}
