import { sendableWebhooks } from '@timelake/database/webhook-sending'
import {
  countDeliveries,
  listDeadLetters,
  moveWebhook,
  replayDeadLetters,
  requestWebhookTest,
  updateWebhook,
} from '@timelake/database/webhooks'
import type { Database } from '@timelake/database/sql-session'
import type { WebhookRow } from '@timelake/database/webhook-row'
import { openPostgresTestDatabase } from '@timelake/testing/open-postgres-test-database'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import {
  encodeWebhookSecret,
  secretContext,
} from '@timelake/timelake/contract/webhooks/webhook-secret'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectedSignature, openTestReceiver, type TestReceiver } from './open-test-receiver.ts'
import { openTestWebhooks, TEST_BOX, TEST_KEY, type TestWebhooks } from './open-test-webhooks.ts'
import type { RunningWebhooks } from './start-webhooks.ts'

const SOON = { timeoutMs: 25_000 }
const HOUR_MS = 3_600_000
const HAS_SERVER = testServices().databaseUrl !== undefined

describe('webhooks on PGlite', () => describeWebhooks(openTestDatabase))
describe.skipIf(!HAS_SERVER)('webhooks on PostgreSQL (skipped without TEST_DATABASE_URL)', () =>
  describeWebhooks(openPostgresTestDatabase),
)

function describeWebhooks(open: () => Promise<Database>): void {
  let lake: TestWebhooks
  let receiver: TestReceiver
  const running: RunningWebhooks[] = []
  beforeAll(async () => {
    lake = await openTestWebhooks(await open())
  })
  afterAll(() => lake.close())
  beforeEach(async () => {
    receiver = await openTestReceiver()
  })
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop()
    await lake.database.query('delete from webhook')
    await receiver.close()
  })
  const start = async (...options: Parameters<TestWebhooks['start']>) => {
    const webhooks = await lake.start(...options)
    running.push(webhooks)
    return webhooks
  }
  const takenOf = (subject: string) => receiver.taken().filter((each) => each.subject === subject)
  const numbersOf = (subject: string) => takenOf(subject).map(({ number }) => number)
  const counts = async (webhook: WebhookRow) => (await countDeliveries(lake.database))(webhook.id)
  const isFailing = async (webhook: WebhookRow) => (await lake.row(webhook)).failureCount > 0

  it('get every event of their tables once, in order, signed', async () => {
    const [first, second, other] = [await lake.table(), await lake.table(), await lake.table()]
    await lake.hook(receiver.url, [first, second])
    await start()
    for (let round = 0; round < 10; round += 1) {
      for (const table of [first, second, other]) await lake.commit(table)
    }
    await waitFor(() => receiver.received.length >= 20, SOON)
    const expected = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    expect(numbersOf(first.id)).toEqual(expected)
    expect(numbersOf(second.id)).toEqual(expected)
    expect(receiver.received).toHaveLength(20)
    const [one] = takenOf(first.id)
    expect(one?.json).toMatchObject({
      specversion: '1.0',
      id: `${first.id}-2`,
      type: 'timelake.table-committed',
      subject: `ns.${first.name}`,
      time: '2023-11-14T22:13:20.000Z',
      partitionkey: first.id,
      sequence: '0000000000000000002',
      data: { 'subject-id': first.id, 'event-number': 2n, kind: 'table-committed' },
    })
    for (const each of receiver.received) {
      expect(each.headers['webhook-id']).toBe(each.id)
      expect(each.headers['webhook-timestamp']).toBe(String(Math.floor(lake.clock.nowMs() / 1000)))
      expect(each.headers['webhook-signature']).toBe(expectedSignature(each, TEST_KEY))
      expect(each.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
    }
  })

  it('I44 get everything after a receiver that was down the whole time, in order, ids unique', async () => {
    const { port } = receiver
    await receiver.close()
    const tables = [await lake.table(), await lake.table(), await lake.table()]
    const webhook = await lake.hook(`http://127.0.0.1:${port}/hook`, tables)
    await start({ config: { batchMax: 7, waitingMax: 20 } })
    for (let round = 0; round < 40; round += 1) {
      for (const table of tables) await lake.commit(table)
      lake.clock.advance(60_000)
    }
    await waitFor(() => isFailing(webhook), SOON)
    expect((await lake.row(webhook)).lastFailure).toBe('no answer: ECONNREFUSED')
    receiver = await openTestReceiver()
    await updateWebhook(lake.database, {
      ...(await lake.row(webhook)),
      expectedVersion: 0n,
      url: receiver.url,
      nowMs: lake.clock.nowMs(),
    })
    await waitFor(() => receiver.received.length >= 120, SOON)
    const expected = Array.from({ length: 40 }, (_, index) => index + 2)
    for (const { id } of tables) expect(numbersOf(id)).toEqual(expected)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(120)
    // The last ones have been received before it is written down.
    await waitFor(async () => (await lake.row(webhook)).deliveredCount >= 120n, SOON)
    expect(await counts(webhook)).toEqual({ waiting: 0, deadLetters: 0 })
    expect(await lake.row(webhook)).toMatchObject({ failureCount: 0, deliveredCount: 120n })
  })

  it('come back after the pause of a receiver that is away, which doubles', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    receiver.setReply(() => 503)
    await start()
    await lake.commit(table)
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      const row = await waitFor(async () => {
        const now = await lake.row(webhook)
        return now.nextAttemptAtMs > lake.clock.nowMs() ? now : undefined
      }, SOON)
      expect(row.nextAttemptAtMs - lake.clock.nowMs()).toBe(pauseMs)
      expect(row.lastFailure).toBe('the receiver answered 503')
      lake.clock.advance(pauseMs)
    }
    receiver.setReply(() => 200)
    lake.clock.advance(HOUR_MS)
    await waitFor(() => receiver.taken().length === 1, SOON)
  })

  it('wait as long as the receiver asks for', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    receiver.setReply(() => ({ status: 429, headers: { 'retry-after': '77' } }))
    await start()
    await lake.commit(table)
    await waitFor(() => isFailing(webhook), SOON)
    expect((await lake.row(webhook)).nextAttemptAtMs).toBe(lake.clock.nowMs() + 77_000)
  })

  it('hold up only the table whose event is refused, and give the event up after the attempts', async () => {
    const [bad, good] = [await lake.table(), await lake.table()]
    const webhook = await lake.hook(receiver.url, [bad, good])
    receiver.setReply(({ subject, number }) => (subject === bad.id && number === 3 ? 422 : 200))
    await start()
    await lake.commit(bad, 4)
    await lake.commit(good, 4)
    await waitFor(() => takenOf(good.id).length === 4, SOON)
    await waitFor(async () => (await counts(webhook)).waiting === 3, SOON)
    expect(numbersOf(bad.id)).toEqual([2])
    await lake.commit(bad)
    await waitFor(async () => (await counts(webhook)).waiting === 4, SOON)
    for (const pauseMs of [1_000, 2_000]) {
      await waitFor(async () => {
        const [{ dueAtMs = 0 } = {}] = await sendableWebhooks(lake.database)
        return dueAtMs > lake.clock.nowMs()
      }, SOON)
      lake.clock.advance(pauseMs)
    }
    await waitFor(() => takenOf(bad.id).length === 4, SOON)
    expect(numbersOf(bad.id)).toEqual([2, 4, 5, 6])
    const letters = await listDeadLetters(lake.database, { webhookId: webhook.id, limit: 9 })
    expect(letters).toMatchObject([
      { eventId: `${bad.id}-3`, attempts: 3, lastFailure: 'the receiver answered 422' },
    ])
    receiver.setReply(() => 200)
    const webhookId = webhook.id
    expect(await replayDeadLetters(lake.database, { webhookId, eventId: undefined })).toBe(1)
    // A pass that had begun before may send it too, and again.
    await waitFor(() => takenOf(bad.id).length >= 5, SOON)
    expect(numbersOf(bad.id).slice(0, 5)).toEqual([2, 4, 5, 6, 3])
    expect(new Set(takenOf(bad.id).map(({ id }) => id)).size).toBe(5)
  })

  it('stop at a receiver that fails at one table after another', async () => {
    const tables = await Promise.all(Array.from({ length: 20 }, () => lake.table()))
    const webhook = await lake.hook(receiver.url, tables)
    receiver.setReply(() => 500)
    for (const table of tables) await lake.commit(table)
    await start()
    await waitFor(() => isFailing(webhook), SOON)
    expect(receiver.received.length).toBeLessThan(10)
    receiver.setReply(() => 200)
    lake.clock.advance(HOUR_MS)
    await waitFor(() => receiver.taken().length === 20, SOON)
  })

  it('give up what is too old, whatever the reason', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table], { retryForMs: HOUR_MS })
    receiver.setReply(() => 'drop')
    await start()
    await lake.commit(table)
    await waitFor(() => isFailing(webhook), SOON)
    lake.clock.advance(HOUR_MS)
    await waitFor(async () => (await counts(webhook)).deadLetters === 1, SOON)
    const [letter] = await listDeadLetters(lake.database, { webhookId: webhook.id, limit: 9 })
    expect(letter?.lastFailure).toBe('no answer: the connection was closed')
  })

  it('pause when the receiver is gone for good', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    receiver.setReply(() => 410)
    await start()
    await lake.commit(table)
    const row = await waitFor(async () => {
      const now = await lake.row(webhook)
      return now.pausedReason === undefined ? undefined : now
    }, SOON)
    expect(row.pausedReason).toBe('the receiver answered 410')
    expect(await counts(webhook)).toEqual({ waiting: 1, deadLetters: 0 })
  })

  it('send again everything behind a place that an operator names', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    await start()
    await lake.commit(table, 3)
    await waitFor(() => receiver.received.length === 3, SOON)
    await moveWebhook(lake.database, { id: webhook.id, cursor: webhook.feedCursor })
    await waitFor(() => receiver.received.length === 6, SOON)
    expect(numbersOf(table.id)).toEqual([2, 3, 4, 2, 3, 4])
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(3)
  })

  it('share the work between senders: one at a time for each webhook, and the next when one stops', async () => {
    const tables = [await lake.table(), await lake.table()]
    const webhook = await lake.hook(receiver.url, tables)
    const [first] = await Promise.all([start(), start(), start()])
    for (let round = 0; round < 20; round += 1) {
      for (const table of tables) await lake.commit(table)
      if (round === 10) await first.stop()
    }
    await waitFor(() => receiver.received.length >= 40, SOON)
    await waitFor(async () => (await lake.row(webhook)).deliveredCount === 40n, SOON)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(40)
    const expected = Array.from({ length: 20 }, (_, index) => index + 2)
    for (const { id } of tables) expect(numbersOf(id)).toEqual(expected)
    expect(receiver.received).toHaveLength(40)
  })

  it('repeat a batch under the same ids when the sender died before it wrote down what it sent', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    await lake.commit(table, 5)
    const dying = await start({
      context: {
        reachFaultPoint: () => {
          throw new Error('died')
        },
      },
    })
    await waitFor(() => receiver.received.length >= 5, SOON)
    await dying.stop()
    expect(await lake.row(webhook)).toMatchObject({ deliveredCount: 0n })
    await start()
    await waitFor(async () => (await lake.row(webhook)).deliveredCount === 5n, SOON)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(5)
    expect(numbersOf(table.id).slice(-5)).toEqual([2, 3, 4, 5, 6])
    expect(receiver.received.length).toBeGreaterThanOrEqual(10)
    const bodies = new Set(receiver.received.map(({ body }) => body))
    expect(bodies.size).toBe(5)
  })

  it.each([1, 2, 3])(
    'lose nothing and keep the order of each table beside whims of the receiver and dying senders (seed %i)',
    async (seed) => {
      const random = seededRandom(seed)
      const tables = await Promise.all(Array.from({ length: 3 }, () => lake.table()))
      const patience = { attemptsMax: 10_000, retryForMs: 10_000 * HOUR_MS }
      const webhook = await lake.hook(receiver.url, tables, patience)
      receiver.setReply(() => pick(random, [204, 204, 204, 500, 503, 429, 422, 301, 'drop']))
      const context = {
        random,
        reachFaultPoint: () => {
          if (random() < 0.2) throw new Error('died')
        },
      }
      const senders = [await start({ context }), await start({ context })]
      for (let round = 0; round < 20; round += 1) {
        for (const table of tables) await lake.commit(table)
        lake.clock.advance(Math.floor(random() * 600_000))
        if (round % 7 === 6) {
          await senders.shift()?.stop()
          senders.push(await start({ context }))
        }
      }
      receiver.setReply(() => 204)
      await waitFor(async () => {
        lake.clock.advance(HOUR_MS)
        return (await lake.row(webhook)).deliveredCount >= 60n
      }, SOON)
      const expected = Array.from({ length: 20 }, (_, index) => index + 2)
      for (const { id } of tables) expect([...new Set(numbersOf(id))]).toEqual(expected)
      expect(await counts(webhook)).toEqual({ waiting: 0, deadLetters: 0 })
    },
  )

  it('take over from a sender that is dead once its lease has run out', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    await lake.database.query(
      `update webhook set lease_holder = 'dead', lease_until_ms = $2 where id = $1`,
      [webhook.id, lake.clock.nowMs() + 60_000],
    )
    await lake.commit(table)
    await start()
    lake.clock.advance(59_999)
    expect(receiver.received).toEqual([])
    lake.clock.advance(1)
    await waitFor(() => receiver.received.length === 1, SOON)
  })

  it('sign with the old secret too until it is out of use', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table])
    const newKey = Buffer.alloc(32, 5)
    await updateWebhook(lake.database, {
      ...webhook,
      expectedVersion: 0n,
      sealedSecret: TEST_BOX.seal(encodeWebhookSecret(newKey), secretContext(webhook.id)),
      sealedOldSecret: webhook.sealedSecret,
      oldSecretUntilMs: lake.clock.nowMs() + HOUR_MS,
      nowMs: lake.clock.nowMs(),
    })
    await start()
    await lake.commit(table)
    const one = await waitFor(() => receiver.received[0], SOON)
    const both = `${expectedSignature(one, newKey)} ${expectedSignature(one, TEST_KEY)}`
    expect(one.headers['webhook-signature']).toBe(both)
    lake.clock.advance(HOUR_MS)
    await lake.commit(table)
    const two = await waitFor(() => receiver.received[1], SOON)
    expect(two.headers['webhook-signature']).toBe(expectedSignature(two, newKey))
  })

  it('are tried when an operator asks, even while paused', async () => {
    const webhook = await lake.hook(receiver.url, [await lake.table()], { pausedReason: 'asked' })
    await start()
    await requestWebhookTest(lake.database, { id: webhook.id, testId: 'test-1' })
    const outcome = await waitFor(async () => (await lake.row(webhook)).testOutcome, SOON)
    expect(JSON.parse(outcome)).toEqual({ delivered: true, reason: null, 'took-ms': 0 })
    expect(receiver.received).toMatchObject([{ id: 'test-1', json: { type: 'timelake.test' } }])
  })

  it('go on with the oldest events when theirs were pruned, and say so', async () => {
    const table = await lake.table()
    const webhook = await lake.hook(receiver.url, [table], { feedCursor: '00000000.1.0' })
    await start()
    await lake.commit(table)
    await waitFor(() => numbersOf(table.id).includes(2), SOON)
    expect((await lake.row(webhook)).eventsLostAtMs).toBe(lake.clock.nowMs())
    expect(lake.log.join('')).toContain('events were pruned before the webhook sent them')
  })

  it('read the feed no further while many events wait, and say nothing of URLs in the log', async () => {
    const table = await lake.table()
    const url = `${receiver.url}?token=hunter2`
    const webhook = await lake.hook(url, [table])
    receiver.setReply(() => 500)
    await start({ config: { waitingMax: 5, batchMax: 3 } })
    await lake.commit(table, 30)
    await waitFor(async () => (await counts(webhook)).waiting >= 5, SOON)
    /** Time goes on while somebody waits: when the next attempt is due depends on when the last one ended. */
    const goesOn = (stepMs: number, isReached: () => boolean) => () => {
      lake.clock.advance(stepMs)
      return isReached()
    }
    await waitFor(
      goesOn(200, () => receiver.received.length > 1),
      SOON,
    )
    expect((await counts(webhook)).waiting).toBeLessThan(9)
    receiver.setReply(() => 200)
    lake.clock.advance(HOUR_MS)
    await waitFor(
      goesOn(1_000, () => receiver.taken().length === 30),
      SOON,
    )
    expect(numbersOf(table.id)).toEqual(Array.from({ length: 30 }, (_, index) => index + 2))
    expect(lake.log.join('')).not.toContain('hunter2')
  })
}

/** The same numbers from 0 to 1 for the same seed. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function pick<T>(random: () => number, choices: readonly T[]): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new Error('there is nothing to choose')
  return choice
}
