import {
  openPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  event,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  tableIn,
} from './contract/contract-world.ts'
import { describeDatabaseContract } from './contract/describe-database-contract.ts'
import { commit, openedFeed, readAll } from './contract/describe-feed.ts'
import { openFeed, readFeed } from './feed.ts'
import { findTableById } from './find-tables.ts'
import { beginJobRun, finishJobRun } from './job-runs.ts'
import { type EventCursor, FIRST_EVENT, nameChangesAfter } from './name-changes.ts'
import { markEventsDispatched, takeUndispatchedEvents } from './outbox.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { swapMetadataLocation } from './swap-metadata-location.ts'
import { createTable, dropTable, overwriteTable, renameTable } from './tables.ts'

const WAIT_MS_MAX = 10_000

const isThere = testServices().databaseUrl !== undefined

/** Somebody waits for a lock of this database. */
async function untilSomebodyWaits(database: Database): Promise<void> {
  const count = () =>
    database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  await waitFor(async () => (await count()).length > 0, { timeoutMs: WAIT_MS_MAX })
}

describe.skipIf(!isThere)('PostgreSQL (skipped without TEST_DATABASE_URL)', () => {
  describeDatabaseContract('PostgreSQL', openPostgresTestDatabase, untilSomebodyWaits)

  describe('several connections', () => {
    let database: PostgresTestDatabase

    beforeAll(async () => {
      database = await openPostgresTestDatabase()
    })

    afterAll(() => database.close())

    /** Runs `meanwhile` while a transaction that has done `first` is open, and commits it then. */
    const whileOpen = (
      first: (session: SqlSession) => Promise<unknown>,
      meanwhile: () => Promise<void>,
    ) =>
      database.transaction(async (session) => {
        await first(session)
        await meanwhile()
      })

    it('does not let commits, look-ups and new namespaces wait for a new table', async () => {
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      const table = await newTable(database, namespace)
      const swap = {
        ...table,
        tableId: table.id,
        expected: table.metadataLocation,
        next: 'm1',
        event: event('table-committed'),
      }
      await whileOpen(
        (session) => createTable(session, tableIn(namespace, 'new')),
        async () => {
          expect(await swapMetadataLocation(database, swap)).toBe('swapped')
          expect(await findTableById(database, table.id)).toMatchObject({ version: 1n })
          await newNamespace(database, warehouse, ['other'])
        },
      )
    })

    it('never passes an event whose transaction is open, although a later one is visible', async () => {
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      const early = tableIn(namespace, 'early')
      const follow = (after: EventCursor) =>
        nameChangesAfter(database, { warehouseId: warehouse.id, after, limit: 100 })
      // Transactions of other databases of the server hold events up too.
      const followTo = (after: EventCursor, subjectCount: number) =>
        waitFor(
          async () => {
            const found = await follow(after)
            const count = (found?.tableIds.length ?? 0) + (found?.namespaceIds.length ?? 0)
            return count === subjectCount ? found : undefined
          },
          { timeoutMs: WAIT_MS_MAX },
        )
      const dropped = await newTable(database, namespace, 'dropped')
      const first = await followTo(FIRST_EVENT, 2)
      expect(first).toMatchObject({ namespaceIds: [namespace.id], tableIds: [dropped.id] })
      const drop = { tableId: dropped.id, purgeRequested: false, nowMs: 1 }
      await whileOpen(
        (session) => createTable(session, early),
        async () => {
          await dropTable(database, { ...drop, event: event('table-dropped') })
          expect(await follow(first.cursor)).toBeUndefined()
        },
      )
      const second = await followTo(first.cursor, 2)
      expect(second).toMatchObject({ namespaceIds: [], tableIds: [early.id, dropped.id] })
      expect(await follow(second.cursor)).toBeUndefined()
    })

    it('feeds no event whose transaction is open, nor a later one, and none is lost', async () => {
      const feed = await openedFeed(() => database)
      const warehouse = await newWarehouse(feed)
      const filter = { warehouseIds: [warehouse.id] }
      const namespace = await newNamespace(feed, warehouse)
      const [first] = await readAll(feed, { filter, limit: 10, count: 1 })
      let reached = first?.cursor ?? ''
      await whileOpen(
        (session) => createTable(session, tableIn(namespace, 'early')),
        async () => {
          await newNamespace(feed, warehouse, ['late'])
          const page = await readFeed(feed, { filter, limit: 10, after: reached })
          expect(page).toMatchObject({ outcome: 'read', events: [], isAtEnd: true })
          if (page.outcome === 'read') reached = page.cursor
        },
      )
      const events = await readAll(feed, { filter, limit: 10, count: 2, after: reached })
      expect(events.map(({ levels, name }) => name ?? levels[0])).toEqual(['early', 'late'])
    })

    it.each([
      ['drop', 'table-dropped'],
      ['rename', 'table-renamed'],
      ['overwrite', 'table-registered'],
      ['job', 'job-succeeded'],
    ] as const)(
      'feeds the events of a table in the order of their numbers, though the transaction of a %s was there first',
      async (change, kind) => {
        const feed = await openedFeed(() => database)
        const warehouse = await newWarehouse(feed)
        const namespace = await newNamespace(feed, warehouse)
        const table = await newTable(feed, namespace)
        const run = { id: newId(), jobKind: 'j', workerId: 'w', leaseMs: 9, deadlineMs: 9 }
        await beginJobRun(feed, { ...run, tableId: table.id, nowMs: 1 })
        await database.transaction(async (session) => {
          await session.query('select pg_current_xact_id()')
          await commit(feed, table, '{"of":"a later transaction"}')
          const late = { tableId: table.id, nowMs: 1, event: event(kind) }
          if (change === 'drop') await dropTable(session, { ...late, purgeRequested: false })
          if (change === 'rename') {
            await renameTable(session, { ...late, toNamespaceId: namespace.id, toName: 'new' })
          }
          if (change === 'overwrite') await overwriteTable(session, { ...table, ...late })
          if (change === 'job') {
            const end = { state: 'succeeded', reason: '', outcome: '{}', nowMs: 1 } as const
            await finishJobRun(session, { ...end, runId: run.id })
          }
        })
        const filter = { tables: [{ id: table.id }] }
        const events = await readAll(feed, { filter, limit: 10, count: 3 })
        expect(events.map((one) => one.eventNumber)).toEqual([1n, 2n, 3n])
        expect(events[2]).toMatchObject({ kind })
      },
    )

    it('gives the feed of a restored dump another id, with its events at the front', async () => {
      const own = await openPostgresTestDatabase()
      try {
        const id = (digit: string) => digit.repeat(8)
        await openFeed(own, { id: id('a') })
        const warehouse = await newWarehouse(own)
        const filter = { warehouseIds: [warehouse.id] }
        await newNamespace(own, warehouse, ['old'])
        await openFeed(own, { id: id('b') })
        const [old] = await readAll(own, { filter, limit: 10, count: 1 })
        expect(old?.cursor).toMatch(/^aaaaaaaa/)
        // As if the server that the dump comes from had counted further.
        await own.query(`update outbox_event set transaction_id = '9000000000000'`)
        await openFeed(own, { id: id('c') })
        await newNamespace(own, warehouse, ['new'])
        const events = await readAll(own, { filter, limit: 10, count: 2 })
        expect(events.map(({ levels }) => levels)).toEqual([['old'], ['new']])
        expect(events[0]?.cursor).toMatch(/^cccccccc/)
        const after = old?.cursor ?? ''
        expect(await readFeed(own, { filter, limit: 1, after })).toEqual({ outcome: 'pruned' })
      } finally {
        await own.close()
      }
    })

    it('gives two relays different events, and those of one that failed to the next', async () => {
      const backlog = await takeUndispatchedEvents(database, { limit: 100_000 })
      await markEventsDispatched(
        database,
        backlog.map(({ seq }) => seq),
        1,
      )
      const warehouse = await newWarehouse(database)
      for (const level of ['a', 'b', 'c', 'd']) await newNamespace(database, warehouse, [level])
      const take = async (session: SqlSession) =>
        (await takeUndispatchedEvents(session, { limit: 2 })).map(({ levels }) => levels[0])
      const failure = whileOpen(
        async (session) => expect(await take(session)).toEqual(['a', 'b']),
        async () => {
          expect(await database.transaction(take)).toEqual(['c', 'd'])
          throw new Error('the relay died')
        },
      )
      await expect(failure).rejects.toThrow('the relay died')
      expect(await database.transaction(take)).toEqual(['a', 'b'])
    })
  })
})
