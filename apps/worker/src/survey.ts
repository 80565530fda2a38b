import { dueJobs } from '@timelake/database/maintenance-schedule'
import type { SqlSession } from '@timelake/database/sql-session'
import type { JobQueue } from './queue/job-queue.ts'
import { decodeJob } from './queue/job.ts'

export interface SurveyOptions {
  readonly database: SqlSession
  readonly queue: JobQueue
  readonly batchMax: number
  nowMs(): number
}

/**
 * Sends every job that the database calls due, so that a lost message or a lost queue only costs time. A message that
 * is waiting already is not doubled. Answers how many were sent.
 */
export async function surveyDueJobs(options: SurveyOptions): Promise<number> {
  const { database, queue, batchMax, nowMs } = options
  const rows = await dueJobs(database, { nowMs: nowMs(), limit: batchMax })
  const jobs = rows.flatMap(({ jobKind, tableId }) => decodeJob({ kind: jobKind, tableId }) ?? [])
  for (const job of jobs) await queue.enqueue(job, { delayMs: 0 })
  return jobs.length
}
