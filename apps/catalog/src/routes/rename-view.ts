import { renameView as renameCatalogView } from '../catalog/rename-view.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { readRename } from './read-rename.ts'

/** POST /v1/{prefix}/views/rename. */
export async function renameView(call: RouteCall): Promise<HttpAnswer> {
  await renameCatalogView(call.catalog, await readRename(call))
  return NO_CONTENT
}
