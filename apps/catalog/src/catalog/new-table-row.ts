import { LocationTakenError, StatementError } from '@timelake/database/database-errors'
import type { LandedCommit } from '@timelake/database/landed-commits'
import type { NamespaceRow } from '@timelake/database/namespaces'
import { findTableById } from '@timelake/database/find-tables'
import { createTable } from '@timelake/database/tables'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { CommitStateUnknownError, NotAppliedError } from './catalog-errors.ts'
import { idempotencyOf, type Catalog, type MutationScope } from './catalog.ts'
import { commitEventPayload } from './commit-event.ts'
import { discardMetadata, type WrittenMetadata } from './write-metadata.ts'

export interface NewTableRow extends MutationScope {
  readonly namespace: NamespaceRow
  readonly name: string
  readonly written: WrittenMetadata
  /** Whether this process wrote the file for this row; somebody else's file is never deleted. */
  readonly ownsFile: boolean
  readonly landed?: LandedCommit
}

export type NewTableOutcome = 'created' | 'exists' | 'namespace-missing'

/**
 * Makes the row of a table whose metadata file is written, with its event and the idempotency outcome. An own
 * file is deleted when no row points at it. When the database gave no answer the row is looked for: throws NotAppliedError
 * when it is not there, CommitStateUnknownError when that cannot be told.
 */
export async function insertTableRow(
  catalog: Catalog,
  table: NewTableRow,
): Promise<NewTableOutcome> {
  const outcome = await insert(catalog, table)
  const { loaded, textBytes } = table.written
  if (outcome !== 'created') {
    await discardOwn(catalog, table)
    return outcome
  }
  catalog.context.reachFaultPoint('create.row-written')
  catalog.metadata.put(table.warehouse, loaded, textBytes)
  return outcome
}

async function insert(catalog: Catalog, table: NewTableRow): Promise<NewTableOutcome> {
  const { namespace, name, warehouse, written } = table
  const { location, metadata } = written.loaded
  const id = catalog.context.newUuid()
  try {
    return await createTable(catalog.context.database, {
      id,
      warehouseId: warehouse.id,
      namespaceId: namespace.id,
      name,
      tableUuid: metadata.tableUuid,
      location: normalizeLocation(metadata.location),
      metadataLocation: location,
      nowMs: catalog.context.nowMs(),
      event: {
        kind: table.ownsFile ? 'table-created' : 'table-registered',
        payload: commitEventPayload({ metadataLocation: location, metadata }),
      },
      ...(table.landed === undefined ? {} : { landed: table.landed }),
      ...idempotencyOf(table, { status: 200, metadataLocation: location }),
    })
  } catch (error) {
    return reconcile(catalog, { table, id }, error)
  } finally {
    catalog.pointers.forget(warehouse.id, { levels: namespace.levels, name })
  }
}

async function reconcile(
  catalog: Catalog,
  attempt: { readonly table: NewTableRow; readonly id: string },
  error: unknown,
): Promise<NewTableOutcome> {
  if (error instanceof StatementError || error instanceof LocationTakenError) {
    await discardOwn(catalog, attempt.table)
    if (error instanceof StatementError) {
      throw new NotAppliedError('the database refused the table', { cause: error })
    }
    throw new InvalidInputError(error.message, undefined, { cause: error })
  }
  const found = await findTableById(catalog.context.database, attempt.id).catch((second) => {
    const causes = new AggregateError([error, second])
    throw new CommitStateUnknownError('cannot tell whether the table was created', {
      cause: causes,
    })
  })
  if (found !== undefined) return 'created'
  await discardOwn(catalog, attempt.table)
  throw new NotAppliedError('the database did not take the table', { cause: error })
}

async function discardOwn(catalog: Catalog, table: NewTableRow): Promise<void> {
  if (table.ownsFile) await discardMetadata(catalog, table.warehouse, table.written.loaded.location)
}
