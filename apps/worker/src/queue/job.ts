import { JOB_KINDS, type JobKind } from '@timelake/timelake/contract/job-kinds'
import { z } from 'zod'

/**
 * What a queue message says: which job, nothing about why or with what. The handler reads the world again, so a message
 * may be lost, late or doubled.
 */
export interface Job {
  readonly kind: JobKind
  readonly tableId: string
}

const jobSchema = z.strictObject({ kind: z.enum(JOB_KINDS), tableId: z.string().min(1).max(100) })

/** The job in a message, or undefined for a message that is none (of another version, say). */
export function decodeJob(message: unknown): Job | undefined {
  const decoded = jobSchema.safeParse(message)
  return decoded.success ? decoded.data : undefined
}

/** The identity under which the queue keeps at most one waiting message of a job. No colon: BullMQ refuses it. */
export function jobKey(job: Job): string {
  return `${job.kind}.${job.tableId}`
}
