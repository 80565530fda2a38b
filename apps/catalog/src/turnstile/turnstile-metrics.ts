import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface TurnstileMetrics {
  readonly waitSeconds: Histogram
  readonly holdsExpired: Counter
  readonly conflictsAvoided: Counter
  readonly appendPauses: Counter
}

const WAIT_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

/** Makes the metrics of the turnstile in the registry. Without labels: a table's name would make one series each. */
export function makeTurnstileMetrics(
  registry: Registry,
  lines: { readonly tableCount: number; readonly waitingCount: number },
): TurnstileMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, value: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(value()) })
  }
  gauge(
    'timelake_turnstile_tables',
    'Tables whose strict writers take turns',
    () => lines.tableCount,
  )
  gauge('timelake_turnstile_waiting', 'Loads that wait for their turn', () => lines.waitingCount)
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers })
  return {
    waitSeconds: new Histogram({
      name: 'timelake_turnstile_wait_seconds',
      help: 'How long loads waited for their turn',
      buckets: WAIT_BUCKETS_SECONDS,
      registers,
    }),
    holdsExpired: counter(
      'timelake_turnstile_holds_expired_total',
      'Turns that ended without the commit of their caller, because their time was over',
    ),
    conflictsAvoided: counter(
      'timelake_turnstile_conflicts_avoided_total',
      'Commits that landed in their turn while others waited, who would have raced them',
    ),
    appendPauses: counter(
      'timelake_turnstile_append_pauses_total',
      'Times that appends were kept waiting for a strict commit that had lost a race',
    ),
  }
}
