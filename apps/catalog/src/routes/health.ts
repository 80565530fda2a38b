import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'

/** GET /health/live: this process answers. */
export async function healthLive(): Promise<HttpAnswer> {
  return jsonAnswer({ status: 'live' })
}

/** GET /health/ready: the database answers too; otherwise 503. */
export async function healthReady(call: RouteCall): Promise<HttpAnswer> {
  const { database, log } = call.catalog.context
  try {
    await database.query('select 1')
    return jsonAnswer({ status: 'ready' })
  } catch (error) {
    log.warn({ err: error }, 'not ready: the database does not answer')
    return jsonAnswer({ status: 'not-ready' }, 503)
  }
}
