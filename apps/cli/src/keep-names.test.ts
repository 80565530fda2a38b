import { createNamespace, dropNamespace } from '@timelake/database/namespaces'
import type { Database } from '@timelake/database/sql-session'
import { ensureWarehouse } from '@timelake/database/warehouses'
import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import { openNameRecords } from '@timelake/storage/name-records'
import type { ObjectStore } from '@timelake/storage/object-store'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keepNames } from './keep-names.ts'

const WAREHOUSE = { id: 'w', name: 'main', location: 'file:///lake' }

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
  await ensureWarehouse(database, { ...WAREHOUSE, nowMs: 1 })
})

afterAll(() => database.close())

const keeperOver = (store: ObjectStore) => {
  const records = openNameRecords(store, WAREHOUSE.location)
  const keeper = keepNames({
    database,
    records,
    warehouseId: WAREHOUSE.id,
    log: pino({ level: 'silent' }),
    intervalMs: 3_600_000,
  })
  return { records, keeper }
}

const event = (kind: 'namespace-created' | 'namespace-dropped') =>
  ({ kind, payload: '{}' }) as const

it('follows creations and drops, and catches up with what it missed', async () => {
  const store = openMemoryObjectStore()
  const first = keeperOver(store)
  const namespace = { id: 'n1', warehouseId: WAREHOUSE.id, levels: ['a'], properties: { k: 'v' } }
  await createNamespace(database, { ...namespace, nowMs: 1, event: event('namespace-created') })
  await first.keeper.catchUp()
  await first.keeper.catchUp()
  expect((await first.records.readAll()).records).toEqual([
    { kind: 'namespace', id: 'n1', levels: ['a'], properties: { k: 'v' } },
  ])
  await first.keeper.stop()
  await dropNamespace(database, { namespaceId: 'n1', nowMs: 2, event: event('namespace-dropped') })
  const second = keeperOver(store)
  await second.keeper.stop()
  expect((await second.records.readAll()).records).toEqual([])
})

it('tries again after the store failed', async () => {
  const store = openMemoryObjectStore()
  let failures = 1
  const flaky: ObjectStore = {
    ...store,
    putIfAbsent: async (location, bytes) => {
      if (failures-- > 0) return 'unknown'
      return store.putIfAbsent(location, bytes)
    },
  }
  const { records, keeper } = keeperOver(flaky)
  const namespace = { id: 'n2', warehouseId: WAREHOUSE.id, levels: ['b'], properties: {} }
  await createNamespace(database, { ...namespace, nowMs: 1, event: event('namespace-created') })
  await expect(keeper.catchUp().then(() => keeper.catchUp())).rejects.toThrow('unknown')
  await keeper.stop()
  expect((await records.readAll()).records).toMatchObject([{ id: 'n2' }])
})
