/** What an operator may set. `…Ms` are milliseconds. */
export interface WorkerConfig {
  /** For working files of jobs; local, and this worker's alone. */
  readonly jobsDirectory: string
  /** A table is looked at once its commits have paused this long. */
  readonly quietMs: number
  /** A table is looked at without a pause after this many commits. */
  readonly commitCountMax: number
  /** Jobs at the same time. */
  readonly concurrency: number
  /** What one merging child process may use before it spills. */
  readonly memoryBytesMax: number
  readonly spillBytesMax: number
  /** What one merge may keep on the local disk besides: copies of its inputs, intermediate files and the output. */
  readonly diskBytesMax: number
  readonly threadCount: number
  /** A warm child process is ended after this much idleness. */
  readonly engineIdleMsMax: number
  /** A job that runs longer is stopped and counted as failed. */
  readonly deadlineMs: number
  /** A run that stops renewing for this long is taken to be dead. */
  readonly leaseMs: number
  readonly drainTimeoutMs: number
  readonly relayIntervalMs: number
  readonly relayBatchMax: number
  readonly surveyIntervalMs: number
  readonly surveyBatchMax: number
  readonly cleanupIntervalMs: number
  /** How long outputs of a run that another living process may still hold are left alone. */
  readonly cleanupGraceMs: number
  /** How long after a drop that asks for a purge its files are left alone. */
  readonly purgeGraceMs: number
  /** Location prefixes outside the warehouses below which tables may lie. */
  readonly extraAllowedLocations: readonly string[]
  readonly retryFirstMs: number
  readonly retryMsMax: number
  /** Ended runs older than this are forgotten. */
  readonly historyMsMax: number
  /** How long events can be read: those that are older and were relayed are forgotten. */
  readonly eventRetentionMs: number
  /** Whether no other process works on this database: then what it finds at its start has no living owner. */
  readonly isOnlyWorker: boolean
}

const MIB = 1_048_576
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Everything but the directory. */
export const defaultWorkerConfig: Omit<WorkerConfig, 'jobsDirectory'> = {
  quietMs: 3_000,
  commitCountMax: 100,
  concurrency: 1,
  memoryBytesMax: 512 * MIB,
  spillBytesMax: 64 * 1024 * MIB,
  diskBytesMax: 16 * 1024 * MIB,
  threadCount: 2,
  engineIdleMsMax: MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  leaseMs: MINUTE_MS,
  drainTimeoutMs: 20_000,
  relayIntervalMs: 250,
  relayBatchMax: 500,
  surveyIntervalMs: 500,
  surveyBatchMax: 200,
  cleanupIntervalMs: MINUTE_MS,
  cleanupGraceMs: 10 * MINUTE_MS,
  purgeGraceMs: 10_000,
  extraAllowedLocations: [],
  retryFirstMs: 5_000,
  retryMsMax: 10 * MINUTE_MS,
  historyMsMax: 7 * DAY_MS,
  eventRetentionMs: 7 * DAY_MS,
  isOnlyWorker: true,
}
