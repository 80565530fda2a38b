import { describe, expect, it } from 'vitest'
import { reserveIdempotencyKey } from '../idempotency.ts'
import { createNamespace } from '../namespaces.ts'
import { createTable, dropTable } from '../tables.ts'
import {
  createWarehouse,
  deleteWarehouse,
  findWarehouse,
  findWarehouseById,
  listWarehouses,
  updateWarehouse,
  type WarehouseRow,
  type WarehouseUpdate,
} from '../warehouses.ts'
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

const overlapsNone = (): boolean => false

/** What warehouses.ts promises. */
export function describeWarehouses(useDatabase: UseDatabase): void {
  const wanted = () => {
    const id = newId()
    return { id, name: `made-${id}`, location: `s3://lake/${id}`, nowMs: NOW_MS }
  }
  const change = (row: WarehouseRow): WarehouseUpdate => {
    const { id, version, location, storageProfile, sealedCredentials, settings } = row
    const kept = { location, storageProfile, sealedCredentials, settings }
    return { id, expectedVersion: version, ...kept, nowMs: NOW_MS + 1 }
  }

  describe('creating warehouses', () => {
    it('keeps what it is given and finds it by name and id', async () => {
      const database = useDatabase()
      const warehouse = {
        ...wanted(),
        storageProfile: '{"type":"s3","region":"x","path-style":true}',
        sealedCredentials: 'v1.sealed',
        settings: '{"defaults":{}}',
      }
      const made = await createWarehouse(database, warehouse, overlapsNone)
      const { nowMs, ...rest } = warehouse
      const row = { ...rest, version: 0n }
      expect(nowMs).toBe(NOW_MS)
      expect(made).toEqual({ outcome: 'created', row })
      expect(await findWarehouse(database, warehouse.name)).toEqual(row)
      expect(await findWarehouseById(database, warehouse.id)).toEqual(row)
      expect(await listWarehouses(database)).toContainEqual(row)
    })

    it('refuses a name that is taken, before it looks at places', async () => {
      const database = useDatabase()
      const first = await newWarehouse(database)
      const second = { ...wanted(), name: first.name }
      expect(await createWarehouse(database, second, () => true)).toEqual({ outcome: 'exists' })
      const otherCase = { ...wanted(), name: first.name.toUpperCase() }
      expect(await createWarehouse(database, otherCase, overlapsNone)).toMatchObject({
        outcome: 'created',
      })
    })

    it('refuses a place that overlaps with another warehouse, and names it', async () => {
      const database = useDatabase()
      const first = await newWarehouse(database)
      const second = wanted()
      const outcome = await createWarehouse(database, second, ({ id }) => id === first.id)
      expect(outcome).toEqual({ outcome: 'location-taken', by: first })
      expect(await findWarehouse(database, second.name)).toBeUndefined()
    })

    it('lets one of many racers for a place win', async () => {
      const database = useDatabase()
      const location = `s3://lake/race-${newId()}`
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, () =>
          createWarehouse(
            database,
            { ...wanted(), location },
            (other) => other.location === location,
          ),
        ),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
      expect(outcomes.filter(({ outcome }) => outcome === 'location-taken')).toHaveLength(5)
    })
  })

  describe('changing warehouses', () => {
    it('replaces everything but the name and counts the change', async () => {
      const database = useDatabase()
      const row = await newWarehouse(database)
      const next = {
        ...change(row),
        location: 's3://elsewhere/x',
        storageProfile: '{"type":"s3","region":"y","path-style":false}',
        sealedCredentials: 'v1.other',
        settings: '{"delegation":[]}',
      }
      const { expectedVersion, nowMs, ...rest } = next
      expect([expectedVersion, nowMs]).toEqual([0n, NOW_MS + 1])
      const updated = { ...rest, name: row.name, version: 1n }
      expect(await updateWarehouse(database, next, overlapsNone)).toEqual({
        outcome: 'updated',
        row: updated,
      })
      expect(await findWarehouseById(database, row.id)).toEqual(updated)
      const without = { ...change(updated), sealedCredentials: undefined }
      expect(await updateWarehouse(database, without, overlapsNone)).toMatchObject({
        row: { sealedCredentials: undefined, version: 2n },
      })
    })

    it('refuses a change that was made from an older version: one of two writers wins', async () => {
      const database = useDatabase()
      const row = await newWarehouse(database)
      const outcomes = await Promise.all(
        ['a', 'b'].map((settings) =>
          updateWarehouse(database, { ...change(row), settings }, overlapsNone),
        ),
      )
      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['stale', 'updated'])
    })

    it('answers missing for a warehouse that is gone', async () => {
      const update = { ...change(await newWarehouse(useDatabase())), id: newId() }
      expect(await updateWarehouse(useDatabase(), update, overlapsNone)).toEqual({
        outcome: 'missing',
      })
    })

    it('does not compare a warehouse with itself, but with all others', async () => {
      const database = useDatabase()
      const [row, other] = [await newWarehouse(database), await newWarehouse(database)]
      const asked: string[] = []
      await updateWarehouse(database, change(row), ({ id }) => asked.push(id) < 0)
      expect(asked).toContain(other.id)
      expect(asked).not.toContain(row.id)
      const taken = await updateWarehouse(
        database,
        { ...change(row), expectedVersion: 1n },
        ({ id }) => id === other.id,
      )
      expect(taken).toEqual({ outcome: 'location-taken', by: other })
    })

    it('keeps the location of a warehouse that holds anything, and changes the rest', async () => {
      const database = useDatabase()
      const row = await newWarehouse(database)
      await newNamespace(database, row)
      const moved = { ...change(row), location: 's3://elsewhere/y' }
      expect(await updateWarehouse(database, moved, overlapsNone)).toEqual({
        outcome: 'not-empty',
        contents: { namespaces: 1, tables: 0, views: 0, droppedTables: 0 },
      })
      const rotated = { ...change(row), sealedCredentials: 'v1.new' }
      expect(await updateWarehouse(database, rotated, overlapsNone)).toMatchObject({
        outcome: 'updated',
        row: { location: row.location, sealedCredentials: 'v1.new' },
      })
    })
  })

  describe('deleting warehouses', () => {
    const remove = (id: string, isForced = false) =>
      deleteWarehouse(useDatabase(), { id, isForced })
    const drop = (tableId: string, purgeRequested = false) =>
      dropTable(useDatabase(), {
        tableId,
        purgeRequested,
        nowMs: NOW_MS,
        event: event('table-dropped'),
      })

    it('removes an empty one with its idempotency keys, once', async () => {
      const database = useDatabase()
      const { id } = await newWarehouse(database)
      await reserveIdempotencyKey(database, {
        warehouseId: id,
        key: newId(),
        operation: 'createNamespace',
        requestHash: 'h',
        nowMs: NOW_MS,
        leaseMs: 1,
        lifetimeMs: 1,
      })
      expect(await remove(id)).toEqual({ outcome: 'deleted' })
      expect(await findWarehouseById(database, id)).toBeUndefined()
      const keys = await database.query('select 1 from idempotency_key where warehouse_id = $1', [
        id,
      ])
      expect(keys).toEqual([])
      expect(await remove(id)).toEqual({ outcome: 'missing' })
    })

    it('counts what holds it: namespaces, tables, views and dropped tables', async () => {
      const database = useDatabase()
      const warehouse = await newWarehouse(database)
      const namespace = await newNamespace(database, warehouse)
      await newTable(database, namespace, 'a')
      await createTable(database, { ...tableIn(namespace, 'v'), kind: 'view' })
      await drop((await newTable(database, namespace, 'b')).id)
      for (const isForced of [false, true]) {
        expect(await remove(warehouse.id, isForced)).toEqual({
          outcome: 'not-empty',
          contents: { namespaces: 1, tables: 1, views: 1, droppedTables: 1 },
        })
      }
    })

    it('is held by dropped tables alone, unless it is forced or they are purged', async () => {
      const database = useDatabase()
      for (const isPurged of [false, true]) {
        const warehouse = await newWarehouse(database)
        const namespace = await newNamespace(database, warehouse)
        const { id } = await newTable(database, namespace)
        await drop(id, true)
        await database.query('delete from namespace where id = $1', [namespace.id])
        if (isPurged) {
          await database.query('update dropped_table set purged_at_ms = 1 where id = $1', [id])
        } else {
          expect(await remove(warehouse.id)).toMatchObject({ contents: { droppedTables: 1 } })
        }
        expect(await remove(warehouse.id, !isPurged)).toEqual({ outcome: 'deleted' })
        const left = await database.query('select 1 from dropped_table where id = $1', [id])
        expect(left).toEqual([])
      }
    })

    it('never loses a namespace that is made at the same time', async () => {
      const database = useDatabase()
      for (let round = 0; round < 5; round += 1) {
        const warehouse = await newWarehouse(database)
        const creation = {
          id: newId(),
          warehouseId: warehouse.id,
          levels: ['race'],
          properties: {},
          nowMs: NOW_MS,
          event: event('namespace-created'),
        }
        const [made, removed] = await Promise.all([
          createNamespace(database, creation),
          remove(warehouse.id),
        ])
        const isThere = (await findWarehouseById(database, warehouse.id)) !== undefined
        expect(isThere).toBe(removed.outcome === 'not-empty')
        expect(made.outcome).toBe(isThere ? 'created' : 'parent-missing')
      }
    })
  })
}
