import { LocationTakenError } from '@timelake/database/database-errors'
import {
  findDroppedTable,
  undropTable as undropRow,
  type DroppedTableRow,
} from '@timelake/database/dropped-tables'
import { findTableById } from '@timelake/database/find-tables'
import { findNamespace } from '@timelake/database/namespaces'
import type { EventInput } from '@timelake/database/outbox'
import type { TableRow } from '@timelake/database/table-row'
import { InvalidInputError, ValidationFailedError } from '@timelake/iceberg/spec/errors'
import { printJson } from '@timelake/iceberg/spec/json'
import { extraRoots } from '@timelake/iceberg/spec/table-roots'
import { PurgeBegunError, UndropConflictError } from './admin-errors.ts'
import { NoSuchNamespaceError, NoSuchTableIdError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { findAnyRow, nameTakenBy } from './find-row.ts'
import { checkTableRoots, LocationOverlapError } from './location-rules.ts'
import { settleChange } from './settle-change.ts'
import { identifierKey, type TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

export interface TableUndrop {
  readonly id: string
  /** Where it goes; undefined: the name that it had. */
  readonly levels: readonly string[] | undefined
  readonly name: string | undefined
}

/**
 * Brings a dropped table back under its id, and takes back a wish for its purge. One that is live, because it came back
 * before, stays as it is. Throws NoSuchTableIdError, NoSuchNamespaceError, PurgeBegunError, NameTakenError,
 * UndropConflictError (its location is taken), MetadataFileMissingError (an engine deleted its files), and InvalidInputError
 * when its location is not allowed any more.
 */
export async function undropTable(catalog: Catalog, undrop: TableUndrop): Promise<TableRow> {
  const { context, warehouses } = catalog
  const dropped = await findDroppedTable(context.database, undrop.id)
  if (dropped === undefined) return liveTable(catalog, undrop.id)
  if (dropped.kind === 'view') {
    throw new ValidationFailedError('expected a table, found a view: its files went with it', 'id')
  }
  const warehouse = await warehouses.byId(dropped.warehouseId)
  const { levels = dropped.levels, name = dropped.name } = undrop
  const lane = identifierKey(warehouse.id, { levels, name })
  return catalog.lanes.run(lane, () =>
    undropInTurn(catalog, { warehouse, dropped, identifier: { levels, name } }),
  )
}

async function liveTable({ context }: Catalog, id: string): Promise<TableRow> {
  const row = await findTableById(context.database, id)
  if (row === undefined) throw new NoSuchTableIdError(id)
  return row
}

interface Undropping {
  readonly warehouse: Warehouse
  readonly dropped: DroppedTableRow
  readonly identifier: TableIdentifier
}

async function undropInTurn(catalog: Catalog, undropping: Undropping): Promise<TableRow> {
  const { warehouse, dropped, identifier } = undropping
  const { id } = dropped
  const { database } = catalog.context
  const namespace = await findNamespace(database, warehouse.id, identifier.levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(identifier.levels)
  if (isPurging(dropped)) throw new PurgeBegunError('bring back', id)
  const existing = await findAnyRow(catalog, warehouse, identifier)
  if (existing !== undefined && existing.id !== id) {
    throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'table' })
  }
  const roots = await checkRoots(catalog, undropping)
  const place = { namespaceId: namespace.id, extraRoots: roots }
  const outcome = await restore(catalog, undropping, place)
  switch (outcome) {
    case 'restored':
      catalog.context.log.info({ tableId: id }, 'table brought back')
      return liveTable(catalog, id)
    case 'missing':
      return liveTable(catalog, id)
    case 'purge-begun':
      throw new PurgeBegunError('bring back', id)
    case 'exists':
      throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'table' })
    case 'namespace-missing':
      throw new NoSuchNamespaceError(identifier.levels)
  }
}

function isPurging({ purgeStartedAtMs, purgedAtMs }: DroppedTableRow): boolean {
  return purgeStartedAtMs !== undefined || purgedAtMs !== undefined
}

/** The folders outside its location. Reads the metadata file, so that nothing comes back whose files an engine deleted. */
async function checkRoots(
  catalog: Catalog,
  { warehouse, dropped }: Undropping,
): Promise<readonly string[]> {
  const { id, metadataLocation } = dropped
  try {
    catalog.metadata.delete(warehouse, metadataLocation)
    const { metadata } = await catalog.metadata.get(warehouse, metadataLocation)
    await checkTableRoots(catalog, warehouse, { id, metadata })
    return extraRoots(metadata)
  } catch (cause) {
    throw conflictOf(cause, dropped)
  }
}

async function restore(
  catalog: Catalog,
  undropping: Undropping,
  place: { readonly namespaceId: string; readonly extraRoots: readonly string[] },
) {
  const { warehouse, dropped, identifier } = undropping
  const { database, nowMs } = catalog.context
  const change = {
    tableId: dropped.id,
    ...place,
    name: identifier.name,
    nowMs: nowMs(),
    event: eventOf(dropped),
  }
  try {
    return await settleChange({
      what: 'the return of the table',
      send: () => undropRow(database, change),
      isApplied: (outcome) => outcome === 'restored',
      async findApplied() {
        const row = await findTableById(database, dropped.id)
        return row === undefined ? undefined : ('restored' as const)
      },
    })
  } catch (cause) {
    throw conflictOf(cause, dropped)
  } finally {
    catalog.pointers.forget(warehouse.id, identifier)
  }
}

/** The worker treats it like a registration: it looks at the table once. */
function eventOf({ metadataLocation }: DroppedTableRow): EventInput {
  const payload = printJson({ 'metadata-location': metadataLocation, restored: true })
  return { kind: 'table-registered', payload }
}

function conflictOf(cause: unknown, { id, location }: DroppedTableRow): unknown {
  const isTaken =
    cause instanceof LocationOverlapError ||
    (cause instanceof InvalidInputError && cause.cause instanceof LocationTakenError)
  if (!isTaken) return cause
  return new UndropConflictError(
    `cannot bring back table ${id}: expected its location ${location} to be free, found another table at, above or inside it`,
    { cause },
  )
}
