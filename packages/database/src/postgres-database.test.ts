import {
  openPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, newNamespace, newTable, newWarehouse, tableIn } from './contract/contract-world.ts'
import { describeDatabaseContract } from './contract/describe-database-contract.ts'
import { findTableById } from './find-tables.ts'
import { type EventCursor, FIRST_EVENT, nameChangesAfter } from './name-changes.ts'
import { markEventsDispatched, takeUndispatchedEvents } from './outbox.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { swapMetadataLocation } from './swap-metadata-location.ts'
import { createTable, dropTable } from './tables.ts'

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
