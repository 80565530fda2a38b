import type { SendOutcome } from '@timelake/timelake/contract/webhooks/plan-retry'

/** What was done about one event: an attempt, or nothing because of what became of others. */
export type Attempt = SendOutcome | { readonly outcome: 'unsent' }

export interface BatchedEvent {
  readonly eventId: string
  readonly subject: string
}

export interface BatchOptions<Event extends BatchedEvent> {
  /** Subjects at the same time. */
  readonly concurrency: number
  send(event: Event): Promise<SendOutcome>
  /** Asked before each event: whether this sender may go on. */
  mayGoOn(): Promise<boolean>
}

/** Subjects that may fail before anything got through: then it is the receiver, not an event. */
export const FAILING_SUBJECTS_MAX = 3

/**
 * Sends events in the given order within each subject, several subjects at the same time. Behind an event that is not taken
 * nothing more of its subject is sent, and nothing at all once the receiver is away, gone or fails at one subject after
 * another. Answers the attempt of every event.
 */
export async function deliverBatch<Event extends BatchedEvent>(
  events: readonly Event[],
  options: BatchOptions<Event>,
): Promise<ReadonlyMap<string, Attempt>> {
  const queues = queuesOf(events)
  const attempts = new Map<string, Attempt>(
    events.map(({ eventId }) => [eventId, { outcome: 'unsent' }]),
  )
  const tally = { delivered: 0, failed: 0, isStopped: false }
  const lane = async (): Promise<void> => {
    for (let queue = queues.shift(); queue !== undefined; queue = queues.shift()) {
      await deliverQueue(queue, { options, attempts, tally })
    }
  }
  await Promise.all(Array.from({ length: options.concurrency }, lane))
  return attempts
}

function queuesOf<Event extends BatchedEvent>(events: readonly Event[]): Event[][] {
  const queues = new Map<string, Event[]>()
  for (const event of events) {
    const queue = queues.get(event.subject)
    if (queue === undefined) queues.set(event.subject, [event])
    else queue.push(event)
  }
  return [...queues.values()]
}

interface Delivering<Event extends BatchedEvent> {
  readonly options: BatchOptions<Event>
  readonly attempts: Map<string, Attempt>
  readonly tally: { delivered: number; failed: number; isStopped: boolean }
}

async function deliverQueue<Event extends BatchedEvent>(
  queue: readonly Event[],
  { options, attempts, tally }: Delivering<Event>,
): Promise<void> {
  for (const event of queue) {
    if (tally.isStopped || !(await options.mayGoOn())) return
    const attempt = await options.send(event)
    attempts.set(event.eventId, attempt)
    switch (attempt.outcome) {
      case 'delivered':
        tally.delivered += 1
        continue
      case 'away':
      case 'gone':
        tally.isStopped = true
        return
      case 'refused':
      case 'failed':
        tally.failed += 1
        tally.isStopped ||= tally.delivered === 0 && tally.failed >= FAILING_SUBJECTS_MAX
        return
    }
  }
}
