import { createNamespace, dropNamespace } from '@timelake/database/namespaces'
import type { Database } from '@timelake/database/sql-session'
import { createTable, dropTable, renameTable } from '@timelake/database/tables'
import { ensureWarehouse } from '@timelake/database/warehouses'
import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import { openNameRecords } from '@timelake/storage/name-records'
import type { ObjectStore } from '@timelake/storage/object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepNames, type NameKeeper } from './keep-names.ts'

const WAREHOUSE = { id: 'w', name: 'main', location: 'file:///lake' }

let database: Database
let keepers: NameKeeper[]

beforeEach(async () => {
  keepers = []
  database = await openTestDatabase()
  await ensureWarehouse(database, { ...WAREHOUSE, nowMs: 1 })
})

afterEach(async () => {
  for (const keeper of keepers) await keeper.stop()
  await database.close()
})

const keeperOver = (store: ObjectStore) => {
  const stores = sameStoreForAll(store)
  const log = pino({ level: 'silent' })
  const keeper = keepNames({ database, stores, log, intervalMs: 3_600_000 })
  keepers.push(keeper)
  return { records: openNameRecords(store, WAREHOUSE.location), keeper }
}

const event = <Kind extends string>(kind: Kind) => ({ kind, payload: '{}' }) as const

const makeNamespace = (id: string, level: string, warehouseId = WAREHOUSE.id) =>
  createNamespace(database, {
    id,
    warehouseId,
    levels: [level],
    properties: { k: 'v' },
    nowMs: 1,
    event: event('namespace-created'),
  })

const makeRow = (id: string, kind: 'table' | 'view') =>
  createTable(database, {
    id,
    kind,
    warehouseId: WAREHOUSE.id,
    namespaceId: 'n1',
    name: id,
    tableUuid: `u-${id}`,
    location: `file:///lake/${id}`,
    metadataLocation: `file:///lake/${id}/metadata/0.metadata.json`,
    nowMs: 1,
    event: event('table-created'),
  })

it('follows creations and drops, and catches up with what it missed', async () => {
  const store = openMemoryObjectStore()
  const first = keeperOver(store)
  await makeNamespace('n1', 'a')
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

it('records views beside tables and forgets either when it is dropped', async () => {
  const { keeper, records } = keeperOver(openMemoryObjectStore())
  await makeNamespace('n1', 'a')
  await makeRow('t', 'table')
  await makeRow('v', 'view')
  await keeper.catchUp()
  await keeper.catchUp()
  const kinds = async () => (await records.readAll()).records.map(({ kind, id }) => `${kind} ${id}`)
  expect((await kinds()).sort()).toEqual(['namespace n1', 'table t', 'view v'])
  const drop = { purgeRequested: false, nowMs: 2, event: event('table-dropped') }
  await dropTable(database, { ...drop, tableId: 'v' })
  await dropTable(database, { ...drop, tableId: 't' })
  await keeper.catchUp()
  expect(await kinds()).toEqual(['namespace n1'])
})

it('keeps the names of every warehouse, also of one that is made later', async () => {
  const store = openMemoryObjectStore()
  const { keeper } = keeperOver(store)
  await makeNamespace('n1', 'a')
  await keeper.catchUp()
  await ensureWarehouse(database, { id: 'w2', name: 'cold', location: 's3://cold/lake', nowMs: 1 })
  await makeNamespace('n2', 'b', 'w2')
  await keeper.catchUp()
  await keeper.catchUp()
  const { records } = await openNameRecords(store, 's3://cold/lake').readAll()
  expect(records).toMatchObject([{ kind: 'namespace', id: 'n2', levels: ['b'] }])
})

it('records the other warehouses while the store of one is gone', async () => {
  const store = openMemoryObjectStore()
  const broken: ObjectStore = {
    ...store,
    list: (prefix) => {
      if (prefix.startsWith('s3://gone')) throw new Error('gone')
      return store.list(prefix)
    },
  }
  await ensureWarehouse(database, { id: 'w0', name: 'gone', location: 's3://gone/lake', nowMs: 1 })
  const { keeper, records } = keeperOver(broken)
  await makeNamespace('n1', 'a')
  await expect(keeper.catchUp().then(() => keeper.catchUp())).rejects.toMatchObject({
    errors: [{ message: 'gone' }],
  })
  expect((await records.readAll()).records).toMatchObject([{ id: 'n1' }])
})

it('writes what the database says when another process wrote something newer meanwhile', async () => {
  const store = openMemoryObjectStore()
  const other = keeperOver(store)
  await makeNamespace('n1', 'a')
  await makeRow('t', 'table')
  await other.keeper.catchUp()
  let isFirst = true
  const slow: ObjectStore = {
    ...store,
    putIfAbsent: async (location, bytes) => {
      if (isFirst && location.includes('/table/')) {
        isFirst = false
        await rename('newest')
        await other.keeper.catchUp()
      }
      return store.putIfAbsent(location, bytes)
    },
  }
  const rename = (name: string) =>
    renameTable(database, {
      tableId: 't',
      toNamespaceId: 'n1',
      toName: name,
      nowMs: 3,
      event: event('table-renamed'),
    })
  const { keeper, records } = keeperOver(slow)
  await keeper.catchUp()
  await rename('newer')
  await keeper.catchUp()
  expect(isFirst).toBe(false)
  const names = (await records.readAll()).records.filter(({ kind }) => kind === 'table')
  expect(names).toMatchObject([{ id: 't', name: 'newest' }])
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
  await makeNamespace('n2', 'b')
  await expect(keeper.catchUp().then(() => keeper.catchUp())).rejects.toMatchObject({
    errors: [{ name: 'StoreUnavailableError' }],
  })
  await keeper.stop()
  expect((await records.readAll()).records).toMatchObject([{ id: 'n2' }])
})
