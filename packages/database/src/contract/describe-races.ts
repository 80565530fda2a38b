import { describe, expect, it } from 'vitest'
import { IdempotencyKeyLostError, LocationTakenError } from '../database-errors.ts'
import { findTableById } from '../find-tables.ts'
import { reserveIdempotencyKey } from '../idempotency.ts'
import { createNamespace, dropNamespace, type NamespaceRow } from '../namespaces.ts'
import type { Database, SqlSession } from '../sql-session.ts'
import { type MetadataSwap, swapMetadataLocation } from '../swap-metadata-location.ts'
import {
  createTable,
  dropTable,
  type NewTable,
  overwriteTable,
  renameTable,
  restoreTable,
} from '../tables.ts'
import {
  event,
  eventsOf,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  tableIn,
  type UseDatabase,
} from './contract-world.ts'

/** Resolves when somebody waits for a lock, in databases where somebody can; at once elsewhere. */
export type UntilSomebodyWaits = (database: Database) => Promise<void>

interface Race<T> {
  /** Inside a transaction that stays open until the other waits for it, or has its answer. */
  readonly first: (session: SqlSession) => Promise<unknown>
  readonly second: () => Promise<T>
}

/** What holds when two callers change the same things at the same moment, each on a connection of its own. */
export function describeRaces(
  useDatabase: UseDatabase,
  untilSomebodyWaits: UntilSomebodyWaits,
): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    return { database, warehouse, namespace }
  }

  /** What the second comes to, when the first ends this way while the second is under way. */
  async function race<T>(
    { first, second }: Race<T>,
    end: 'committed' | 'rolled back',
  ): Promise<PromiseSettledResult<T>> {
    const database = useDatabase()
    let letEnd = () => {}
    const mayEnd = new Promise<void>((resolve) => (letEnd = resolve))
    let held: Promise<void> = Promise.resolve()
    await new Promise<void>((resolve, reject) => {
      held = database.transaction(async (session) => {
        await first(session)
        resolve()
        await mayEnd
        if (end === 'rolled back') throw new Error('rolled back')
      })
      held.catch(reject)
    })
    const results = Promise.allSettled([second()])
    await untilSomebodyWaits(database)
    letEnd()
    if (end === 'committed') await held
    else await expect(held).rejects.toThrow('rolled back')
    return (await results)[0]
  }

  const fulfilled = (value: unknown) => ({ status: 'fulfilled', value })
  const refused = (error: unknown) => ({ status: 'rejected', reason: expect.any(error) as unknown })
  const change = (kind: Parameters<typeof event>[0]) => ({ nowMs: NOW_MS, event: event(kind) })

  const swapOf = (table: NewTable, next: string): MetadataSwap => ({
    tableId: table.id,
    expected: table.metadataLocation,
    next,
    tableUuid: table.tableUuid,
    location: table.location,
    ...change('table-committed'),
  })

  describe('races for a location', () => {
    const tableAt = (namespace: NamespaceRow, location: string, name: string): NewTable => ({
      ...tableIn(namespace, name),
      location: `${namespace.location}/${location}`,
    })

    it.each([
      ['the same', 'a/b'],
      ['one inside', 'a/b/c'],
      ['one around', 'a'],
    ])('lets one of two new tables have it: %s', async (_, location) => {
      const { database, namespace } = await world()
      const first = tableAt(namespace, 'a/b', 'first')
      const second = tableAt(namespace, location, 'second')
      const both = {
        first: (session: SqlSession) => createTable(session, first),
        second: () => createTable(database, second),
      }
      expect(await race(both, 'rolled back')).toEqual(fulfilled('created'))
      await dropTable(database, {
        tableId: second.id,
        purgeRequested: false,
        ...change('table-dropped'),
      })
      const third = { ...second, id: newId() }
      const again = { ...both, second: () => createTable(database, third) }
      expect(await race(again, 'committed')).toEqual(refused(LocationTakenError))
    })

    it.each(['swap', 'overwrite', 'restore'] as const)(
      'keeps a table that comes by %s out of a new one',
      async (way) => {
        const { database, namespace } = await world()
        const table = await newTable(database, namespace, 'moves')
        const next = tableAt(namespace, 'a', 'new')
        const location = `${next.location}/inside`
        const ways = {
          swap: () => swapMetadataLocation(database, { ...swapOf(table, 'm1'), location }),
          overwrite: () =>
            overwriteTable(database, {
              tableId: table.id,
              tableUuid: newId(),
              location,
              metadataLocation: 'm1',
              ...change('table-registered'),
            }),
          restore: () =>
            restoreTable(database, { ...tableIn(namespace, 'old'), location, version: 1n }),
        }
        const both = {
          first: (session: SqlSession) => createTable(session, next),
          second: ways[way] as () => Promise<string>,
        }
        expect(await race(both, 'committed')).toEqual(refused(LocationTakenError))
        expect(await eventsOf(database, table.id)).toHaveLength(1)
      },
    )

    it('keeps a new table out of one that moves', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace, 'moves')
      const next = tableAt(namespace, 'a/b', 'new')
      const location = `${namespace.location}/a`
      const both = {
        first: (session: SqlSession) =>
          swapMetadataLocation(session, { ...swapOf(table, 'm1'), location }),
        second: () => createTable(database, next),
      }
      expect(await race(both, 'committed')).toEqual(refused(LocationTakenError))
    })

    it.each([
      ['a new table', 'a/data'],
      ['data inside it', 'a/data/below'],
      ['data around it', 'a'],
    ])('I15 lets one of two have a folder that a property names: %s', async (what, place) => {
      const { database, namespace } = await world()
      const [taken, wanted] = [`${namespace.location}/a/data`, `${namespace.location}/${place}`]
      const owner = await newTable(database, namespace, 'owner')
      const next =
        what === 'a new table'
          ? tableAt(namespace, place, 'next')
          : { ...tableAt(namespace, 'next', 'next'), extraRoots: [{ location: wanted }] }
      const roots = { extra: [taken], fresh: [taken], left: [owner.location] }
      const both = {
        first: (session: SqlSession) =>
          swapMetadataLocation(session, { ...swapOf(owner, 'm1'), roots }),
        second: () => createTable(database, next),
      }
      expect(await race(both, 'committed')).toEqual(refused(LocationTakenError))
      const create = { ...next, id: newId() }
      const late = await newTable(database, namespace, 'late')
      const other = `${namespace.location}/b`
      const there = { ...create, location: `${other}/next`, extraRoots: [] }
      const turned = {
        first: (session: SqlSession) => createTable(session, there),
        second: () =>
          swapMetadataLocation(database, {
            ...swapOf(late, 'm1'),
            roots: { extra: [other], fresh: [other], left: [late.location] },
          }),
      }
      expect(await race(turned, 'committed')).toEqual(refused(LocationTakenError))
    })
  })

  describe('races for a pointer', () => {
    it('I2 lets the second swap of two have its way only when the first is undone', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      const both = {
        first: (session: SqlSession) => swapMetadataLocation(session, swapOf(table, 'first')),
        second: () => swapMetadataLocation(database, swapOf(table, 'second')),
      }
      expect(await race(both, 'committed')).toEqual(fulfilled('stale'))
      const after = { ...table, metadataLocation: 'first' }
      const again = {
        first: (session: SqlSession) => swapMetadataLocation(session, swapOf(after, 'third')),
        second: () => swapMetadataLocation(database, swapOf(after, 'fourth')),
      }
      expect(await race(again, 'rolled back')).toEqual(fulfilled('swapped'))
      expect(await findTableById(database, table.id)).toMatchObject({
        metadataLocation: 'fourth',
        version: 2n,
      })
      const numbers = (await eventsOf(database, table.id)).map((stored) => stored.event_number)
      expect(numbers).toEqual([1n, 2n, 3n])
    })

    it('finds no table any more when it is dropped at the same time', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      const drop = { tableId: table.id, purgeRequested: false, ...change('table-dropped') }
      const both = {
        first: (session: SqlSession) => dropTable(session, drop),
        second: () => swapMetadataLocation(database, swapOf(table, 'm1')),
      }
      // It depends on when the second began.
      const staleOrMissing = expect.stringMatching(/^(stale|missing)$/) as unknown
      expect(await race(both, 'committed')).toEqual(fulfilled(staleOrMissing))
      expect(await swapMetadataLocation(database, swapOf(table, 'm1'))).toBe('missing')
    })
  })

  describe('races for a name', () => {
    it('gives it to the first, of whatever kind, and to the second when the first is undone', async () => {
      const { database, namespace } = await world()
      const both = {
        first: (session: SqlSession) =>
          createTable(session, { ...tableIn(namespace, 'n'), kind: 'view' }),
        second: () => createTable(database, tableIn(namespace, 'n')),
      }
      expect(await race(both, 'rolled back')).toEqual(fulfilled('created'))
      const other = await newTable(database, namespace, 'other')
      const rename = {
        tableId: other.id,
        toNamespaceId: namespace.id,
        toName: 'm',
        ...change('table-renamed'),
      }
      const renamed = {
        first: (session: SqlSession) => createTable(session, tableIn(namespace, 'm')),
        second: () => renameTable(database, rename),
      }
      expect(await race(renamed, 'committed')).toEqual(fulfilled('exists'))
      const created = {
        first: (session: SqlSession) => renameTable(session, { ...rename, toName: 'o' }),
        second: () => createTable(database, tableIn(namespace, 'o')),
      }
      expect(await race(created, 'committed')).toEqual(fulfilled('exists'))
    })

    it('does not drop a namespace in which something is made, nor make it there', async () => {
      const { database, warehouse } = await world()
      for (const first of ['create', 'drop'] as const) {
        const namespace = await newNamespace(database, warehouse, [`with-${first}`])
        const drop = { namespaceId: namespace.id, ...change('namespace-dropped') }
        const create = (session: SqlSession) => createTable(session, tableIn(namespace))
        const outcome = await (first === 'create'
          ? race({ first: create, second: () => dropNamespace(database, drop) }, 'committed')
          : race(
              {
                first: (session) => dropNamespace(session, drop),
                second: () => create(database),
              },
              'committed',
            ))
        const expected =
          first === 'create'
            ? expect.objectContaining({ outcome: 'not-empty' })
            : 'namespace-missing'
        expect(outcome).toEqual(fulfilled(expected))
      }
    })

    it('makes no namespace below one that is dropped at the same time', async () => {
      const { database, warehouse, namespace } = await world()
      const both = {
        first: (session: SqlSession) =>
          dropNamespace(session, { namespaceId: namespace.id, ...change('namespace-dropped') }),
        second: () =>
          createNamespace(database, {
            id: newId(),
            warehouseId: warehouse.id,
            levels: ['ns', 'below'],
            properties: {},
            ...change('namespace-created'),
          }),
      }
      expect(await race(both, 'committed')).toEqual(
        fulfilled({ outcome: 'parent-missing', parent: ['ns'] }),
      )
    })
  })

  describe('races for an idempotency key', () => {
    const reservation = (warehouseId: string, key: string) => ({
      warehouseId,
      key,
      operation: 'op',
      requestHash: 'hash',
      nowMs: NOW_MS,
      leaseMs: 1000,
      lifetimeMs: 10_000,
    })

    it('reserves it for one call', async () => {
      const { database, warehouse } = await world()
      const mine = reservation(warehouse.id, newId())
      const both = {
        first: (session: SqlSession) => reserveIdempotencyKey(session, mine),
        second: () => reserveIdempotencyKey(database, mine),
      }
      expect(await race(both, 'rolled back')).toEqual(fulfilled({ outcome: 'reserved' }))
      const other = reservation(warehouse.id, newId())
      const again = {
        first: (session: SqlSession) => reserveIdempotencyKey(session, other),
        second: () => reserveIdempotencyKey(database, other),
      }
      expect(await race(again, 'committed')).toEqual(
        fulfilled({ outcome: 'running', retryAfterMs: 1000 }),
      )
    })

    it('lets one of its owners change something', async () => {
      const { database, warehouse, namespace } = await world()
      const table = await newTable(database, namespace)
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      const idempotency = { ...mine, outcome: { status: 200 } }
      const both = {
        first: (session: SqlSession) =>
          swapMetadataLocation(session, { ...swapOf(table, 'm1'), idempotency }),
        second: () => createTable(database, { ...tableIn(namespace, 'other'), idempotency }),
      }
      expect(await race(both, 'rolled back')).toEqual(fulfilled('created'))
      const third = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, third)
      const ticket = { ...third, outcome: { status: 200 } }
      const again = {
        first: (session: SqlSession) =>
          createTable(session, { ...tableIn(namespace, 'third'), idempotency: ticket }),
        second: () =>
          swapMetadataLocation(database, { ...swapOf(table, 'm1'), idempotency: ticket }),
      }
      expect(await race(again, 'committed')).toEqual(refused(IdempotencyKeyLostError))
      expect(await findTableById(database, table.id)).toMatchObject({ version: 0n })
    })
  })
}
