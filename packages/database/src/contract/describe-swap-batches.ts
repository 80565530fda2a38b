import { describe, expect, it } from 'vitest'
import { IdempotencyKeyLostError } from '../database-errors.ts'
import { findTableById } from '../find-tables.ts'
import { finishIdempotencyKey, reserveIdempotencyKey } from '../idempotency.ts'
import { findLandedCommit } from '../landed-commits.ts'
import { SwapBatcher } from '../swap-batcher.ts'
import { swapMany } from '../swap-many.ts'
import type { MetadataSwap } from '../swap-metadata-location.ts'
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
  const swapOf = (table: NewTable, more: Partial<MetadataSwap> = {}): MetadataSwap => ({
    tableId: table.id,
    expected: table.metadataLocation,
    next: `${table.location}/metadata/1.json`,
    tableUuid: table.tableUuid,
    location: table.location,
    nowMs: NOW_MS,
    event: event('table-committed', `{"of":"${table.name}"}`),
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
      await swapMany(database, [swapOf(a, { landed }), swapOf(b)])
      expect(await findLandedCommit(database, { tableId: a.id, requestHash: 'h1' })).toEqual({
        metadataLocation: `${a.location}/metadata/1.json`,
        snapshotIds: [1n, 2n],
      })
      const second = { requestHash: 'h2', snapshotIds: [3n], forgetSnapshotIds: [1n, 2n, 3n] }
      const expected = `${a.location}/metadata/1.json`
      await swapMany(database, [swapOf(a, { expected, next: 'm2', landed: second }), swapOf(b)])
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
        swapOf(a, { idempotency: ticket(open) }),
        swapOf(b, { idempotency: ticket(done) }),
        swapOf(c),
      ])
      expect([first, third]).toEqual(['swapped', 'swapped'])
      expect(second).toBeInstanceOf(IdempotencyKeyLostError)
      expect(await findTableById(database, b.id)).toMatchObject({ version: 0n })
      expect(await reserveIdempotencyKey(database, reservation(open))).toEqual({
        outcome: 'done',
        status: 200,
        metadataLocation: `m-${open}`,
      })
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
      const bad = swapOf(b, { event: event('table-committed', '\u0000') })
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
