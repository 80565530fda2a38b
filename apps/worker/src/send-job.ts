import type { JobIdentity } from '@timelake/database/maintenance-schedule'
import { decodeJob, jobKey, type Job } from './queue/job.ts'
import type { JobQueue } from './queue/job-queue.ts'

/** A message that was neither run nor lost by then is sent again; a second one does no harm. */
const RESEND_AFTER_MS = 15_000

/** When this process sent the messages of jobs that have not run since, by job key. */
export type SentJobs = Map<string, number>

export interface SendOptions {
  readonly queue: JobQueue
  readonly sentJobs: SentJobs
  nowMs(): number
}

/**
 * Hands a due job to the queue unless its message is under way already. `skipped` also for a kind of job that this
 * version does not know.
 */
export async function sendJob(
  { tableId, jobKind }: JobIdentity,
  { queue, sentJobs, nowMs }: SendOptions,
): Promise<'sent' | 'skipped'> {
  const job = decodeJob({ kind: jobKind, tableId })
  if (job === undefined) return 'skipped'
  const key = jobKey(job)
  const sentAtMs = sentJobs.get(key)
  if (sentAtMs !== undefined && nowMs() - sentAtMs < RESEND_AFTER_MS) return 'skipped'
  sentJobs.set(key, nowMs())
  try {
    await queue.enqueue(job)
  } catch (error) {
    sentJobs.delete(key)
    throw error
  }
  return 'sent'
}

/** The job has run or was found not to be due: its next message is a new one. */
export function forgetSent(sentJobs: SentJobs, job: Job): void {
  sentJobs.delete(jobKey(job))
}
