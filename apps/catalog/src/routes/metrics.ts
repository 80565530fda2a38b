import type { HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'

/** GET /metrics, in the text format of Prometheus. Needs the token where one is set. */
export async function metrics(call: RouteCall): Promise<HttpAnswer> {
  const { registry } = call.catalog.context
  return {
    status: 200,
    headers: { 'content-type': registry.contentType },
    body: await registry.metrics(),
  }
}
