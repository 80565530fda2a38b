import { findNamespace } from '@timelake/database/namespaces'
import { CorruptFileError, InvalidInputError } from '@timelake/iceberg/spec/errors'
import { lengthOf } from '@timelake/storage/object-bytes'
import type { LoadedView } from '../cache/loaded-view.ts'
import { NameTakenError, NoSuchNamespaceError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { findAnyRow, nameTakenBy } from './find-row.ts'
import { allowedPrefixes, checkAllowed } from './location-rules.ts'
import { checkName } from './names.ts'
import { insertViewRow } from './new-view-row.ts'
import { identifierKey, type TableIdentifier } from './table-identifier.ts'
import { checkViewRoots } from './view-location-rules.ts'
import type { Warehouse } from './warehouse.ts'

export interface ViewRegistration extends MutationScope {
  readonly identifier: TableIdentifier
  readonly metadataLocation: string
}

/**
 * Points a free name at an existing view metadata file, which is read once and never rewritten. Only a file, and only a
 * view, inside the allowed prefixes.
 * Throws NoSuchNamespaceError, NameTakenError, MetadataFileMissingError and InvalidInputError.
 * Spec: REST catalog, registerView.
 */
export async function registerView(
  catalog: Catalog,
  registration: ViewRegistration,
): Promise<LoadedView> {
  const { warehouse, identifier } = registration
  checkName(identifier.name, 'name')
  const lane = identifierKey(warehouse.id, identifier)
  return catalog.lanes.run(lane, () => registerInTurn(catalog, registration))
}

async function registerInTurn(
  catalog: Catalog,
  registration: ViewRegistration,
): Promise<LoadedView> {
  const { warehouse, identifier, metadataLocation } = registration
  const { levels, name } = identifier
  const namespace = await findNamespace(catalog.context.database, warehouse.id, levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(levels)
  const existing = await findAnyRow(catalog, warehouse, identifier)
  if (existing !== undefined)
    throw new NameTakenError(identifier, { wanted: 'view', existing: existing.kind })
  checkAllowed(metadataLocation, allowedPrefixes(catalog, warehouse), 'metadata location')
  const loaded = await readRegistered(catalog, warehouse, metadataLocation)
  await checkViewRoots(catalog, warehouse, { metadata: loaded.metadata })
  const outcome = await insertViewRow(catalog, {
    ...registration,
    namespace,
    name,
    written: { loaded, textBytes: lengthOf(loaded.fileBytes()) },
    ownsFile: false,
  })
  switch (outcome) {
    case 'created':
      return loaded
    case 'exists':
      throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'view' })
    case 'namespace-missing':
      throw new NoSuchNamespaceError(levels)
  }
}

/** Here a file that breaks the format is the caller's: InvalidInputError instead of CorruptFileError. */
async function readRegistered(
  catalog: Catalog,
  warehouse: Warehouse,
  metadataLocation: string,
): Promise<LoadedView> {
  // Other writers may have replaced the file since it was last read.
  catalog.views.delete(warehouse, metadataLocation)
  try {
    return await catalog.views.get(warehouse, metadataLocation)
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    throw new InvalidInputError(cause.message, undefined, { cause })
  }
}
