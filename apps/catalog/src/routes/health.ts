import { setTimeout } from 'node:timers/promises'
import type { CatalogContext } from '../context.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'

/** Those who ask wait a second or two; a database that takes longer is of no use now. */
const DATABASE_ANSWER_MS_MAX = 1_000

/** GET /health/live: this process answers, whatever it depends on. */
export async function healthLive(): Promise<HttpAnswer> {
  return jsonAnswer({ status: 'live' })
}

/** GET /health/ready: the database answers too; otherwise 503 with the reason. */
export async function healthReady(call: RouteCall): Promise<HttpAnswer> {
  return readiness(call.catalog.context)
}

/** The answer of any process whose work needs the database. */
export async function readiness({
  database,
  log,
}: Pick<CatalogContext, 'database' | 'log'>): Promise<HttpAnswer> {
  const timer = new AbortController()
  const tooLate = setTimeout(DATABASE_ANSWER_MS_MAX, 'late' as const, { signal: timer.signal })
  try {
    const answer = await Promise.race([database.query('select 1'), tooLate])
    if (answer !== 'late') return jsonAnswer({ status: 'ready' })
    log.warn({ waitedMs: DATABASE_ANSWER_MS_MAX }, 'not ready: the database does not answer')
    return notReady(`the database did not answer within ${DATABASE_ANSWER_MS_MAX} ms`)
  } catch (error) {
    log.warn({ err: error }, 'not ready: the database does not answer')
    return notReady('the database is unreachable')
  } finally {
    timer.abort()
  }
}

function notReady(reason: string): HttpAnswer {
  return jsonAnswer({ status: 'not-ready', reason }, 503)
}
