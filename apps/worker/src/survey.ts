import { dueJobs } from '@timelake/database/maintenance-schedule'
import type { SqlSession } from '@timelake/database/sql-session'
import { sendJob, type SendOptions } from './send-job.ts'

export interface SurveyOptions extends SendOptions {
  readonly database: SqlSession
  readonly batchMax: number
}

/**
 * Hands every job that the database calls due to the queue: those whose time has come, and those whose message or whose
 * whole queue was lost. Answers how many were sent. While the queue's server is away nothing is sent and nothing is
 * lost; throws what it throws when a message is refused all the same.
 */
export async function surveyDueJobs(options: SurveyOptions): Promise<number> {
  const { database, queue, sentJobs, batchMax, nowMs } = options
  if (!queue.isUp()) {
    // Nobody knows what the server will remember.
    sentJobs.clear()
    return 0
  }
  const rows = await dueJobs(database, { nowMs: nowMs(), limit: batchMax })
  let sentCount = 0
  for (const row of rows) if ((await sendJob(row, options)) === 'sent') sentCount += 1
  return sentCount
}
