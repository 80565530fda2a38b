import type { NamespaceRow } from '@timelake/database/namespaces'
import type { EventInput } from '@timelake/database/outbox'
import { readPointers } from '@timelake/database/read-pointers'
import type { RowKind } from '@timelake/database/table-row'
import { createTable } from '@timelake/database/tables'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { CommitStateUnknownError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { settleChange } from './settle-change.ts'
import { discardFile } from './write-metadata.ts'

/** A table or a view whose metadata file is there and whose name is not. */
export interface NewRow extends MutationScope {
  readonly kind: RowKind
  readonly namespace: NamespaceRow
  readonly name: string
  /** Of the table or view. */
  readonly uuid: string
  readonly location: string
  /** Its folders outside that, normalized. */
  readonly extraRoots: readonly string[]
  readonly metadataLocation: string
  readonly event: EventInput
  /** Whether this process wrote the file for this row; somebody else's file is never deleted. */
  readonly ownsFile: boolean
}

export type NewRowOutcome = 'created' | 'exists' | 'namespace-missing'

/**
 * Makes the row, with its event and the idempotency outcome. An own file is deleted when certainly no row points at it.
 * Throws what `settleChange` throws: InvalidInputError is for a location that another table has.
 */
export async function insertRow(catalog: Catalog, row: NewRow): Promise<NewRowOutcome> {
  const outcome = await insert(catalog, row)
  if (outcome === 'created') catalog.context.reachFaultPoint('create.row-written')
  else await discardOwn(catalog, row)
  return outcome
}

async function insert(catalog: Catalog, row: NewRow): Promise<NewRowOutcome> {
  const { namespace, name, warehouse } = row
  try {
    return await settle(catalog, row)
  } catch (error) {
    if (!(error instanceof CommitStateUnknownError)) await discardOwn(catalog, row)
    throw error
  } finally {
    catalog.pointers.forget(warehouse.id, { levels: namespace.levels, name })
  }
}

function settle(catalog: Catalog, row: NewRow): Promise<NewRowOutcome> {
  const { database, newUuid, nowMs } = catalog.context
  const { kind, namespace, name, warehouse, metadataLocation, event } = row
  const id = newUuid()
  const table = {
    id,
    kind,
    warehouseId: warehouse.id,
    namespaceId: namespace.id,
    name,
    tableUuid: row.uuid,
    location: normalizeLocation(row.location),
    extraRoots: row.extraRoots.map((location) => ({ location })),
    metadataLocation,
    nowMs: nowMs(),
    event,
    ...idempotencyOf(row, { status: 200, metadataLocation }),
  }
  return settleChange<NewRowOutcome>({
    what: `the creation of the ${kind}`,
    send: () => createTable(database, table),
    isApplied: (outcome) => outcome === 'created',
    findApplied: async () => ((await readPointers(database, [id])).has(id) ? 'created' : undefined),
  })
}

async function discardOwn(catalog: Catalog, row: NewRow): Promise<void> {
  if (row.ownsFile) await discardFile(catalog, row.warehouse, row.metadataLocation)
}
