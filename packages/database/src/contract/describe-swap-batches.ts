import { describe, expect, it } from 'vitest'
import { askForTurn, passTurn, readTurn, seizeTurn } from '../commit-turns.ts'
import { findTableById } from '../find-tables.ts'
import { finishIdempotencyKey, reserveIdempotencyKey } from '../idempotency.ts'
import { findLandedCommit } from '../landed-commits.ts'
import { SwapBatcher } from '../swap-batcher.ts'
import { type GroupSwap, swapMany } from '../swap-many.ts'
import { dropTable, type NewTable } from '../tables.ts'
import {
  event,
  eventsOf,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

/** What swap-many.ts and swap-batcher.ts promise. */
export function describeSwapBatches(useDatabase: UseDatabase): void {
  const world = async (tableCount: number) => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const tables: NewTable[] = []
    for (let i = 0; i < tableCount; i += 1) {
      tables.push(await newTable(database, namespace, `t${i}`))
    }
    return { database, warehouse, tables }
  }
  const swapOf = (table: NewTable, more: Partial<GroupSwap> = {}): GroupSwap => ({
    tableId: table.id,
    expected: table.metadataLocation,
    next: `${table.location}/metadata/1.json`,
    tableUuid: table.tableUuid,
    location: table.location,
    nowMs: NOW_MS,
    events: [event('table-committed', `{"of":"${table.name}"}`)],
    landed: [],
    idempotency: [],
    batches: [],
    ...more,
  })

  describe('swapping many pointers at once', () => {
    it('moves each pointer and writes each event once', async () => {
      const { database, tables } = await world(5)
      const swaps = tables.map((table) => swapOf(table))
      expect(await swapMany(database, swaps)).toEqual(Array(5).fill('swapped'))
      for (const table of tables) {
        expect(await findTableById(database, table.id)).toMatchObject({
          metadataLocation: `${table.location}/metadata/1.json`,
          version: 1n,
        })
        expect(await eventsOf(database, table.id)).toMatchObject([
          { event_number: 1n },
          { event_number: 2n, kind: 'table-committed', payload: `{"of":"${table.name}"}` },
        ])
      }
    })

    it('gives each swap its own verdict, in the order of the swaps', async () => {
      const { database, tables } = await world(4)
      const [good, stale, gone, moved] = tables as [NewTable, NewTable, NewTable, NewTable]
      const drop = { tableId: gone.id, purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      const verdicts = await swapMany(database, [
        swapOf(gone),
        swapOf(stale, { expected: 'another' }),
        swapOf(moved, { location: `${moved.location}-elsewhere` }),
        swapOf(good),
      ])
      expect(verdicts).toEqual(['missing', 'stale', 'stale', 'swapped'])
      expect(await findTableById(database, stale.id)).toMatchObject({ version: 0n })
      expect(await eventsOf(database, stale.id)).toHaveLength(1)
    })

    it('keeps the book of landed commits', async () => {
      const { database, tables } = await world(2)
      const [a, b] = tables as [NewTable, NewTable]
      const landed = { requestHash: 'h1', snapshotIds: [1n, 2n], forgetSnapshotIds: [] }
      await swapMany(database, [swapOf(a, { landed: [landed] }), swapOf(b)])
      expect(await findLandedCommit(database, { tableId: a.id, requestHash: 'h1' })).toEqual({
        metadataLocation: `${a.location}/metadata/1.json`,
        snapshotIds: [1n, 2n],
      })
      const second = { requestHash: 'h2', snapshotIds: [3n], forgetSnapshotIds: [1n, 2n, 3n] }
      const expected = `${a.location}/metadata/1.json`
      await swapMany(database, [swapOf(a, { expected, next: 'm2', landed: [second] }), swapOf(b)])
      const find = (requestHash: string) =>
        findLandedCommit(database, { tableId: a.id, requestHash })
      expect(await find('h1')).toBeUndefined()
      expect(await find('h2')).toMatchObject({ snapshotIds: [3n] })
    })

    it('stores the outcome of each key, and refuses a swap whose key has finished', async () => {
      const { database, warehouse, tables } = await world(3)
      const [a, b, c] = tables as [NewTable, NewTable, NewTable]
      const reservation = (key: string) => ({
        warehouseId: warehouse.id,
        key,
        operation: 'updateTable',
        requestHash: 'h',
        nowMs: NOW_MS,
        leaseMs: 1_000,
        lifetimeMs: 10_000,
      })
      const ticket = (key: string) => ({
        warehouseId: warehouse.id,
        key,
        outcome: { status: 200, metadataLocation: `m-${key}` },
      })
      const [open, done] = [newId(), newId()]
      await reserveIdempotencyKey(database, reservation(open))
      await reserveIdempotencyKey(database, reservation(done))
      await finishIdempotencyKey(
        database,
        { warehouseId: warehouse.id, key: done },
        { status: 404 },
      )
      const [first, second, third] = await swapMany(database, [
        swapOf(a, { idempotency: [ticket(open)] }),
        swapOf(b, { idempotency: [ticket(done)] }),
        swapOf(c),
      ])
      expect([first, third]).toEqual(['swapped', 'swapped'])
      expect(second).toEqual({ outcome: 'keys-lost', keys: [done] })
      expect(await findTableById(database, b.id)).toMatchObject({ version: 0n })
      expect(await reserveIdempotencyKey(database, reservation(open))).toEqual({
        outcome: 'done',
        status: 200,
        metadataLocation: `m-${open}`,
      })
    })
  })

  describe('a group of commits of one table', () => {
    it('writes the events of all of them with dense numbers, in their order', async () => {
      const { database, tables } = await world(2)
      const [a, b] = tables as [NewTable, NewTable]
      const events = ['1', '2', '3'].map((payload) => event('table-committed', payload))
      expect(await swapMany(database, [swapOf(a, { events }), swapOf(b)])).toEqual([
        'swapped',
        'swapped',
      ])
      const written = await eventsOf(database, a.id)
      expect(written.map(({ event_number: number }) => number)).toEqual([1n, 2n, 3n, 4n])
      expect(written.slice(1).map(({ payload }) => payload)).toEqual(['1', '2', '3'])
      expect(await findTableById(database, a.id)).toMatchObject({ version: 1n })
      const next = { expected: `${a.location}/metadata/1.json`, next: 'm2' }
      await swapMany(database, [swapOf(a, next)])
      expect((await eventsOf(database, a.id)).at(-1)).toMatchObject({ event_number: 5n })
    })

    it('remembers every request and every batch of it', async () => {
      const { database, tables } = await world(1)
      const [a] = tables as [NewTable]
      const landed = [1n, 2n].map((id) => ({
        requestHash: `h${id}`,
        snapshotIds: [id],
        forgetSnapshotIds: id === 2n ? [1n, 9n] : [],
      }))
      const batch = { requestHash: 'b', snapshotId: 2n, expiresAtMs: NOW_MS + 1 }
      const batches = ['x', 'y'].map((batchId) => ({ ...batch, batchId }))
      await swapMany(database, [swapOf(a, { landed, batches })])
      for (const requestHash of ['h1', 'h2']) {
        expect(await findLandedCommit(database, { tableId: a.id, requestHash })).toMatchObject({
          metadataLocation: `${a.location}/metadata/1.json`,
        })
      }
      const rows = await database.query(
        'select batch_id, snapshot_id from append_batch where table_id = $1 order by batch_id',
        [a.id],
      )
      expect(rows).toEqual([
        { batch_id: 'x', snapshot_id: 2n },
        { batch_id: 'y', snapshot_id: 2n },
      ])
    })

    it('changes nothing when one of its keys has finished elsewhere, and names that key', async () => {
      const { database, warehouse, tables } = await world(1)
      const [a] = tables as [NewTable]
      const [open, taken] = [newId(), newId()]
      const reservation = { warehouseId: warehouse.id, operation: 'updateTable', requestHash: 'h' }
      const times = { nowMs: NOW_MS, leaseMs: 1_000, lifetimeMs: 10_000 }
      await reserveIdempotencyKey(database, { ...reservation, ...times, key: open })
      const ticket = (key: string) => ({ warehouseId: warehouse.id, key, outcome: { status: 204 } })
      const idempotency = [ticket(open), ticket(taken)]
      const [verdict] = await swapMany(database, [swapOf(a, { idempotency })])
      expect(verdict).toEqual({ outcome: 'keys-lost', keys: [taken] })
      expect(await findTableById(database, a.id)).toMatchObject({ version: 0n })
      const retry = swapOf(a, { idempotency: [ticket(open)] })
      expect(await swapMany(database, [retry])).toEqual(['swapped'])
    })
  })

  describe('turns between processes', () => {
    const turnOf = async (database: ReturnType<UseDatabase>, tableId: string) =>
      (await readTurn(database, tableId))?.turn

    it('last through swaps, and go to whoever asked next when they are passed on', async () => {
      const { database, tables } = await world(1)
      const [{ id: tableId, metadataLocation }] = tables as [NewTable]
      const ask = (processId: string) => askForTurn(database, { tableId, processId })
      expect(await ask('p')).toEqual({ turn: 'p', next: undefined, metadataLocation })
      expect(await ask('q')).toEqual({ turn: 'p', next: 'q', metadataLocation })
      expect(await ask('r')).toEqual({ turn: 'p', next: 'q', metadataLocation })
      expect(await readTurn(database, tableId)).toEqual(await ask('r'))
      const [table] = tables as [NewTable]
      expect(await swapMany(database, [swapOf(table)])).toEqual(['swapped'])
      expect(await turnOf(database, tableId)).toBe('p')
      await passTurn(database, { tableId, processId: 'p' })
      expect(await turnOf(database, tableId)).toBe('q')
      expect(await findTableById(database, tableId)).toMatchObject({ commitTurn: 'q' })
      await passTurn(database, { tableId, processId: 'r' })
      expect(await turnOf(database, tableId)).toBe('q')
      await passTurn(database, { tableId, processId: 'q' })
      expect(await turnOf(database, tableId)).toBeUndefined()
    })

    it('are taken from a process that did nothing with its turn', async () => {
      const { database, tables } = await world(1)
      const [{ id: tableId, metadataLocation }] = tables as [NewTable]
      await askForTurn(database, { tableId, processId: 'dead' })
      await askForTurn(database, { tableId, processId: 'p' })
      const seen = { turn: 'dead', metadataLocation }
      await seizeTurn(database, { tableId, processId: 'p', seen: { ...seen, turn: 'other' } })
      expect(await turnOf(database, tableId)).toBe('dead')
      await seizeTurn(database, { tableId, processId: 'p', seen })
      expect(await turnOf(database, tableId)).toBe('p')
      await passTurn(database, { tableId, processId: 'p' })
      expect(await turnOf(database, tableId)).toBeUndefined()
    })
  })

  describe('the batcher', () => {
    it('I2 lets exactly one of many swaps from one base win, beside others', async () => {
      const { database, tables } = await world(8)
      const batcher = new SwapBatcher(database)
      const [hot, ...others] = tables as [NewTable, ...NewTable[]]
      const racers = Array.from({ length: 20 }, (_, i) =>
        batcher.swap(swapOf(hot, { next: `m${i}` })),
      )
      const quiet = others.map((table) => batcher.swap(swapOf(table)))
      expect(await Promise.all(quiet)).toEqual(Array(7).fill('swapped'))
      const outcomes = await Promise.all(racers)
      expect(outcomes.filter((outcome) => outcome === 'swapped')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(19)
      const row = await findTableById(database, hot.id)
      expect(row?.metadataLocation).toBe(`m${outcomes.indexOf('swapped')}`)
    })

    it('answers each swap alone when the database refuses them together', async () => {
      const { database, tables } = await world(3)
      const [a, b, c] = tables as [NewTable, NewTable, NewTable]
      const batcher = new SwapBatcher(database)
      const bad = swapOf(b, { events: [event('table-committed', '\u0000')] })
      const outcomes = await Promise.allSettled([
        batcher.swap(swapOf(a)),
        batcher.swap(bad),
        batcher.swap(swapOf(c)),
      ])
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await findTableById(database, a.id)).toMatchObject({ version: 1n })
      expect(await findTableById(database, b.id)).toMatchObject({ version: 0n })
    })
  })
}
