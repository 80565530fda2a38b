import { encodePlanResult } from '@timelake/iceberg/rest/plan-json'
import { jsonTextAnswer, type HttpAnswer, type HttpRequest } from '../http/exchange.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { planScan } from '../planning/plan-scan.ts'
import { plannedTable, POLL_AFTER, withAccess } from '../planning/planned-table.ts'

/** POST …/tables/{table}/plan: the files of a scan, plan tasks for them, or the id of a plan that is worked on. */
export async function planTableScan(call: RouteCall): Promise<HttpAnswer> {
  const json = await readJson(call)
  return call.catalog.planning.turns.run(async () => {
    const table = await plannedTable(call)
    const result = await planScan(table, json, { canPoll: canPoll(call.request) })
    const answer = jsonTextAnswer(200, encodePlanResult(await withAccess(call, table, result)))
    if (result.status !== 'submitted') return answer
    return { ...answer, headers: { ...answer.headers, ...POLL_AFTER } }
  })
}

/** Everybody but those who are known to give up on a plan that is not finished. */
function canPoll(request: HttpRequest): boolean {
  const client = `${request.header('x-client-version')} ${request.header('user-agent')}`
  return !/pyiceberg/i.test(client)
}
