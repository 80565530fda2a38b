import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { CommitLanes } from './commit-lanes.ts'

/** The catalog's own counters; names begin with `timelake_`. */
export interface CatalogMetrics {
  readonly requests: Counter<'operation' | 'status'>
  readonly durationSeconds: Histogram<'operation'>
  readonly commitRaces: Counter
  readonly reports: Counter
}

interface CacheSize {
  readonly entryCount: number
  readonly sizeBytes: number
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Makes the metrics in the registry; gauges read the live parts when they are scraped. */
export function makeCatalogMetrics(
  registry: Registry,
  parts: { readonly metadata: CacheSize; readonly lanes: CommitLanes },
): CatalogMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) })
  }
  gauge('timelake_commit_queue_depth', 'Commits that run or wait', () => parts.lanes.depth)
  gauge(
    'timelake_metadata_cache_entries',
    'Table metadata in memory',
    () => parts.metadata.entryCount,
  )
  gauge(
    'timelake_metadata_cache_bytes',
    'Estimated memory of the cache',
    () => parts.metadata.sizeBytes,
  )
  return {
    requests: new Counter({
      name: 'timelake_http_requests_total',
      help: 'Answered requests',
      labelNames: ['operation', 'status'],
      registers,
    }),
    durationSeconds: new Histogram({
      name: 'timelake_http_request_duration_seconds',
      help: 'Time from the head of a request to its answer',
      labelNames: ['operation'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    }),
    commitRaces: new Counter({
      name: 'timelake_commit_races_total',
      help: 'Commits applied again because another process moved the table first',
      registers,
    }),
    reports: new Counter({
      name: 'timelake_metrics_reports_total',
      help: 'Scan and commit reports received from clients',
      registers,
    }),
  }
}
