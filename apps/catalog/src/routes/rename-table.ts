import { renameTable as renameCatalogTable } from '../catalog/rename-table.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { readRename } from './read-rename.ts'

/** POST /v1/{prefix}/tables/rename. */
export async function renameTable(call: RouteCall): Promise<HttpAnswer> {
  await renameCatalogTable(call.catalog, await readRename(call))
  return NO_CONTENT
}
