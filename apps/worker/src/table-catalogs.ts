import type { SqlSession } from '@timelake/database/sql-session'
import type { TableRow } from '@timelake/database/table-row'
import { listWarehouses } from '@timelake/database/warehouses'
import { createRestCatalog, type RestCatalog } from '@timelake/iceberg/io/rest-catalog'
import type { TableIdentifier } from '@timelake/iceberg/rest/table-identifier'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { WorkerContext } from './context.ts'

/** A host for a catalog that answers in this process; the name is never looked up. */
const IN_PROCESS_URI = 'http://127.0.0.1'

/** Finds the REST catalog of a table's warehouse. Clients are kept. */
export type CatalogOfTable = (table: TableRow) => Promise<RestCatalog>

/** Clients of the REST API, one per warehouse. */
export function catalogsOf(context: WorkerContext): CatalogOfTable {
  const catalogs = new Map<string, RestCatalog>()
  return async ({ warehouseId }) => {
    const known = catalogs.get(warehouseId)
    if (known !== undefined) return known
    const catalog = createRestCatalog({
      baseUri: context.catalogUri ?? IN_PROCESS_URI,
      warehouse: await warehouseName(context.database, warehouseId),
      send: context.catalogFetch,
      ...(context.catalogToken === undefined ? {} : { token: context.catalogToken }),
    })
    catalogs.set(warehouseId, catalog)
    return catalog
  }
}

/** The name by which the REST API knows the table. */
export function identifierOf({ levels, name }: TableRow): TableIdentifier {
  return { namespace: levels, name }
}

async function warehouseName(database: SqlSession, warehouseId: string): Promise<string> {
  const found = (await listWarehouses(database)).find(({ id }) => id === warehouseId)
  invariant(
    found !== undefined,
    `a table belongs to warehouse ${warehouseId}, which does not exist`,
  )
  return found.name
}
