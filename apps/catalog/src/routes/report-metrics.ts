import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import { readBody, type RouteCall } from '../http/route.ts'

/**
 * POST …/tables/{table}/metrics. Accepted and counted, whatever it says: clients send reports for tables that do not exist
 * yet (staged creates), from background threads that only log a refusal.
 */
export async function reportMetrics(call: RouteCall): Promise<HttpAnswer> {
  await readBody(call)
  call.catalog.metrics.reports.inc()
  return NO_CONTENT
}
