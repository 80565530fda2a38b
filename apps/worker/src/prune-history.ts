import { type FeedPruning, pruneFeed } from '@timelake/database/feed'
import { noteLostEvents } from '@timelake/database/lost-events'
import { pruneJobRuns } from '@timelake/database/job-runs'
import type { Database } from '@timelake/database/sql-session'
import { listWarehouses } from '@timelake/database/warehouses'
import { feedFilterOf } from './webhooks/feed-events.ts'

/** Rows that one transaction forgets. */
const PRUNE_ROWS_MAX = 1_000
/** Transactions of one pass: a busy lake makes a hundred thousand events between two passes. */
const PRUNE_STEPS_MAX = 200

export interface HistoryLimits {
  readonly eventRetentionMs: number
  readonly historyMsMax: number
  readonly nowMs: number
}

/**
 * Forgets events and ended runs that are older than the limits, in small steps, until the signal says stop. What a webhook
 * misses by that is counted.
 */
export async function pruneHistory(
  database: Database,
  { eventRetentionMs, historyMsMax, nowMs }: HistoryLimits,
  signal: AbortSignal,
): Promise<void> {
  const limit = PRUNE_ROWS_MAX
  const createdBeforeMs = nowMs - eventRetentionMs
  const startedBeforeMs = nowMs - historyMsMax
  const warehouses = await listWarehouses(database)
  const filterOf = (filter: string) => feedFilterOf(filter, warehouses)
  const beforePruning: FeedPruning['beforePruning'] = (session, last) =>
    noteLostEvents(session, { last, nowMs, filterOf })
  await untilFewer(() => pruneFeed(database, { createdBeforeMs, limit, beforePruning }), signal)
  await untilFewer(() => pruneJobRuns(database, { startedBeforeMs, limit }), signal)
}

async function untilFewer(step: () => Promise<number>, signal: AbortSignal): Promise<void> {
  for (let count = 1; count <= PRUNE_STEPS_MAX && !signal.aborted; count += 1) {
    if ((await step()) < PRUNE_ROWS_MAX) return
  }
}
