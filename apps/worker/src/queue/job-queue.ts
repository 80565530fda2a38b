import type { Job } from './job.ts'

/**
 * A queue of job messages. It is a hint: the database knows what is due, so messages may be lost, and a message whose
 * job is already waiting replaces it.
 */
export interface JobQueue {
  /** Whether messages can be sent at this moment. */
  isUp(): boolean
  /** Hands a due job to some worker; a waiting message of the same job is replaced. */
  enqueue(job: Job): Promise<void>
  /** Begins to run messages, at most `concurrency` at a time. `run` never rejects for a job that failed. */
  start(run: (job: Job, signal: AbortSignal) => Promise<void>): void
  /** Takes no more messages and waits for running ones, at most this long; then aborts them. */
  stop(options: { readonly waitMsMax: number }): Promise<void>
}
