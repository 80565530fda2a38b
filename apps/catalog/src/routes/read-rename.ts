import { decodeRenameTableRequest } from '@timelake/iceberg/rest/table-requests-json'
import { identifiersText } from '../access/audit.ts'
import { requireWriter } from '../access/authorize.ts'
import type { Rename } from '../catalog/rename-row.ts'
import { readJson, warehouseOf, type RouteCall } from '../http/route.ts'

/** What a request to rename a table or a view says. Throws InvalidInputError, and ForbiddenError unless the caller writes at both ends. */
export async function readRename(call: RouteCall): Promise<Rename> {
  const decoded = decodeRenameTableRequest(await readJson(call))
  const source = { levels: decoded.source.namespace, name: decoded.source.name }
  const destination = { levels: decoded.destination.namespace, name: decoded.destination.name }
  call.subject.detail = identifiersText([{ identifier: source }, { identifier: destination }])
  requireWriter(call, [source.levels, destination.levels])
  return { warehouse: warehouseOf(call), slot: call.slot, source, destination }
}
