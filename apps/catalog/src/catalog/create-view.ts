import { findNamespace } from '@timelake/database/namespaces'
import type { CreateViewRequest } from '@timelake/iceberg/rest/view-requests-json'
import { newViewMetadata } from '@timelake/iceberg/view/new-view-metadata'
import type { ViewMetadata } from '@timelake/iceberg/view/view-metadata'
import type { LoadedView } from '../cache/loaded-view.ts'
import { NameTakenError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { findAnyRow, nameTakenBy } from './find-row.ts'
import { defaultTableLocation } from './metadata-location.ts'
import { checkName } from './names.ts'
import { insertViewRow } from './new-view-row.ts'
import { identifierKey, tableText, type TableIdentifier } from './table-identifier.ts'
import { checkViewRoots } from './view-location-rules.ts'
import { writeView } from './write-view.ts'

export interface ViewCreation extends MutationScope {
  readonly levels: readonly string[]
  readonly request: CreateViewRequest
}

/**
 * Creates a view. Its field ids are kept. Throws NoSuchNamespaceError, NameTakenError and InvalidInputError.
 * Spec: REST catalog, createView.
 */
export async function createView(catalog: Catalog, creation: ViewCreation): Promise<LoadedView> {
  const identifier = { levels: creation.levels, name: creation.request.name }
  checkName(identifier.name, 'name')
  const lane = identifierKey(creation.warehouse.id, identifier)
  return catalog.lanes.run(lane, () => createInTurn(catalog, creation, identifier))
}

async function createInTurn(
  catalog: Catalog,
  creation: ViewCreation,
  identifier: TableIdentifier,
): Promise<LoadedView> {
  const { warehouse, request } = creation
  const { levels, name } = identifier
  const namespace = await findNamespace(catalog.context.database, warehouse.id, levels)
  if (namespace === undefined) throw missingNamespace(identifier)
  const existing = await findAnyRow(catalog, warehouse, identifier)
  if (existing !== undefined)
    throw new NameTakenError(identifier, { wanted: 'view', existing: existing.kind })
  const metadata = firstMetadata(catalog, request, namespace.location)
  await checkViewRoots(catalog, warehouse, { metadata })
  const written = await writeView(catalog, { warehouse, metadata })
  catalog.context.reachFaultPoint('create.metadata-written')
  const view = { ...creation, namespace, name, written, ownsFile: true }
  switch (await insertViewRow(catalog, view)) {
    case 'created':
      return written.loaded
    case 'exists':
      throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'view' })
    case 'namespace-missing':
      throw missingNamespace(identifier)
  }
}

function firstMetadata(
  catalog: Catalog,
  request: CreateViewRequest,
  namespaceLocation: string,
): ViewMetadata {
  const viewUuid = catalog.context.newUuid()
  const { name } = request
  const location =
    request.location ?? defaultTableLocation(namespaceLocation, { name, tableUuid: viewUuid })
  return newViewMetadata(request, { viewUuid, location, nowMs: catalog.context.nowMs() })
}

function missingNamespace(identifier: TableIdentifier): NoSuchNamespaceError {
  return new NoSuchNamespaceError(identifier.levels, `Cannot create view ${tableText(identifier)}`)
}
