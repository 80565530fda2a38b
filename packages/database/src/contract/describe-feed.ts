import { waitFor } from '@timelake/testing/wait-for'
import { describe, expect, it } from 'vitest'
import { keepEventDetails } from '../event-details.ts'
import { FEED_START } from '../feed-cursor.ts'
import { type FeedEvent, type FeedFilter, feedEnd, openFeed, pruneFeed, readFeed } from '../feed.ts'
import { noteLostEvents } from '../lost-events.ts'
import { createWebhook, findWebhookById } from '../webhooks.ts'
import { abandonExpiredRuns, beginJobRun, finishJobRun } from '../job-runs.ts'
import { markEventsDispatched } from '../outbox.ts'
import type { Database } from '../sql-session.ts'
import { swapMetadataLocation } from '../swap-metadata-location.ts'
import { createTable, dropTable, type NewTable, renameTable } from '../tables.ts'
import {
  event,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  tableIn,
  type UseDatabase,
} from './contract-world.ts'

const WAIT_MS_MAX = 10_000

/** What feed.ts promises. */
export function describeFeed(useDatabase: UseDatabase): void {
  describe('the feed', () => {
    it('I41 hands out every event of a warehouse once, in portions, with its names and its payload', async () => {
      const database = await openedFeed(useDatabase)
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse, ['a'])
      await newNamespace(database, await newWarehouse(database))
      const table = await newTable(database, namespace)
      await commit(database, table, '{"snapshot-id":9151314442816847871}')
      const filter = { warehouseIds: [warehouse.id] }
      const events = await readAll(database, { filter, limit: 1, count: 3 })
      expect(events.map(({ kind, eventNumber }) => [kind, eventNumber])).toEqual([
        ['namespace-created', 1n],
        ['table-created', 1n],
        ['table-committed', 2n],
      ])
      expect(events[0]).toMatchObject({
        eventId: `${namespace.id}-1`,
        levels: ['a'],
        name: undefined,
        tableId: undefined,
      })
      expect(events[2]).toMatchObject({
        eventId: `${table.id}-2`,
        warehouseId: warehouse.id,
        tableId: table.id,
        tableUuid: table.tableUuid,
        levels: ['a'],
        name: 't',
        payload: '{"snapshot-id":9151314442816847871}',
        details: undefined,
        createdAtMs: NOW_MS,
      })
    })

    it('goes on where an empty answer ended', async () => {
      const database = await openedFeed(useDatabase)
      const warehouse = await newWarehouse(database)
      const filter = { warehouseIds: [warehouse.id] }
      const empty = await readFeed(database, { filter, limit: 10 })
      if (empty.outcome !== 'read') throw new Error('the feed starts at its start')
      expect(empty.events).toEqual([])
      const end = await feedEnd(database)
      await newNamespace(database, warehouse)
      for (const after of [empty.cursor, end]) {
        const events = await readAll(database, { filter, limit: 10, count: 1, after })
        expect(events).toMatchObject([{ kind: 'namespace-created' }])
        expect(
          await readFeed(database, { filter, limit: 10, after: events[0]?.cursor }),
        ).toMatchObject({
          events: [],
        })
      }
    })

    it('lets only through what the filter names', async () => {
      const database = await openedFeed(useDatabase)
      const warehouse = await newWarehouse(database)
      const outer = await newNamespace(database, warehouse, ['a'])
      const inner = await newNamespace(database, warehouse, ['a', 'b'])
      const other = await newNamespace(database, warehouse, ['ab'])
      const first = await newTable(database, inner, 'first')
      const second = await newTable(database, other, 'second')
      const rename = { tableId: first.id, toNamespaceId: outer.id, toName: 'moved', nowMs: NOW_MS }
      await renameTable(database, { ...rename, event: event('table-renamed') })
      const numbers = async (filter: FeedFilter, count: number) => {
        const limited = { warehouseIds: [warehouse.id], ...filter }
        const events = await readAll(database, { filter: limited, limit: 3, count })
        return events.map(({ eventId }) => eventId)
      }
      expect(await numbers({}, 6)).toHaveLength(6)
      expect(await numbers({ kinds: ['table-renamed'] }, 1)).toEqual([`${first.id}-2`])
      expect(await numbers({ namespaces: [['a']] }, 4)).toEqual([
        `${outer.id}-1`,
        `${inner.id}-1`,
        `${first.id}-1`,
        `${first.id}-2`,
      ])
      const bothTables = [{ id: second.tableUuid }, { levels: ['a', 'b'], name: 'first' }]
      expect(await numbers({ tables: bothTables }, 2)).toEqual([`${first.id}-1`, `${second.id}-1`])
      expect(await numbers({ tables: [{ id: first.id }] }, 2)).toHaveLength(2)
      expect(await numbers({ tables: [] }, 0)).toEqual([])
      expect(await numbers({ tables: [{ levels: ['a'], name: 'no\u0000ne' }] }, 0)).toEqual([])
      expect(await numbers({ warehouseIds: [newId()] }, 0)).toEqual([])
    })

    it('refuses a text that is no cursor, and one of another database', async () => {
      const database = await openedFeed(useDatabase)
      const after = async (text: string) =>
        (await readFeed(database, { after: text, limit: 1 })).outcome
      const end = await feedEnd(database)
      expect(await after(end)).toBe('read')
      for (const text of ['', 'x', '1.2', `${end}.3`, `${end}x`, '-1.-2.-3']) {
        expect(await after(text)).toBe('malformed')
      }
      expect(await after(end.replace(/^./, (digit) => (digit === 'e' ? 'f' : 'e')))).toBe('pruned')
    })

    it('I43 prunes from its front only, and tells a reader who has fallen behind', async () => {
      const database = await openedFeed(useDatabase)
      await pruneAll(database)
      const warehouse = await newWarehouse(database)
      const filter = { warehouseIds: [warehouse.id] }
      const start = await feedEnd(database)
      for (const name of ['a', 'b', 'c', 'd']) await newNamespace(database, warehouse, [name])
      const [a, b, c, d] = await readAll(database, { filter, limit: 10, count: 4, after: start })
      await keepEventDetails(database, [{ seq: a?.seq ?? 0n, details: '{}' }])
      const prune = (createdBeforeMs: number) => pruneFeed(database, { createdBeforeMs, limit: 2 })
      expect(await prune(NOW_MS + 1)).toBe(0)
      await markEventsDispatched(database, [a?.seq ?? 0n, b?.seq ?? 0n, d?.seq ?? 0n], NOW_MS)
      expect(await prune(NOW_MS)).toBe(0)
      expect(await prune(NOW_MS + 1)).toBe(2)
      // c was not handed on yet, so d stays behind it.
      expect(await prune(NOW_MS + 1)).toBe(0)
      const read = (after: string | undefined) => readFeed(database, { filter, limit: 10, after })
      expect(await read(start)).toEqual({ outcome: 'pruned' })
      expect(await read(a?.cursor)).toEqual({ outcome: 'pruned' })
      for (const after of [b?.cursor, undefined]) {
        expect(await read(after)).toMatchObject({ events: [{ seq: c?.seq }, { seq: d?.seq }] })
      }
    })

    it('I44 counts what goes before a webhook has read it, and moves on who misses nothing', async () => {
      const database = await openedFeed(useDatabase)
      await pruneAll(database)
      const warehouse = await newWarehouse(database)
      const filter = { warehouseIds: [warehouse.id] }
      const start = await feedEnd(database)
      for (const name of ['a', 'b', 'c', 'd']) await newNamespace(database, warehouse, [name])
      const [a, b, c] = await readAll(database, { filter, limit: 10, count: 4, after: start })
      const made = (text: string, feedCursor = start) => newWebhook(database, text, feedCursor)
      const all = await made('all')
      const ahead = await made('all', c?.cursor)
      const halfway = await made('all', a?.cursor)
      const fresh = await made('all', FEED_START)
      const elsewhere = await made('elsewhere')
      await markEventsDispatched(database, [a?.seq ?? 0n, b?.seq ?? 0n, c?.seq ?? 0n], NOW_MS)
      const prune = (limit: number) =>
        pruneFeed(database, {
          createdBeforeMs: NOW_MS + 1,
          limit,
          beforePruning: (session, last) =>
            noteLostEvents(session, {
              last,
              nowMs: NOW_MS + 9,
              filterOf: (text) => ({ warehouseIds: [text === 'all' ? warehouse.id : 'none'] }),
            }),
        })
      expect(await prune(2)).toBe(2)
      expect(await prune(2)).toBe(1)
      expect(await prune(2)).toBe(0)
      const lost = { eventsLostAtMs: NOW_MS + 9 }
      const none = { eventsLost: 0n, eventsLostAtMs: undefined }
      const row = (id: string) => findWebhookById(database, id)
      expect(await row(all)).toMatchObject({ ...lost, eventsLost: 3n, feedCursor: start })
      expect(await row(fresh)).toMatchObject({ ...lost, eventsLost: 3n, feedCursor: FEED_START })
      expect(await row(halfway)).toMatchObject({ ...lost, eventsLost: 2n })
      expect(await row(ahead)).toMatchObject({ ...none, feedCursor: c?.cursor })
      expect(await row(elsewhere)).toMatchObject({ ...none, feedCursor: c?.cursor })
    })

    it('keeps the first details that it is given, with the event', async () => {
      const database = await openedFeed(useDatabase)
      const warehouse = await newWarehouse(database)
      const filter = { warehouseIds: [warehouse.id] }
      await newNamespace(database, warehouse)
      const [found] = await readAll(database, { filter, limit: 1, count: 1 })
      const seq = found?.seq ?? 0n
      await keepEventDetails(database, [{ seq, details: '{"rows":1}' }])
      await keepEventDetails(database, [
        { seq, details: '{"rows":2}' },
        { seq: seq + 1_000_000n, details: '{}' },
      ])
      expect(await readFeed(database, { filter, limit: 1 })).toMatchObject({
        events: [{ details: '{"rows":1}' }],
      })
    })

    it('tells how runs of jobs ended, with the numbers of their table, dropped ones too', async () => {
      const database = await openedFeed(useDatabase)
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      const table = await newTable(database, namespace)
      const filter = { warehouseIds: [warehouse.id], tables: [{ id: table.id }] }
      const run = (jobKind: string) => ({
        ...{ id: newId(), jobKind, tableId: table.id, workerId: 'w' },
        ...{ nowMs: NOW_MS, leaseMs: 10, deadlineMs: NOW_MS + 1_000 },
      })
      const [compact, purge, lost] = [run('compact'), run('purge'), run('compact')]
      await beginJobRun(database, compact)
      const end = {
        reason: 'merged "2"',
        outcome: '{"rows":9151314442816847871}',
        nowMs: NOW_MS + 5,
      }
      await finishJobRun(database, { ...end, runId: compact.id, state: 'succeeded' })
      await commit(database, table, '{}')
      await beginJobRun(database, lost)
      await abandonExpiredRuns(database, { expiredByMs: NOW_MS + 10, nowMs: NOW_MS + 20 })
      const drop = { tableId: table.id, purgeRequested: true, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      await beginJobRun(database, purge)
      await finishJobRun(database, { ...end, runId: purge.id, state: 'failed' })
      const events = await readAll(database, { filter, limit: 10, count: 6 })
      expect(events.map(({ kind, eventNumber }) => [kind, eventNumber])).toEqual([
        ['table-created', 1n],
        ['job-succeeded', 2n],
        ['table-committed', 3n],
        ['job-abandoned', 4n],
        ['table-dropped', 5n],
        ['job-failed', 6n],
      ])
      expect(events[1]).toMatchObject({ levels: ['ns'], name: 't', createdAtMs: NOW_MS + 5 })
      const payload = events[1]?.payload ?? ''
      expect(payload).toContain('{"rows":9151314442816847871}')
      expect(JSON.parse(payload)).toMatchObject({
        'run-id': compact.id,
        'job-kind': 'compact',
        state: 'succeeded',
        reason: 'merged "2"',
        'started-ms': NOW_MS,
        'finished-ms': NOW_MS + 5,
      })
      expect(await createTable(database, { ...tableIn(namespace), name: 'next' })).toBe('created')
    })
  })
}

/** The database with an open feed. */
export async function openedFeed(useDatabase: UseDatabase): Promise<Database> {
  const database = useDatabase()
  await openFeed(database, { id: '0f000000-0000-4000-8000-000000000000' })
  return database
}

/** One more commit, whose file is named at random. */
export async function commit(database: Database, table: NewTable, payload: string): Promise<void> {
  const [row] = await database.query<{ metadata_location: string }>(
    'select metadata_location from catalog_table where id = $1',
    [table.id],
  )
  const outcome = await swapMetadataLocation(database, {
    ...table,
    tableId: table.id,
    expected: row?.metadata_location ?? '',
    next: `${table.location}/metadata/${newId()}.json`,
    event: event('table-committed', payload),
  })
  expect(outcome).toBe('swapped')
}

/** Reads until there are `count` events, and that there are no more. What others run on the server may hold events up. */
export async function readAll(
  database: Database,
  request: { filter: FeedFilter; limit: number; count: number; after?: string },
): Promise<FeedEvent[]> {
  const { filter, limit, count } = request
  const events: FeedEvent[] = []
  let { after } = request
  const isDone = async () => {
    const page = await readFeed(database, { filter, limit, after })
    if (page.outcome !== 'read') throw new Error(`the feed is ${page.outcome}`)
    events.push(...page.events)
    after = page.cursor
    return events.length >= count && page.isAtEnd ? true : undefined
  }
  await waitFor(isDone, { timeoutMs: WAIT_MS_MAX })
  expect(events).toHaveLength(count)
  return events
}

async function newWebhook(database: Database, filter: string, feedCursor: string) {
  const id = newId()
  const outcome = await createWebhook(database, {
    ...{ id, name: `hook-${id}`, url: 'https://receiver.example/', filter, feedCursor },
    ...{ sealedSecret: 'v1.sealed', attemptsMax: 5, retryForMs: 1_000, pausedReason: undefined },
    ...{ nowMs: NOW_MS, countMax: 1_000_000 },
  })
  expect(outcome.outcome).toBe('created')
  return id
}

async function pruneAll(database: Database): Promise<void> {
  await database.query(
    'update outbox_event set dispatched_at_ms = 1 where dispatched_at_ms is null',
  )
  const isEmpty = async () => {
    await pruneFeed(database, { createdBeforeMs: NOW_MS * 2, limit: 100_000 })
    return (await database.query('select 1 from outbox_event limit 1')).length === 0 || undefined
  }
  await waitFor(isEmpty, { timeoutMs: WAIT_MS_MAX })
}
