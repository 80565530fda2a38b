import { describe, expect, it } from 'vitest'
import { openFeed, readFeed } from '../feed.ts'
import { createNamespace } from '../namespaces.ts'
import {
  dueDeliveries,
  endWebhookLeases,
  leaseWebhook,
  pruneDeadLetters,
  recordWebhookTest,
  sendableWebhooks,
  settleWebhook,
  waitingSubjects,
  type WebhookSettlement,
} from '../webhook-sending.ts'
import { FEED_START, type WebhookRow } from '../webhook-row.ts'
import {
  countDeliveries,
  createWebhook,
  deleteWebhook,
  discardDeadLetters,
  findWebhook,
  findWebhookById,
  listDeadLetters,
  listWebhooks,
  moveWebhook,
  placeBeforeEvent,
  replayDeadLetters,
  requestWebhookTest,
  updateWebhook,
  type NewWebhook,
  type WebhookDelivery,
  type WebhookUpdate,
} from '../webhooks.ts'
import { event, newId, newWarehouse, NOW_MS, type UseDatabase } from './contract-world.ts'

/** What webhooks.ts and webhook-sending.ts promise. */
export function describeWebhooks(useDatabase: UseDatabase): void {
  const wanted = (): NewWebhook => {
    const id = newId()
    return {
      id,
      name: `hook-${id}`,
      url: 'https://receiver.example/',
      filter: '{}',
      sealedSecret: 'v1.sealed',
      attemptsMax: 5,
      retryForMs: 1_000,
      feedCursor: FEED_START,
      pausedReason: undefined,
      nowMs: NOW_MS,
      countMax: 1_000_000,
    }
  }
  const made = async (): Promise<WebhookRow> => {
    const outcome = await createWebhook(useDatabase(), wanted())
    if (outcome.outcome !== 'created') throw new Error(`cannot set up webhook: ${outcome.outcome}`)
    return outcome.row
  }
  const change = (row: WebhookRow): WebhookUpdate => ({
    ...row,
    expectedVersion: row.version,
    nowMs: NOW_MS + 1,
  })
  const lease = (row: WebhookRow, holder: string, nowMs = NOW_MS) =>
    leaseWebhook(useDatabase(), { webhookId: row.id, holder, nowMs, leaseMs: 100 })
  const delivery = (subject: string, number: number, more: Partial<WebhookDelivery> = {}) => ({
    eventId: `${subject}-${number}`,
    subject,
    eventNumber: BigInt(number),
    kind: 'table-committed',
    body: `{"n":${number},"text":"ü \\u0000"}`,
    attempts: 0,
    firstAttemptAtMs: undefined,
    nextAttemptAtMs: 0,
    lastFailure: undefined,
    givenUpAtMs: undefined,
    ...more,
  })
  const settle = (row: WebhookRow, more: Partial<WebhookSettlement> = {}) =>
    settleWebhook(useDatabase(), {
      webhookId: row.id,
      holder: 'me',
      placeVersion: row.placeVersion,
      version: row.version,
      nowMs: NOW_MS,
      deliveredIds: [],
      kept: [],
      ...more,
    })
  const due = async ({ id }: WebhookRow, nowMs = NOW_MS, limit = 100) => {
    const found = await dueDeliveries(useDatabase(), { webhookId: id, nowMs, limit })
    return found.map(({ eventId }) => eventId)
  }

  describe('webhooks', () => {
    it('keep what they are given, are found by name and id, and are forgotten with what waits', async () => {
      const database = useDatabase()
      const webhook = wanted()
      const outcome = await createWebhook(database, webhook)
      const { nowMs, countMax, ...kept } = webhook
      expect([nowMs, countMax]).toEqual([NOW_MS, 1_000_000])
      expect(outcome).toMatchObject({
        outcome: 'created',
        row: { ...kept, version: 0n, placeVersion: 0n, createdAtMs: NOW_MS, deliveredCount: 0n },
      })
      const row = await findWebhook(database, webhook.name)
      expect(outcome).toEqual({ outcome: 'created', row })
      expect(await findWebhookById(database, webhook.id)).toEqual(row)
      expect(await listWebhooks(database)).toContainEqual(row)
      expect(await createWebhook(database, { ...wanted(), name: webhook.name })).toEqual({
        outcome: 'exists',
      })
      expect(await createWebhook(database, { ...wanted(), countMax: 0 })).toEqual({
        outcome: 'too-many',
      })
      if (row === undefined) throw new Error('it is there')
      await lease(row, 'me')
      await settle(row, { kept: [delivery('t', 1)] })
      expect(await deleteWebhook(database, row)).toBe('deleted')
      expect(await deleteWebhook(database, row)).toBe('missing')
      expect((await countDeliveries(database))(row.id)).toEqual({ waiting: 0, deadLetters: 0 })
      expect(await findWebhook(database, 'a\u0000')).toBeUndefined()
    })

    it('change as a whole, from the expected version, and end the pause after failures', async () => {
      const database = useDatabase()
      const row = await made()
      await lease(row, 'me')
      const away = {
        failureCount: 1,
        nextAttemptAtMs: 9,
        lastFailure: 'x',
        pausedReason: undefined,
      }
      await settle(row, { receiver: away })
      const update = {
        id: row.id,
        expectedVersion: row.version,
        nowMs: NOW_MS + 1,
        url: 'https://other.example/',
        filter: '{"kinds":["table-created"]}',
        attemptsMax: 6,
        retryForMs: 2_000,
        sealedSecret: 'v1.next',
        sealedOldSecret: 'v1.sealed',
        oldSecretUntilMs: NOW_MS + 9,
        pausedReason: 'asked',
      }
      const [first, second] = await Promise.all([
        updateWebhook(database, update),
        updateWebhook(database, update),
      ])
      expect([first, second].filter((each) => each === undefined)).toHaveLength(1)
      const { expectedVersion, nowMs, ...changed } = update
      expect([expectedVersion, nowMs]).toEqual([0n, NOW_MS + 1])
      const now = await findWebhookById(database, row.id)
      expect(now).toMatchObject({
        ...changed,
        version: 1n,
        updatedAtMs: NOW_MS + 1,
        nextAttemptAtMs: 0,
        failureCount: 1,
        lastFailure: 'x',
      })
    })

    it('are one sender’s at a time, until its lease is over or it ends it', async () => {
      const row = await made()
      expect(await lease(row, 'first')).toMatchObject({ id: row.id })
      expect(await lease(row, 'second', NOW_MS + 99)).toBeUndefined()
      expect(await lease(row, 'first', NOW_MS + 50)).toBeDefined()
      expect(await lease(row, 'second', NOW_MS + 149)).toBeUndefined()
      expect(await lease(row, 'second', NOW_MS + 150)).toBeDefined()
      expect(await lease(row, 'first', NOW_MS + 150)).toBeUndefined()
      await endWebhookLeases(useDatabase(), { holder: 'first' })
      expect(await lease(row, 'third', NOW_MS + 150)).toBeUndefined()
      await endWebhookLeases(useDatabase(), { holder: 'second' })
      expect(await lease(row, 'third', NOW_MS + 150)).toBeDefined()
      await endWebhookLeases(useDatabase(), { holder: undefined })
      expect(await lease(row, 'fourth', NOW_MS + 150)).toBeDefined()
    })

    it('let one of many senders have it', async () => {
      const row = await made()
      const holders = ['a', 'b', 'c', 'd', 'e']
      const leases = await Promise.all(holders.map((holder) => lease(row, holder)))
      expect(leases.filter((each) => each !== undefined)).toHaveLength(1)
    })

    it('take down what a sender did: place, counts, failures', async () => {
      const row = await made()
      await lease(row, 'me')
      const away = {
        failureCount: 1,
        nextAttemptAtMs: 7,
        lastFailure: 'x',
        pausedReason: undefined,
      }
      expect(
        await settle(row, { feedCursor: 'c1', deliveredIds: ['t-1', 't-2'], receiver: away }),
      ).toBe('settled')
      const failing = {
        feedCursor: 'c1',
        deliveredCount: 2n,
        lastDeliveredAtMs: NOW_MS,
        failingSinceMs: NOW_MS,
        nextAttemptAtMs: 7,
        lastFailure: 'x',
        lastFailedAtMs: NOW_MS,
      }
      expect(await findWebhookById(useDatabase(), row.id)).toMatchObject(failing)
      await settle(row, { nowMs: NOW_MS + 5, receiver: { ...away, failureCount: 2 } })
      expect(await findWebhookById(useDatabase(), row.id)).toMatchObject({
        ...failing,
        failureCount: 2,
        lastFailedAtMs: NOW_MS + 5,
      })
      await settle(row, { nowMs: NOW_MS + 6, hasLostEvents: true })
      const well = { failureCount: 0, nextAttemptAtMs: 0, lastFailure: undefined }
      await settle(row, { receiver: { ...well, pausedReason: 'gone' } })
      expect(await findWebhookById(useDatabase(), row.id)).toMatchObject({
        failureCount: 0,
        failingSinceMs: undefined,
        nextAttemptAtMs: 0,
        lastFailure: 'x',
        pausedReason: 'gone',
        eventsLostAtMs: NOW_MS + 6,
      })
    })

    it('are not held up or paused by failures from before an operator changed them', async () => {
      const row = await made()
      await lease(row, 'me')
      const changed = await updateWebhook(useDatabase(), {
        ...change(row),
        url: 'https://new.example/',
      })
      const gone = { nextAttemptAtMs: 7, lastFailure: 'the receiver answered 410' }
      expect(
        await settle(row, {
          feedCursor: 'c1',
          deliveredIds: ['t-1'],
          kept: [delivery('t', 2)],
          receiver: { ...gone, failureCount: 3, pausedReason: 'the receiver answered 410' },
        }),
      ).toBe('settled')
      expect(await due(row)).toEqual(['t-2'])
      expect(await findWebhookById(useDatabase(), row.id)).toEqual({
        ...changed,
        feedCursor: 'c1',
        deliveredCount: 1n,
        lastDeliveredAtMs: NOW_MS,
      })
    })

    it('take down nothing of a sender that lost its lease, or whose place was changed', async () => {
      const database = useDatabase()
      const row = await made()
      await lease(row, 'me')
      await settle(row, { kept: [delivery('t', 1)] })
      await lease(row, 'other', NOW_MS + 100)
      const work = { feedCursor: 'c9', deliveredIds: ['t-1'], kept: [delivery('t', 2)] }
      expect(await settle(row, work)).toBe('lost')
      expect(await settle(row, { ...work, holder: 'other', placeVersion: 1n })).toBe('lost')
      expect(await due(row)).toEqual(['t-1'])
      expect(await findWebhookById(database, row.id)).toMatchObject({
        feedCursor: FEED_START,
        deliveredCount: 0n,
      })
      expect(await settle(row, { ...work, holder: 'other' })).toBe('settled')
      expect(await due(row)).toEqual(['t-2'])
    })
  })

  describe('events that wait for a webhook', () => {
    it('are due with the first of their subject, in order, and keep their bodies', async () => {
      const row = await made()
      await lease(row, 'me')
      const kept = [
        delivery('b', 2),
        delivery('a', 10, { attempts: 1, firstAttemptAtMs: 3, nextAttemptAtMs: NOW_MS + 5 }),
        delivery('a', 11),
        delivery('b', 1, { lastFailure: 'x' }),
        delivery('a', 9, { givenUpAtMs: 4 }),
      ]
      await settle(row, { kept })
      expect(await due(row)).toEqual(['b-1', 'b-2'])
      expect(await due(row, NOW_MS + 5)).toEqual(['a-10', 'a-11', 'b-1', 'b-2'])
      expect(await due(row, NOW_MS + 5, 1)).toEqual(['a-10'])
      const request = { webhookId: row.id, nowMs: NOW_MS, limit: 1 }
      expect(await dueDeliveries(useDatabase(), request)).toEqual([kept[3]])
      expect(await waitingSubjects(useDatabase(), { webhookId: row.id })).toEqual(
        new Map([
          ['a', 2],
          ['b', 2],
        ]),
      )
      expect((await countDeliveries(useDatabase()))(row.id)).toEqual({ waiting: 4, deadLetters: 1 })
      const sendable = (await sendableWebhooks(useDatabase())).find(({ id }) => id === row.id)
      expect(sendable?.dueAtMs).toBe(0)
      await settle(row, { deliveredIds: ['b-1', 'b-2'], kept: [] })
      const later = (await sendableWebhooks(useDatabase())).find(({ id }) => id === row.id)
      expect(later?.dueAtMs).toBe(NOW_MS + 5)
    })

    it('are given up, listed, sent again and discarded', async () => {
      const database = useDatabase()
      const row = await made()
      await lease(row, 'me')
      const letters = [1, 2, 3].map((number) => delivery('t', number, { givenUpAtMs: 7 }))
      await settle(row, { kept: letters })
      const webhookId = row.id
      expect(await listDeadLetters(database, { webhookId, limit: 2 })).toEqual(letters.slice(0, 2))
      const after = { givenUpAtMs: 7, eventId: 't-2' }
      expect(await listDeadLetters(database, { webhookId, limit: 2, after })).toEqual([letters[2]])
      expect(await due(row)).toEqual([])
      expect(await replayDeadLetters(database, { webhookId, eventId: 't-2' })).toBe(1)
      expect(await due(row)).toEqual(['t-2'])
      expect(await settle(row)).toBe('lost')
      expect(await discardDeadLetters(database, { webhookId, eventId: 't-2' })).toBe(0)
      expect(await discardDeadLetters(database, { webhookId, eventId: 't-1' })).toBe(1)
      expect(await replayDeadLetters(database, { webhookId, eventId: undefined })).toBe(1)
      expect(await due(row)).toEqual(['t-2', 't-3'])
    })

    it('are forgotten long after they were given up', async () => {
      const database = useDatabase()
      await pruneDeadLetters(database, { givenUpBeforeMs: NOW_MS, limit: 1_000 })
      const row = await made()
      await lease(row, 'me')
      const kept = [5, 6, 7].map((number) => delivery('t', number, { givenUpAtMs: number }))
      await settle(row, { kept: [...kept, delivery('t', 8)] })
      expect(await pruneDeadLetters(database, { givenUpBeforeMs: 7, limit: 1 })).toBe(1)
      expect(await pruneDeadLetters(database, { givenUpBeforeMs: 7, limit: 9 })).toBe(1)
      expect((await countDeliveries(database))(row.id)).toEqual({ waiting: 1, deadLetters: 1 })
    })

    it('come again when the webhook moves to another place; dead letters stay', async () => {
      const database = useDatabase()
      const row = await made()
      await lease(row, 'me')
      await settle(row, { kept: [delivery('t', 1), delivery('t', 2, { givenUpAtMs: 1 })] })
      expect(await moveWebhook(database, { id: row.id, cursor: 'c3' })).toMatchObject({
        feedCursor: 'c3',
        placeVersion: 1n,
      })
      expect((await countDeliveries(database))(row.id)).toEqual({ waiting: 0, deadLetters: 1 })
      expect(await moveWebhook(database, { id: newId(), cursor: 'c3' })).toBeUndefined()
    })
  })

  describe('the trial of a webhook', () => {
    it('is the last one that was asked for, and makes a paused webhook sendable', async () => {
      const database = useDatabase()
      const row = await made()
      await updateWebhook(database, { ...change(row), pausedReason: 'asked' })
      const isSendable = async () =>
        (await sendableWebhooks(database)).some(({ id }) => id === row.id)
      expect(await isSendable()).toBe(false)
      await requestWebhookTest(database, { id: row.id, testId: 'one' })
      await requestWebhookTest(database, { id: row.id, testId: 'two' })
      expect(await isSendable()).toBe(true)
      await recordWebhookTest(database, { webhookId: row.id, testId: 'one', outcome: '{}' })
      expect((await findWebhookById(database, row.id))?.testOutcome).toBeUndefined()
      await recordWebhookTest(database, { webhookId: row.id, testId: 'two', outcome: '{}' })
      expect(await findWebhookById(database, row.id)).toMatchObject({
        testId: 'two',
        testOutcome: '{}',
      })
      expect(await isSendable()).toBe(false)
    })
  })

  describe('the place before an event', () => {
    it('is a cursor behind which the event is the first', async () => {
      const database = useDatabase()
      await openFeed(database, { id: newId() })
      const warehouse = await newWarehouse(database)
      const ids = ['x', 'y'].map((name) => ({ id: newId(), name }))
      for (const { id, name } of ids) {
        const at = { id, warehouseId: warehouse.id, levels: [name], properties: {}, nowMs: NOW_MS }
        await createNamespace(database, { ...at, event: event('namespace-created') })
      }
      for (const { id } of ids) {
        const after = await placeBeforeEvent(database, `${id}-1`)
        const filter = { warehouseIds: [warehouse.id] }
        const page = await readFeed(database, { after, limit: 1, filter })
        expect(page).toMatchObject({ events: [{ eventId: `${id}-1` }] })
      }
      expect(await placeBeforeEvent(database, `${newId()}-1`)).toBeUndefined()
    })
  })
}
