import type { WorkerContext } from './context.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

/** A server that is away makes several errors a second; this often one is written. */
const REPORT_INTERVAL_MS = 30_000

/** Counts every trouble of the queue, and logs it when none was logged for a while. */
export function queueErrorReporter(
  { log, nowMs }: Pick<WorkerContext, 'log' | 'nowMs'>,
  { queueErrors }: Pick<WorkerMetrics, 'queueErrors'>,
): (error: Error) => void {
  let reportedAtMs = Number.NEGATIVE_INFINITY
  return (error) => {
    queueErrors.inc()
    if (nowMs() - reportedAtMs < REPORT_INTERVAL_MS) return
    reportedAtMs = nowMs()
    log.warn({ err: error }, 'the job queue is in trouble; due jobs wait in the database')
  }
}
