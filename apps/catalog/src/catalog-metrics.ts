import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** The catalog's own counters; names begin with `timelake_`. */
export interface CatalogMetrics {
  readonly requests: Counter<'operation' | 'status'>
  readonly durationSeconds: Histogram<'operation'>
  readonly commitRaces: Counter
  readonly commitGroupSize: Histogram
  readonly commitWaitSeconds: Histogram<'class'>
  readonly commitQueueFull: Counter
  readonly appendBatches: Counter<'outcome'>
  readonly appendedFiles: Counter
  readonly reports: Counter
  readonly auditEntriesLost: Counter
  readonly accessGiven: Counter<'mode' | 'access'>
  readonly tokensRefused: Counter<'reason'>
}

interface CacheSize {
  readonly entryCount: number
  readonly sizeBytes: number
}

const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** What gauges read. */
export interface MeasuredParts {
  readonly metadata: CacheSize
  readonly lanes: { readonly depth: number }
  readonly feed: { readonly followerCount: number }
}

/** Makes the metrics in the registry; gauges read the live parts when they are scraped. */
export function makeCatalogMetrics(registry: Registry, parts: MeasuredParts): CatalogMetrics {
  const registers = [registry]
  makeGauges(registry, parts)
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
    commitGroupSize: new Histogram({
      name: 'timelake_commit_group_size',
      help: 'Commits of one table that were looked at together',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
      registers,
    }),
    commitWaitSeconds: new Histogram({
      name: 'timelake_commit_wait_seconds',
      help: 'Time that a commit waited in the queue of its table, by ordering class',
      labelNames: ['class'],
      buckets: DURATION_BUCKETS_SECONDS,
      registers,
    }),
    commitQueueFull: new Counter({
      name: 'timelake_commit_queue_full_total',
      help: 'Commits that found the queue of their table full',
      registers,
    }),
    appendBatches: new Counter({
      name: 'timelake_append_batches_total',
      help: 'Answered appends of finished files, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    appendedFiles: new Counter({
      name: 'timelake_appended_files_total',
      help: 'Data files that became part of a table by such appends',
      registers,
    }),
    reports: new Counter({
      name: 'timelake_metrics_reports_total',
      help: 'Scan and commit reports received from clients',
      registers,
    }),
    ...makeAccessCounters(registry),
  }
}

function makeAccessCounters(
  registry: Registry,
): Pick<CatalogMetrics, 'accessGiven' | 'tokensRefused' | 'auditEntriesLost'> {
  const registers = [registry]
  return {
    accessGiven: new Counter({
      name: 'timelake_access_given_total',
      help: 'Answers that gave a client access to the objects of a table, and requests that were signed',
      labelNames: ['mode', 'access'],
      registers,
    }),
    tokensRefused: new Counter({
      name: 'timelake_tokens_refused_total',
      help: 'Requests that were answered 401: without a token, with one that is not valid, or with one that is expired',
      labelNames: ['reason'],
      registers,
    }),
    auditEntriesLost: new Counter({
      name: 'timelake_audit_entries_lost_total',
      help: 'Entries of the audit log that were not written because the database was away for too long',
      registers,
    }),
  }
}

function makeGauges(registry: Registry, { metadata, lanes, feed }: MeasuredParts): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const registers = [registry]
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) })
  }
  gauge('timelake_commit_queue_depth', 'Commits that run or wait', () => lanes.depth)
  gauge('timelake_event_followers', 'Callers that follow the events', () => feed.followerCount)
  gauge('timelake_metadata_cache_entries', 'Table metadata in memory', () => metadata.entryCount)
  gauge('timelake_metadata_cache_bytes', 'Estimated memory of the cache', () => metadata.sizeBytes)
}
