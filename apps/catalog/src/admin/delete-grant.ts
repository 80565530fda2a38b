import { NoSuchGrantError } from '../access/access-errors.ts'
import { revokeGrant } from '../access/change-grants.ts'
import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { decodeSegment } from '../http/raw-path.ts'
import type { RouteCall } from '../http/route.ts'

const GRANT_ID = /^[0-9a-f-]{36}$/

/** DELETE /admin/v1/grants/{id} */
export async function deleteGrant({ catalog, parameters }: RouteCall): Promise<HttpAnswer> {
  const id = decodeSegment(parameters['id'] ?? '')
  if (!GRANT_ID.test(id)) throw new NoSuchGrantError(id)
  await revokeGrant(catalog, id)
  return NO_CONTENT
}
