import {
  cancelPurge,
  findDroppedTable,
  requestPurge,
  type DroppedTableRow,
} from '@timelake/database/dropped-tables'
import { ValidationFailedError } from '@timelake/iceberg/spec/errors'
import type { JobKind } from '@timelake/timelake/contract/job-kinds'
import { printDurationMs } from '@timelake/timelake/contract/quantity'
import { PurgeBegunError } from './admin-errors.ts'
import { NoSuchTableIdError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'

/** The kind of job that deletes the files of a dropped table. */
export const PURGE_TABLE: JobKind = 'purge-table'

/**
 * Asks for the purge of a table that was dropped without one; the grace counts from now, and `gc.enabled` of the table
 * counts as for every purge. Asking twice changes nothing. Throws NoSuchTableIdError, and ValidationFailedError for a view.
 */
export async function purgeDroppedTable(catalog: Catalog, id: string): Promise<DroppedTableRow> {
  const { config, context } = catalog
  const { database } = context
  const dropped = await existingDroppedTable(catalog, id)
  if (dropped.kind === 'view') {
    throw new ValidationFailedError(
      'expected a table, found a view: it has no files to purge',
      'id',
    )
  }
  const nowMs = context.nowMs()
  const outcome = await requestPurge(database, {
    tableId: id,
    nowMs,
    jobKind: PURGE_TABLE,
    dueAtMs: nowMs + config.purgeGraceMs,
    reason: `an operator asked for a purge, ${printDurationMs(config.purgeGraceMs)} of grace`,
  })
  if (outcome === 'requested') context.log.info({ tableId: id }, 'purge asked for')
  return existingDroppedTable(catalog, id)
}

/**
 * Takes back the wish for a purge: the files stay, and the table may come back. Throws NoSuchTableIdError, and
 * PurgeBegunError once the first file is being deleted.
 */
export async function keepDroppedTable(catalog: Catalog, id: string): Promise<DroppedTableRow> {
  const { database, log } = catalog.context
  const outcome = await cancelPurge(database, { tableId: id, jobKind: PURGE_TABLE })
  switch (outcome) {
    case 'kept':
      log.info({ tableId: id }, 'purge taken back')
      return existingDroppedTable(catalog, id)
    case 'missing':
      throw new NoSuchTableIdError(id)
    case 'purge-begun':
      throw new PurgeBegunError('keep', id)
  }
}

async function existingDroppedTable({ context }: Catalog, id: string): Promise<DroppedTableRow> {
  const row = await findDroppedTable(context.database, id)
  if (row === undefined) throw new NoSuchTableIdError(id)
  return row
}
