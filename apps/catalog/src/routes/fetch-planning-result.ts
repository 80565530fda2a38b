import { encodePlanResult } from '@timelake/iceberg/rest/plan-json'
import { jsonTextAnswer, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { fetchPlan } from '../planning/fetch-plan.ts'
import { planIdInPath, plannedTable, POLL_AFTER, withAccess } from '../planning/planned-table.ts'

/** GET …/tables/{table}/plan/{plan-id}: what became of a plan. */
export async function fetchPlanningResult(call: RouteCall): Promise<HttpAnswer> {
  return call.catalog.planning.turns.run(async () => {
    const planId = planIdInPath(call)
    const table = await plannedTable(call)
    const result = await fetchPlan(table, planId)
    const answer = jsonTextAnswer(200, encodePlanResult(await withAccess(call, table, result)))
    if (result.status !== 'submitted') return answer
    return { ...answer, headers: { ...answer.headers, ...POLL_AFTER } }
  })
}
