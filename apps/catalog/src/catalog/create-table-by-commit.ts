import { findNamespace } from '@timelake/database/namespaces'
import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { locationsIn } from '@timelake/iceberg/commit/introduced-locations'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { TableCommit } from './table-commit.ts'
import { landedRecord } from './landed-request.ts'
import { checkIntroducedFiles, checkTableRoots } from './location-rules.ts'
import { checkName } from './names.ts'
import { insertTableRow } from './new-table-row.ts'
import { writeMetadata } from './write-metadata.ts'

/**
 * Creates a table from a commit with `assert-create`, the end of a staged create: metadata from nothing, with the
 * client's ids, because data files name them. `stale`: somebody created the table meanwhile.
 * Throws NoSuchNamespaceError and InvalidInputError.
 */
export async function createTableByCommit(
  catalog: Catalog,
  commit: TableCommit,
): Promise<LoadedMetadata | 'stale'> {
  const { warehouse, identifier, request } = commit
  const { levels, name } = identifier
  checkName(name, 'table')
  const namespace = await findNamespace(catalog.context.database, warehouse.id, levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(levels)
  const metadata = applyCommit(undefined, request, { nowMs: catalog.context.nowMs() })
  catalog.context.reachFaultPoint('commit.requirements-checked')
  await checkTableRoots(catalog, warehouse, { metadata })
  checkIntroducedFiles(locationsIn(request), metadata)
  await warehouse.store.prepareTableFolders(normalizeLocation(metadata.location))
  const written = await writeMetadata(catalog, { warehouse, metadata })
  catalog.context.reachFaultPoint('create.metadata-written')
  const landed = landedRecord(request, commit.requestHash)
  const outcome = await insertTableRow(catalog, {
    ...commit,
    namespace,
    name,
    written,
    ownsFile: true,
    landed,
  })
  switch (outcome) {
    case 'created':
      return written.loaded
    case 'exists':
      return 'stale'
    case 'namespace-missing':
      throw new NoSuchNamespaceError(levels)
  }
}
