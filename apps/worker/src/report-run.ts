import type { Logger } from 'pino'
import type { Job } from './queue/job.ts'
import type { RanJob } from './run-job.ts'
import type { WorkerMetrics } from './worker-metrics.ts'

export interface RunReport {
  readonly log: Logger
  readonly metrics: WorkerMetrics
  readonly job: Job
  readonly ran: RanJob
  readonly tookMs: number
}

/** Counts and logs how a job's run ended; messages that found nothing due are not worth a line. */
export function reportRun({ log, metrics, job, ran, tookMs }: RunReport): void {
  const { kind, tableId } = job
  if (ran.outcome !== 'ran') {
    log.debug({ kind, tableId, outcome: ran.outcome }, 'job not run')
    return
  }
  const { state, reason } = ran.end
  metrics.runs.inc({ kind, state })
  metrics.runSeconds.observe({ kind }, tookMs / 1000)
  const fields = { kind, tableId, runId: ran.runId, state, reason, tookMs }
  if (state === 'failed') log.warn({ ...fields, err: ran.error }, 'job failed')
  else log.info(fields, 'job ended')
}
