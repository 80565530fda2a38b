import { LocationTakenError } from '@timelake/database/database-errors'
import { findNamespace } from '@timelake/database/namespaces'
import type { TableRow } from '@timelake/database/table-row'
import { overwriteTable } from '@timelake/database/tables'
import { CorruptFileError, InvalidInputError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NoSuchNamespaceError, TableExistsError } from './catalog-errors.ts'
import { idempotencyOf, type Catalog, type MutationScope } from './catalog.ts'
import { commitEventPayload } from './commit-event.ts'
import { allowedPrefixes, checkAllowed, checkTableRoots } from './location-rules.ts'
import { checkName } from './names.ts'
import { insertTableRow } from './new-table-row.ts'
import { identifierKey, type TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

export interface TableRegistration extends MutationScope {
  readonly identifier: TableIdentifier
  readonly metadataLocation: string
  readonly overwrite: boolean
}

/**
 * Points a name at an existing metadata file, which is read once and never rewritten. Only a file, and only a table,
 * inside the allowed prefixes; what the file lists elsewhere (metadata log, statistics, manifests) is neither
 * read nor ever deleted. `overwrite` re-points an existing table.
 * Throws NoSuchNamespaceError, TableExistsError, MetadataFileMissingError and InvalidInputError.
 * Spec: REST catalog, registerTable.
 */
export async function registerTable(
  catalog: Catalog,
  registration: TableRegistration,
): Promise<LoadedMetadata> {
  const { warehouse, identifier } = registration
  checkName(identifier.name, 'name')
  const existing = await catalog.pointers.find(warehouse.id, identifier)
  const lane = existing?.id ?? identifierKey(warehouse.id, identifier)
  return catalog.lanes.run(lane, () => registerInTurn(catalog, registration))
}

async function registerInTurn(
  catalog: Catalog,
  registration: TableRegistration,
): Promise<LoadedMetadata> {
  const { warehouse, identifier, metadataLocation } = registration
  const namespace = await findNamespace(catalog.context.database, warehouse.id, identifier.levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(identifier.levels)
  const existing = await catalog.pointers.find(warehouse.id, identifier)
  if (existing !== undefined && !registration.overwrite) throw new TableExistsError(identifier)
  const prefixes = allowedPrefixes(catalog, warehouse)
  checkAllowed(metadataLocation, prefixes, 'metadata location')
  // Other writers may have replaced the file since it was last read.
  catalog.metadata.delete(warehouse, metadataLocation)
  const loaded = await readRegistered(catalog, warehouse, metadataLocation)
  await checkTableRoots(catalog, warehouse, {
    metadata: loaded.metadata,
    ...(existing === undefined ? {} : { id: existing.id }),
  })
  if (existing !== undefined) return overwrite(catalog, { registration, existing, loaded })
  const outcome = await insertTableRow(catalog, {
    ...registration,
    namespace,
    name: identifier.name,
    written: { loaded, textBytes: loaded.fileBytes().length },
    ownsFile: false,
  })
  if (outcome === 'exists') throw new TableExistsError(identifier)
  if (outcome === 'namespace-missing') throw new NoSuchNamespaceError(identifier.levels)
  return loaded
}

/** Here a file that breaks the format is the caller's: InvalidInputError instead of CorruptFileError. */
async function readRegistered(
  catalog: Catalog,
  warehouse: Warehouse,
  metadataLocation: string,
): Promise<LoadedMetadata> {
  try {
    return await catalog.metadata.get(warehouse, metadataLocation)
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    throw new InvalidInputError(cause.message, undefined, { cause })
  }
}

async function overwrite(
  catalog: Catalog,
  change: {
    readonly registration: TableRegistration
    readonly existing: TableRow
    readonly loaded: LoadedMetadata
  },
): Promise<LoadedMetadata> {
  const { registration, existing, loaded } = change
  const { location, metadata } = loaded
  try {
    const outcome = await overwriteTable(catalog.context.database, {
      tableId: existing.id,
      metadataLocation: location,
      tableUuid: metadata.tableUuid,
      location: normalizeLocation(metadata.location),
      nowMs: catalog.context.nowMs(),
      event: {
        kind: 'table-registered',
        payload: commitEventPayload({
          metadataLocation: location,
          previousMetadataLocation: existing.metadataLocation,
          metadata,
        }),
      },
      ...idempotencyOf(registration, { status: 200, metadataLocation: location }),
    })
    if (outcome === 'missing') throw new TableExistsError(registration.identifier)
    return loaded
  } catch (error) {
    if (!(error instanceof LocationTakenError)) throw error
    throw new InvalidInputError(error.message, undefined, { cause: error })
  } finally {
    catalog.pointers.forget(existing.warehouseId, existing)
  }
}
