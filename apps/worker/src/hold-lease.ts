import { renewJobRunLease } from '@timelake/database/job-runs'
import type { SqlSession } from '@timelake/database/sql-session'

/** Renewals in the time that one lease lasts, so that one may fail. */
const RENEWALS_PER_LEASE = 3

export interface LeaseOptions {
  readonly database: SqlSession
  readonly runId: string
  readonly leaseMs: number
  nowMs(): number
}

export interface HeldLease {
  /** Aborts when the lease is lost: another run may work on the table. */
  readonly signal: AbortSignal
  /** Renews no more. Waits for a renewal that runs. */
  stop(): Promise<void>
}

/** Renews a run's lease until it is stopped. A renewal that fails for want of the database is tried again. */
export function holdLease(options: LeaseOptions): HeldLease {
  const { database, runId, leaseMs, nowMs } = options
  const controller = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const renew = async (): Promise<void> => {
    const renewed = await renewJobRunLease(database, { runId, nowMs: nowMs(), leaseMs })
    if (renewed === 'lost') controller.abort(new Error('the lease of the run was lost'))
  }
  const timer = setInterval(() => {
    // A database that is away now may be back for the next renewal; when not, the lease is lost and says so.
    running = renew().catch(() => {})
  }, leaseMs / RENEWALS_PER_LEASE)
  timer.unref()
  return {
    signal: controller.signal,
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
