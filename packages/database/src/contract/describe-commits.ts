import { describe, expect, it } from 'vitest'
import { IdempotencyKeyLostError, LocationTakenError } from '../database-errors.ts'
import { findTableById } from '../find-tables.ts'
import {
  finishIdempotencyKey,
  pruneIdempotencyKeys,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
} from '../idempotency.ts'
import { findLandedCommit } from '../landed-commits.ts'
import { updateNamespaceProperties } from '../namespaces.ts'
import { type MetadataSwap, swapMetadataLocation } from '../swap-metadata-location.ts'
import { createTable, dropTable, type NewTable, renameTable } from '../tables.ts'
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

const LEASE_MS = 1000
const LIFETIME_MS = 10_000

/** What swap-metadata-location.ts, landed-commits.ts and idempotency.ts promise. */
export function describeCommits(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    return { database, warehouse, namespace, table: await newTable(database, namespace) }
  }
  const swapOf = (table: NewTable, next: string): MetadataSwap => ({
    tableId: table.id,
    expected: table.metadataLocation,
    next,
    tableUuid: table.tableUuid,
    location: table.location,
    nowMs: NOW_MS,
    event: event('table-committed', `{"next":${JSON.stringify(next)}}`),
  })

  describe('swapping the metadata location', () => {
    it('moves the pointer once and writes its event', async () => {
      const { database, table } = await world()
      const swap = swapOf(table, 'm1')
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      expect(await swapMetadataLocation(database, swap)).toBe('stale')
      expect(await findTableById(database, table.id)).toMatchObject({
        metadataLocation: 'm1',
        version: 1n,
      })
      expect(await eventsOf(database, table.id)).toMatchObject([
        { event_number: 1n },
        { event_number: 2n, kind: 'table-committed', payload: '{"next":"m1"}' },
      ])
    })

    it('answers missing for a table that is gone', async () => {
      const { database, table } = await world()
      const drop = { tableId: table.id, purgeRequested: false, nowMs: NOW_MS }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      expect(await swapMetadataLocation(database, swapOf(table, 'm1'))).toBe('missing')
    })

    it('I2 lets exactly one of 50 parallel swaps from one base win', async () => {
      const { database, table } = await world()
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          swapMetadataLocation(database, swapOf(table, `m${i}`)),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'swapped')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(49)
      const found = await findTableById(database, table.id)
      expect(found?.metadataLocation).toBe(`m${outcomes.indexOf('swapped')}`)
      expect(await eventsOf(database, table.id)).toHaveLength(2)
    })

    it('I7 numbers the events of a table without gaps, whoever writes them', async () => {
      const { database, namespace, table } = await world()
      let expected = table.metadataLocation
      for (let round = 1; round <= 10; round++) {
        const swaps = [1, 2, 3].map((writer) => ({
          ...swapOf(table, `m${round}-${writer}`),
          expected,
        }))
        const outcomes = await Promise.all(
          swaps.map((swap) => swapMetadataLocation(database, swap)),
        )
        expected = swaps[outcomes.indexOf('swapped')]?.next ?? ''
        const rename = { tableId: table.id, toNamespaceId: namespace.id, toName: `t${round}` }
        await renameTable(database, { ...rename, nowMs: NOW_MS, event: event('table-renamed') })
      }
      const stored = await eventsOf(database, table.id)
      expect(stored.map((row) => row.event_number)).toEqual(
        Array.from({ length: 21 }, (_, i) => BigInt(i + 1)),
      )
      expect(new Set(stored.map((row) => row.event_id)).size).toBe(21)
      expect(await findTableById(database, table.id)).toMatchObject({ version: 10n })
    })

    it('stores a changed UUID and location, and refuses one that is taken: B195', async () => {
      const { database, namespace, table } = await world()
      const other = await newTable(database, namespace, 'other')
      const taken = { ...swapOf(table, 'm1'), location: `${other.location}/inside` }
      await expect(swapMetadataLocation(database, taken)).rejects.toThrow(LocationTakenError)
      const around = { ...taken, location: namespace.location }
      await expect(swapMetadataLocation(database, around)).rejects.toThrow(LocationTakenError)
      const free = { ...taken, location: `${table.location}/deeper`, tableUuid: newId() }
      expect(await swapMetadataLocation(database, free)).toBe('swapped')
      expect(await findTableById(database, table.id)).toMatchObject({
        location: free.location,
        tableUuid: free.tableUuid,
      })
    })

    it('I6 writes neither event nor landed commit when it is stale', async () => {
      const { database, table } = await world()
      const landed = { requestHash: 'h', snapshotIds: [5n], forgetSnapshotIds: [] }
      const stale = { ...swapOf(table, 'm1'), expected: 'elsewhere', landed }
      expect(await swapMetadataLocation(database, stale)).toBe('stale')
      expect(await eventsOf(database, table.id)).toHaveLength(1)
      expect(
        await findLandedCommit(database, { tableId: table.id, requestHash: 'h' }),
      ).toBeUndefined()
    })
  })

  describe('landed commits', () => {
    it('remembers which request added which snapshots until they are removed', async () => {
      const { database, table } = await world()
      const big = 9_151_314_442_816_847_871n
      const first = { requestHash: 'first', snapshotIds: [big, -1n], forgetSnapshotIds: [] }
      await swapMetadataLocation(database, { ...swapOf(table, 'm1'), landed: first })
      const find = (requestHash: string) =>
        findLandedCommit(database, { tableId: table.id, requestHash })
      expect(await find('first')).toEqual({ metadataLocation: 'm1', snapshotIds: [-1n, big] })
      expect(await find('other')).toBeUndefined()
      const second = {
        requestHash: 'second',
        snapshotIds: [2n],
        forgetSnapshotIds: [big, -1n, 77n],
      }
      const swap = { ...swapOf(table, 'm2'), expected: 'm1', landed: second }
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      expect(await find('first')).toBeUndefined()
      expect(await find('second')).toEqual({ metadataLocation: 'm2', snapshotIds: [2n] })
    })

    it('takes the newest request for a snapshot that was removed and added again', async () => {
      const { database, table } = await world()
      const landed = (requestHash: string) => ({
        requestHash,
        snapshotIds: [1n, 1n],
        forgetSnapshotIds: [1n],
      })
      await swapMetadataLocation(database, { ...swapOf(table, 'm1'), landed: landed('a') })
      const again = { ...swapOf(table, 'm2'), expected: 'm1', landed: landed('b') }
      expect(await swapMetadataLocation(database, again)).toBe('swapped')
      const find = (requestHash: string) =>
        findLandedCommit(database, { tableId: table.id, requestHash })
      expect(await find('a')).toBeUndefined()
      expect(await find('b')).toEqual({ metadataLocation: 'm2', snapshotIds: [1n] })
    })

    it('forgets a thousand snapshots in one swap', async () => {
      const { database, table } = await world()
      const snapshotIds = Array.from({ length: 1000 }, (_, i) => BigInt(i))
      const add = { requestHash: 'add', snapshotIds, forgetSnapshotIds: [] }
      await swapMetadataLocation(database, { ...swapOf(table, 'm1'), landed: add })
      const forget = { requestHash: 'forget', snapshotIds: [], forgetSnapshotIds: snapshotIds }
      const swap = { ...swapOf(table, 'm2'), expected: 'm1', landed: forget }
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      const left = await database.query('select 1 from landed_commit where table_id = $1', [
        table.id,
      ])
      expect(left).toEqual([])
    })
  })

  describe('idempotency keys', () => {
    const reservation = (warehouseId: string, key: string, nowMs = NOW_MS) => ({
      warehouseId,
      key,
      operation: 'updateTable ns/t',
      requestHash: 'hash',
      nowMs,
      leaseMs: LEASE_MS,
      lifetimeMs: LIFETIME_MS,
    })

    it('reserves a key for one call and tells others when to come back', async () => {
      const { database, warehouse } = await world()
      const key = newId()
      const mine = reservation(warehouse.id, key)
      expect(await reserveIdempotencyKey(database, mine)).toEqual({ outcome: 'reserved' })
      const later = { ...mine, nowMs: NOW_MS + 400 }
      expect(await reserveIdempotencyKey(database, later)).toEqual({
        outcome: 'running',
        retryAfterMs: 600,
      })
    })

    it('lets exactly one of many callers reserve a key', async () => {
      const { database, warehouse } = await world()
      const key = newId()
      const verdicts = await Promise.all(
        Array.from({ length: 20 }, () =>
          reserveIdempotencyKey(database, reservation(warehouse.id, key)),
        ),
      )
      expect(verdicts.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(1)
      expect(verdicts.filter(({ outcome }) => outcome === 'running')).toHaveLength(19)
    })

    it('refuses the key for another operation or body, running or done', async () => {
      const { database, warehouse } = await world()
      const key = newId()
      const mine = reservation(warehouse.id, key)
      await reserveIdempotencyKey(database, mine)
      const others = [
        { ...mine, operation: 'dropTable ns/t' },
        { ...mine, requestHash: 'other' },
        { ...mine, requestHash: 'other', nowMs: NOW_MS + LEASE_MS },
      ]
      for (const other of others) {
        expect(await reserveIdempotencyKey(database, other)).toEqual({ outcome: 'mismatch' })
      }
      await finishIdempotencyKey(database, mine, { status: 404, body: '{}' })
      for (const other of others) {
        expect(await reserveIdempotencyKey(database, other)).toEqual({ outcome: 'mismatch' })
      }
    })

    it('keeps keys of different warehouses apart', async () => {
      const { database, warehouse } = await world()
      const other = await newWarehouse(database)
      const key = newId()
      await reserveIdempotencyKey(database, reservation(warehouse.id, key))
      const elsewhere = await reserveIdempotencyKey(database, reservation(other.id, key))
      expect(elsewhere).toEqual({ outcome: 'reserved' })
    })

    it('replays a refusal, and never keeps a server error', async () => {
      const { database, warehouse } = await world()
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      await expect(finishIdempotencyKey(database, mine, { status: 500 })).rejects.toThrow()
      const refusal = { status: 409, body: '{"error":{}}' }
      expect(await finishIdempotencyKey(database, mine, refusal)).toBe('finished')
      expect(await finishIdempotencyKey(database, mine, { status: 404 })).toBe('lost')
      expect(await reserveIdempotencyKey(database, mine)).toEqual({ outcome: 'done', ...refusal })
    })

    it('I6 stores the outcome with the swap, and only with the swap', async () => {
      const { database, warehouse, table } = await world()
      const mine = reservation(warehouse.id, newId())
      const ticket = { ...mine, outcome: { status: 200, metadataLocation: 'm1' } }
      await reserveIdempotencyKey(database, mine)
      const stale = { ...swapOf(table, 'm1'), expected: 'elsewhere', idempotency: ticket }
      expect(await swapMetadataLocation(database, stale)).toBe('stale')
      expect(await reserveIdempotencyKey(database, mine)).toMatchObject({ outcome: 'running' })
      const swap = { ...swapOf(table, 'm1'), idempotency: ticket }
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      expect(await reserveIdempotencyKey(database, mine)).toEqual({
        outcome: 'done',
        status: 200,
        metadataLocation: 'm1',
      })
    })

    it('takes over a reservation whose lease is over, and lets only the first of both change something', async () => {
      const { database, warehouse, table } = await world()
      const slow = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, slow)
      const quick = { ...slow, nowMs: NOW_MS + LEASE_MS }
      expect(await reserveIdempotencyKey(database, quick)).toEqual({ outcome: 'reserved' })
      const idempotency = { ...slow, outcome: { status: 200, body: 'quick' } }
      const swap = { ...swapOf(table, 'm1'), idempotency }
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      const late = { ...swapOf(table, 'm2'), expected: 'm1', idempotency }
      await expect(swapMetadataLocation(database, late)).rejects.toThrow(IdempotencyKeyLostError)
      expect(await findTableById(database, table.id)).toMatchObject({ metadataLocation: 'm1' })
      expect(await eventsOf(database, table.id)).toHaveLength(2)
    })

    it('lets one of two owners of a key make something, of whatever kind', async () => {
      const { database, warehouse, namespace } = await world()
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      const idempotency = { ...mine, outcome: { status: 200 } }
      const results = await Promise.allSettled(
        ['a', 'b', 'c'].map((name) =>
          createTable(database, { ...tableIn(namespace, name), idempotency }),
        ),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })

    it('stores an outcome that depends on what was changed', async () => {
      const { database, warehouse, namespace } = await world()
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      await updateNamespaceProperties(database, {
        namespaceId: namespace.id,
        updates: { a: '1' },
        removals: ['gone'],
        nowMs: NOW_MS,
        event: event('namespace-updated'),
        idempotency: (result) => ({
          ...mine,
          outcome: { status: 200, body: result.missing.join() },
        }),
      })
      expect(await reserveIdempotencyKey(database, mine)).toEqual({
        outcome: 'done',
        status: 200,
        body: 'gone',
      })
    })

    it('gives a released key to the next caller, but keeps an outcome', async () => {
      const { database, warehouse } = await world()
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      await releaseIdempotencyKey(database, mine)
      expect(await reserveIdempotencyKey(database, mine)).toEqual({ outcome: 'reserved' })
      await finishIdempotencyKey(database, mine, { status: 404 })
      await releaseIdempotencyKey(database, mine)
      expect(await reserveIdempotencyKey(database, mine)).toEqual({ outcome: 'done', status: 404 })
    })

    it('forgets an outcome after its lifetime, also before it is pruned', async () => {
      const { database, warehouse } = await world()
      const mine = reservation(warehouse.id, newId())
      await reserveIdempotencyKey(database, mine)
      await finishIdempotencyKey(database, mine, { status: 404 })
      const later = { ...mine, requestHash: 'other', nowMs: NOW_MS + LIFETIME_MS }
      expect(await reserveIdempotencyKey(database, later)).toEqual({ outcome: 'reserved' })
    })

    it('prunes what is over, in portions', async () => {
      const { database, warehouse } = await world()
      const key = (nowMs: number) => reservation(warehouse.id, newId(), nowMs)
      const early = NOW_MS - 10 * LIFETIME_MS
      for (let i = 0; i < 3; i++) await reserveIdempotencyKey(database, key(early))
      const young = key(NOW_MS)
      await reserveIdempotencyKey(database, young)
      const nowMs = early + LIFETIME_MS
      expect(await pruneIdempotencyKeys(database, { nowMs, limit: 2 })).toBe(2)
      expect(await pruneIdempotencyKeys(database, { nowMs, limit: 2 })).toBe(1)
      expect(await pruneIdempotencyKeys(database, { nowMs, limit: 2 })).toBe(0)
      expect(await reserveIdempotencyKey(database, young)).toMatchObject({ outcome: 'running' })
    })
  })
}
