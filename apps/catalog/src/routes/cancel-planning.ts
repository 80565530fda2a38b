import { NO_CONTENT, type HttpAnswer } from '../http/exchange.ts'
import type { RouteCall } from '../http/route.ts'
import { cancelPlan } from '../planning/fetch-plan.ts'
import { planIdInPath, plannedTable } from '../planning/planned-table.ts'

/** DELETE …/tables/{table}/plan/{plan-id}, which clients send for finished plans too. */
export async function cancelPlanning(call: RouteCall): Promise<HttpAnswer> {
  const planId = planIdInPath(call)
  await cancelPlan(await plannedTable(call), planId)
  return NO_CONTENT
}
