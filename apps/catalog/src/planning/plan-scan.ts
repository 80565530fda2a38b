import { deflateRawSync } from 'node:zlib'
import { insertScanPlan } from '@timelake/database/scan-plans'
import type { PlanResult } from '@timelake/iceberg/rest/plan-json'
import { InvalidInputError, ValidationFailedError } from '@timelake/iceberg/spec/errors'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { candidateFileCount, openScan, type OpenScan, type ScannedTable } from './open-scan.ts'
import type { PlanPage } from './plan-page.ts'
import { encodePage } from './plan-pages.ts'
import { findListedPages, findPages, pageTasksText, type FoundPages } from './find-pages.ts'
import { pinScan, type PinnedScan } from './pinned-scan.ts'
import { runKeptPlan } from './run-kept-plan.ts'
import type { PlanIdentity, TokenOwner } from './plan-tokens.ts'

/** A table and who plans a scan of it. */
export interface PlannedTable extends ScannedTable {
  readonly owner: TokenOwner
}

export interface PlanOptions {
  /** Whether the caller understands that a plan is not finished yet. */
  readonly canPoll: boolean
}

/** The answer to a request for a plan. A submitted plan has an id too. */
export type StartedPlan = PlanResult & { readonly planId: string }

/**
 * Plans a scan of the table as it is now. At once when it is small, of the whole table, or the caller cannot poll: then the answer holds
 * the files, or plan tasks when they are many. Otherwise the database keeps the plan, and it is worked on behind the answer. Throws
 * ValidationFailedError for a request that does not fit the table, TableNotPlannableError, CorruptFileError, and what the store and the database throw.
 */
export async function planScan(
  table: PlannedTable,
  json: JsonObject,
  { canPoll }: PlanOptions,
): Promise<StartedPlan> {
  const { catalog } = table
  const { planning: config } = catalog.config
  const open = await openRequest(table, json)
  const { scan } = open
  const uuid = catalog.context.newUuid()
  const expiresAtMs = catalog.context.nowMs() + config.lifetimeMs
  const listed = await findListedPages(table, open)
  if (listed === undefined && canPoll && candidateFileCount(open) > config.asyncFilesMax) {
    return submit(table, open, { uuid, isKept: true, expiresAtMs })
  }
  const found = listed ?? (await findPages(table, open))
  const isKept = found.pages.length > 1 && !fitsIntoTasks(scan, found.pages.length)
  if (isKept) {
    const pagesText = printJson(found.pages.map(encodePage))
    await insertScanPlan(catalog.context.database, {
      id: uuid,
      warehouseId: table.warehouse.id,
      scanText: scan.text,
      pagesText,
      expiresAtMs,
    })
  } else {
    catalog.planning.recent.put(uuid, { scanText: scan.text, pages: found.pages })
  }
  return completePlan(table, { uuid, isKept, expiresAtMs }, { open, found })
}

/**
 * The scan of a request. What is wrong with it is a ValidationFailedError: for the Java library the other kind of 400 is a
 * mistake of its own in calling us.
 */
async function openRequest(table: PlannedTable, json: JsonObject): Promise<OpenScan> {
  try {
    return await openScan(table, pinScan(table.metadata, json))
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause
    throw new ValidationFailedError(cause.message, undefined, { cause })
  }
}

async function submit(
  table: PlannedTable,
  { scan }: OpenScan,
  plan: PlanIdentity,
): Promise<StartedPlan> {
  const { catalog, warehouse, owner } = table
  await insertScanPlan(catalog.context.database, {
    id: plan.uuid,
    warehouseId: warehouse.id,
    scanText: scan.text,
    expiresAtMs: plan.expiresAtMs,
  })
  runKeptPlan(table, plan.uuid, scan)
  catalog.planning.metrics.plans.inc({ outcome: 'submitted' })
  return { status: 'submitted', planId: await catalog.planning.tokens.signPlanId(owner, plan) }
}

/** Scan descriptions in plan tasks, compressed, take at most so much: all tasks of an answer together, and each of them. */
const TASKS_BYTES_MAX = 1_048_576
const TASK_BYTES_MAX = 2_048
/** Before they are compressed. */
const TASK_TEXT_LENGTH_MAX = 16_384

function fitsIntoTasks({ text }: PinnedScan, taskCount: number): boolean {
  if (text.length > TASK_TEXT_LENGTH_MAX) return false
  const sizeBytes = deflateRawSync(text).length
  return sizeBytes <= TASK_BYTES_MAX && sizeBytes * taskCount <= TASKS_BYTES_MAX
}

/** The result of a plan whose pages are known: one page is given out at once, more as plan tasks. */
export async function completePlan(
  table: PlannedTable,
  plan: PlanIdentity,
  { open, found }: { readonly open: OpenScan; readonly found: FoundPages },
): Promise<StartedPlan> {
  const { tokens, metrics } = table.catalog.planning
  const planId = await tokens.signPlanId(table.owner, plan)
  const base = { status: 'completed', planId, storageCredentials: [] } as const
  const [page, ...more] = found.pages
  if (page === undefined || more.length === 0) {
    metrics.plans.inc({ outcome: 'inline' })
    return { ...base, planTasks: [], tasksText: await pageTasksText(table, open, found) }
  }
  metrics.plans.inc({ outcome: 'paged' })
  const described = plan.isKept ? `"plan":"${plan.uuid}"` : `"scan":${open.scan.text}`
  const texts = found.pages.map((each) => taskText(each, described))
  const planTasks = await tokens.signTasks(table.owner, { texts, expiresAtMs: plan.expiresAtMs })
  return { ...base, planTasks }
}

/** What a plan task says: its page, and the members that describe its scan. */
export function taskText(page: PlanPage, described: string): string {
  return `{"page":${printJson(encodePage(page))},${described}}`
}
