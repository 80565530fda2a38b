import { findTablesNear } from '@timelake/database/find-tables'
import { listTablesOfUnknownRoots, recordRoots } from '@timelake/database/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { extraRoots } from '@timelake/iceberg/spec/table-roots'
import type { Catalog } from './catalog/catalog.ts'
import { extraViewRoots } from './catalog/view-location-rules.ts'

const ROWS_PER_PAGE = 200
/** Metadata files that are read at one time. */
const READS_MAX = 4

/**
 * Writes down the folders of tables and views that came into the database without them, by a recovery or before they were
 * recorded, so that others keep away from them. Once for each; one that cannot be read is left for the next start. Ends early
 * when `isStopped` says so. Errors: those of the database.
 */
export async function recordUnknownRoots(
  catalog: Catalog,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { database } = catalog.context
  let page: readonly TableRow[] = []
  do {
    const afterId = page.at(-1)?.id
    page = await listTablesOfUnknownRoots(database, { afterId, limit: ROWS_PER_PAGE })
    await mapBounded(page, READS_MAX, async (row) => {
      if (!isStopped()) await recordOne(catalog, row)
    })
  } while (page.length === ROWS_PER_PAGE && !isStopped())
}

async function recordOne(catalog: Catalog, row: TableRow): Promise<void> {
  const { context } = catalog
  const table = { warehouseId: row.warehouseId, tableId: row.id, name: row.name }
  const extra = await rootsOf(catalog, row).catch((error: unknown) => {
    context.log.warn({ ...table, err: error }, 'cannot tell which folders a table has')
    return undefined
  })
  if (extra === undefined) return
  await recordRoots(context.database, { tableId: row.id, extra })
  for (const location of extra) {
    const near = await findTablesNear(context.database, { warehouseId: row.warehouseId, location })
    const others = near.filter(
      ({ id, kind }) => id !== row.id && [kind, row.kind].includes('table'),
    )
    if (others.length === 0) continue
    const otherIds = others.map(({ id }) => id)
    context.log.warn({ ...table, location, otherIds }, 'tables have folders inside one another')
  }
}

async function rootsOf(catalog: Catalog, row: TableRow): Promise<readonly string[]> {
  const warehouse = await catalog.warehouses.byId(row.warehouseId)
  if (row.kind === 'view') {
    return extraViewRoots((await catalog.views.get(warehouse, row.metadataLocation)).metadata)
  }
  return extraRoots((await catalog.metadata.get(warehouse, row.metadataLocation)).metadata)
}
