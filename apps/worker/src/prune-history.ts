import { pruneFeed } from '@timelake/database/feed'
import { pruneJobRuns } from '@timelake/database/job-runs'
import type { Database } from '@timelake/database/sql-session'

/** Rows that one transaction forgets. */
const PRUNE_ROWS_MAX = 1_000
/** Transactions of one pass: a busy lake makes a hundred thousand events between two passes. */
const PRUNE_STEPS_MAX = 200

export interface HistoryLimits {
  readonly eventRetentionMs: number
  readonly historyMsMax: number
  readonly nowMs: number
}

/** Forgets events and ended runs that are older than the limits, in small steps, until the signal says stop. */
export async function pruneHistory(
  database: Database,
  { eventRetentionMs, historyMsMax, nowMs }: HistoryLimits,
  signal: AbortSignal,
): Promise<void> {
  const limit = PRUNE_ROWS_MAX
  const createdBeforeMs = nowMs - eventRetentionMs
  const startedBeforeMs = nowMs - historyMsMax
  await untilFewer(() => pruneFeed(database, { createdBeforeMs, limit }), signal)
  await untilFewer(() => pruneJobRuns(database, { startedBeforeMs, limit }), signal)
}

async function untilFewer(step: () => Promise<number>, signal: AbortSignal): Promise<void> {
  for (let count = 1; count <= PRUNE_STEPS_MAX && !signal.aborted; count += 1) {
    if ((await step()) < PRUNE_ROWS_MAX) return
  }
}
