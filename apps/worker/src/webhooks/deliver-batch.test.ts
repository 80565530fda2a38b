import type { SendOutcome } from '@timelake/timelake/contract/webhooks/plan-retry'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliverBatch, FAILING_SUBJECTS_MAX } from './deliver-batch.ts'

interface Event {
  readonly eventId: string
  readonly subject: string
}

const event = (subject: string, number: number): Event => ({
  eventId: `${subject}-${number}`,
  subject,
})
const DELIVERED: SendOutcome = { outcome: 'delivered' }
const no = (outcome: 'refused' | 'failed' | 'away' | 'gone'): SendOutcome => ({
  outcome,
  reason: outcome,
})

async function deliver(
  events: readonly Event[],
  answer: (event: Event) => SendOutcome,
  { concurrency = 2, sendsMax = Infinity } = {},
) {
  const sent: string[] = []
  const active = new Set<string>()
  let activeMax = 0
  const attempts = await deliverBatch(events, {
    concurrency,
    async send(each) {
      expect(active.has(each.subject), 'two events of one subject at the same time').toBe(false)
      active.add(each.subject)
      activeMax = Math.max(activeMax, active.size)
      sent.push(each.eventId)
      await new Promise((resolve) => setImmediate(resolve))
      active.delete(each.subject)
      return answer(each)
    },
    mayGoOn: () => Promise.resolve(sent.length < sendsMax),
  })
  const outcomes = events.map(({ eventId }) => attempts.get(eventId)?.outcome)
  return { sent, outcomes, activeMax }
}

describe('delivering a batch', () => {
  it('keeps the order within each subject and sends several subjects at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        async (subjects, concurrency) => {
          const events = subjects.map((subject, index) => event(subject, index))
          const { sent, outcomes, activeMax } = await deliver(events, () => DELIVERED, {
            concurrency,
          })
          expect(outcomes.every((outcome) => outcome === 'delivered')).toBe(true)
          expect([...sent].sort()).toEqual(events.map(({ eventId }) => eventId).sort())
          for (const subject of new Set(subjects)) {
            const own = events.filter((each) => each.subject === subject)
            const ids = own.map(({ eventId }) => eventId)
            expect(sent.filter((id) => ids.includes(id))).toEqual(ids)
          }
          const subjectCount = new Set(subjects).size
          expect(activeMax).toBe(Math.min(concurrency, subjectCount))
        },
      ),
    )
  })

  it('sends nothing behind an event of its subject that is not taken, and goes on with others', async () => {
    for (const outcome of ['refused', 'failed'] as const) {
      const events = [event('a', 1), event('a', 2), event('b', 1), event('b', 2)]
      const { outcomes } = await deliver(events, ({ eventId }) =>
        eventId === 'a-1' ? no(outcome) : DELIVERED,
      )
      expect(outcomes).toEqual([outcome, 'unsent', 'delivered', 'delivered'])
    }
  })

  it('stops when the receiver is away or gone', async () => {
    for (const outcome of ['away', 'gone'] as const) {
      const events = ['a', 'b', 'c', 'd', 'e'].map((subject) => event(subject, 1))
      const { sent } = await deliver(events, () => no(outcome))
      expect(sent).toEqual(['a-1', 'b-1'])
    }
  })

  it('stops when one subject after another fails and nothing gets through', async () => {
    const events = Array.from({ length: 9 }, (_, index) => event(`s${index}`, 1))
    const failing = await deliver(events, () => no('failed'), { concurrency: 1 })
    expect(failing.sent).toHaveLength(FAILING_SUBJECTS_MAX)
    const mixed = await deliver(
      events,
      ({ subject }) => (subject === 's0' ? DELIVERED : no('failed')),
      {
        concurrency: 1,
      },
    )
    expect(mixed.sent).toHaveLength(9)
  })

  it('stops when the sender may not go on', async () => {
    const events = Array.from({ length: 9 }, (_, index) => event('a', index))
    const { sent, outcomes } = await deliver(events, () => DELIVERED, { sendsMax: 4 })
    expect(sent).toHaveLength(4)
    expect(outcomes.slice(4).every((outcome) => outcome === 'unsent')).toBe(true)
  })
})
