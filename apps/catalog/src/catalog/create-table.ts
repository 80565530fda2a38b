import { findNamespace } from '@timelake/database/namespaces'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import type { CreateTableRequest } from '@timelake/iceberg/rest/create-table-json'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NameTakenError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { findAnyRow, nameTakenBy } from './find-row.ts'
import { checkTableRoots } from './location-rules.ts'
import { defaultTableLocation } from './metadata-location.ts'
import { checkName } from './names.ts'
import { insertTableRow } from './new-table-row.ts'
import { identifierKey, tableText, type TableIdentifier } from './table-identifier.ts'
import { writeMetadata } from './write-metadata.ts'

export interface TableCreation extends MutationScope {
  readonly levels: readonly string[]
  readonly request: CreateTableRequest
}

export type CreatedTable =
  | { readonly outcome: 'created'; readonly loaded: LoadedMetadata }
  /** Nothing is kept; a commit with `assert-create` makes the table. */
  | { readonly outcome: 'staged'; readonly metadata: TableMetadata }

/**
 * Creates a table, or prepares one when the request says `stage-create`. Columns are renumbered. On a store with folders
 * both make the table's `metadata` and `data` folders, which some clients do not.
 * Throws NoSuchNamespaceError, NameTakenError and InvalidInputError. Spec: REST catalog, createTable.
 */
export async function createTable(
  catalog: Catalog,
  creation: TableCreation,
): Promise<CreatedTable> {
  const identifier = { levels: creation.levels, name: creation.request.name }
  checkName(identifier.name, 'name')
  const lane = identifierKey(creation.warehouse.id, identifier)
  return catalog.lanes.run(lane, () => createInTurn(catalog, creation, identifier))
}

async function createInTurn(
  catalog: Catalog,
  creation: TableCreation,
  identifier: TableIdentifier,
): Promise<CreatedTable> {
  const { warehouse, request } = creation
  const { levels, name } = identifier
  const { database } = catalog.context
  const namespace = await findNamespace(database, warehouse.id, levels)
  if (namespace === undefined) throw missingNamespace(identifier)
  const existing = await findAnyRow(catalog, warehouse, identifier)
  if (existing !== undefined)
    throw new NameTakenError(identifier, { wanted: 'table', existing: existing.kind })
  const metadata = firstMetadata(catalog, request, namespace.location)
  await checkTableRoots(catalog, warehouse, { metadata })
  await warehouse.store.prepareTableFolders(normalizeLocation(metadata.location))
  if (request.stageCreate) return { outcome: 'staged', metadata }
  const written = await writeMetadata(catalog, { warehouse, metadata })
  catalog.context.reachFaultPoint('create.metadata-written')
  const outcome = await insertTableRow(catalog, {
    ...creation,
    namespace,
    name,
    written,
    ownsFile: true,
  })
  switch (outcome) {
    case 'created':
      return { outcome, loaded: written.loaded }
    case 'exists':
      throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'table' })
    case 'namespace-missing':
      throw missingNamespace(identifier)
  }
}

function firstMetadata(
  catalog: Catalog,
  request: CreateTableRequest,
  namespaceLocation: string,
): TableMetadata {
  const tableUuid = catalog.context.newUuid()
  const { name } = request
  const location = request.location ?? defaultTableLocation(namespaceLocation, { name, tableUuid })
  return newTableMetadata(request, { tableUuid, location, nowMs: catalog.context.nowMs() })
}

function missingNamespace(identifier: TableIdentifier): NoSuchNamespaceError {
  return new NoSuchNamespaceError(identifier.levels, `Cannot create table ${tableText(identifier)}`)
}
