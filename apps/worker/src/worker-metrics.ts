import { outboxDepth } from '@timelake/database/outbox'
import { nextDueAtMs } from '@timelake/database/maintenance-schedule'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { WorkerContext } from './context.ts'

export interface WorkerMetrics {
  readonly runs: Counter<'kind' | 'state'>
  readonly runSeconds: Histogram<'kind'>
  readonly files: Counter<'direction'>
  readonly bytes: Counter<'direction'>
  readonly relayedEvents: Counter
  readonly queueErrors: Counter
  readonly cleanedOutputs: Counter
  readonly purgedFiles: Counter
}

/** Registers the worker's metrics; waiting events and the oldest due job are read when they are asked for. */
export function makeWorkerMetrics(context: WorkerContext): WorkerMetrics {
  const { registry } = context
  registerLag(context)
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  return {
    runs: counter('timelake_job_runs_total', 'Runs of jobs by how they ended', ['kind', 'state']),
    runSeconds: new Histogram({
      name: 'timelake_job_run_seconds',
      help: 'Duration of runs',
      labelNames: ['kind'],
      buckets: [0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000],
      registers: [registry],
    }),
    files: counter('timelake_compaction_files_total', 'Data files taken and made', ['direction']),
    bytes: counter('timelake_compaction_bytes_total', 'Bytes of those files', ['direction']),
    relayedEvents: counter('timelake_relayed_events_total', 'Events taken from the outbox', []),
    queueErrors: counter('timelake_queue_errors_total', 'Trouble inside the queue', []),
    purgedFiles: counter('timelake_purged_files_total', 'Files of dropped tables deleted', []),
    cleanedOutputs: counter('timelake_cleaned_outputs_total', 'Outputs of dead runs removed', []),
  }
}

/** Registers whether the queue's server answers: 1 or 0. */
export function registerQueueState(
  { registry }: Pick<WorkerContext, 'registry'>,
  queue: { isUp(): boolean },
): void {
  new Gauge({
    name: 'timelake_queue_up',
    help: 'Whether messages of jobs can be sent',
    registers: [registry],
    collect() {
      this.set(queue.isUp() ? 1 : 0)
    },
  })
}

function registerLag({ database, nowMs, registry }: WorkerContext): void {
  const seconds = (sinceMs: number | undefined): number =>
    sinceMs === undefined ? 0 : Math.max(0, (nowMs() - sinceMs) / 1000)
  const gauge = (name: string, help: string, sinceMs: () => Promise<number | undefined>) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(seconds(await sinceMs()))
      },
    })
  gauge(
    'timelake_outbox_lag_seconds',
    'Age of the oldest event that was not relayed',
    async () => (await outboxDepth(database)).oldestCreatedAtMs,
  )
  gauge('timelake_due_job_lag_seconds', 'How long the longest due job has been due', () =>
    nextDueAtMs(database),
  )
}
