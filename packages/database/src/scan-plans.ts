/*
 * Plans of scans that outlive one answer. A row says what is scanned; the process that plans it adds where the pages are, or
 * why there are none, once. Rows are deleted when the plan is cancelled or its time is over. Times are epoch milliseconds of
 * the caller. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'

export interface NewScanPlan {
  readonly id: string
  readonly warehouseId: string
  /** JSON, up to the size of a request. */
  readonly scanText: string
  /** JSON; absent while nobody has planned it. */
  readonly pagesText?: string
  readonly expiresAtMs: number
}

export interface ScanPlanRow {
  readonly scanText: string
  readonly pagesText: string | undefined
  /** JSON. */
  readonly failureText: string | undefined
}

/** Keeps a plan. */
export async function insertScanPlan(session: SqlSession, plan: NewScanPlan): Promise<void> {
  await session.query(
    'insert into scan_plan (id, warehouse_id, scan, pages, expires_at_ms) values ($1, $2, $3, $4, $5)',
    [plan.id, plan.warehouseId, plan.scanText, plan.pagesText ?? null, plan.expiresAtMs],
  )
}

/** The plan; undefined when it was cancelled, is over, or never was. */
export async function findScanPlan(
  session: SqlSession,
  { id, warehouseId, nowMs }: { id: string; warehouseId: string; nowMs: number },
): Promise<ScanPlanRow | undefined> {
  const [row] = await session.query<{
    scan: string
    pages: string | null
    failure: string | null
  }>(
    `select scan, pages, failure from scan_plan
     where id = $1 and warehouse_id = $2 and expires_at_ms > $3`,
    [id, warehouseId, nowMs],
  )
  if (row === undefined) return undefined
  return {
    scanText: row.scan,
    pagesText: row.pages ?? undefined,
    failureText: row.failure ?? undefined,
  }
}

/** How the planning of a scan ended. */
export type ScanPlanOutcome =
  | { readonly outcome: 'planned'; readonly pagesText: string }
  | { readonly outcome: 'failed'; readonly failureText: string }

/** Writes down how the planning ended. `gone`: the plan was cancelled, or another process was first. */
export async function finishScanPlan(
  session: SqlSession,
  id: string,
  outcome: ScanPlanOutcome,
): Promise<'finished' | 'gone'> {
  const pages = outcome.outcome === 'planned' ? outcome.pagesText : null
  const failure = outcome.outcome === 'failed' ? outcome.failureText : null
  const rows = await session.query(
    `update scan_plan set pages = $2, failure = $3
     where id = $1 and pages is null and failure is null returning 1`,
    [id, pages, failure],
  )
  return rows.length === 1 ? 'finished' : 'gone'
}

/** Forgets a plan, whatever became of it. */
export async function deleteScanPlan(session: SqlSession, id: string): Promise<void> {
  await session.query('delete from scan_plan where id = $1', [id])
}

/** Deletes up to `limit` plans whose time is over, the oldest first; answers how many. */
export async function pruneScanPlans(
  session: SqlSession,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from scan_plan where id in (
       select id from scan_plan where expires_at_ms <= $1 order by expires_at_ms limit $2 for update skip locked
     ) returning 1`,
    [nowMs, limit],
  )
  return rows.length
}
