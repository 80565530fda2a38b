import { decodeFetchTasksRequest } from '@timelake/iceberg/rest/plan-json'
import { jsonTextAnswer, type HttpAnswer } from '../http/exchange.ts'
import { readJson, type RouteCall } from '../http/route.ts'
import { fetchTasks } from '../planning/fetch-tasks.ts'
import { plannedTable } from '../planning/planned-table.ts'

/** POST …/tables/{table}/tasks: the files behind one plan task. */
export async function fetchScanTasks(call: RouteCall): Promise<HttpAnswer> {
  const planTask = decodeFetchTasksRequest(await readJson(call))
  return call.catalog.planning.turns.run(async () =>
    jsonTextAnswer(200, await fetchTasks(await plannedTable(call), planTask)),
  )
}
