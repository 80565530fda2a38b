import { describe, expect, it } from 'vitest'
import { LocationTakenError } from '../database-errors.ts'
import { findDroppedTable } from '../dropped-tables.ts'
import {
  findTable,
  findTableById,
  findTablesNear,
  listTables,
  listWarehouseTables,
} from '../find-tables.ts'
import { swapMetadataLocation } from '../swap-metadata-location.ts'
import { createTable, dropTable, renameTable } from '../tables.ts'
import {
  event,
  eventsOf,
  newNamespace,
  newTable,
  newView,
  newWarehouse,
  NOW_MS,
  tableIn,
  viewIn,
  type UseDatabase,
} from './contract-world.ts'

/** What tables.ts, find-tables.ts and swap-metadata-location.ts promise for views. */
export function describeViews(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    return { database, warehouse, namespace: await newNamespace(database, warehouse) }
  }

  describe('views', () => {
    it('share their names with tables, and rows say which they are', async () => {
      const { database, warehouse, namespace } = await world()
      const view = await newView(database, namespace, 'name')
      expect(await createTable(database, tableIn(namespace, 'name'))).toBe('exists')
      expect(await createTable(database, viewIn(namespace, 'name'))).toBe('exists')
      await newTable(database, namespace, 'other')
      expect(await createTable(database, viewIn(namespace, 'other'))).toBe('exists')
      const name = { warehouseId: warehouse.id, levels: ['ns'], name: 'name' }
      expect(await findTable(database, name)).toMatchObject({ id: view.id, kind: 'view' })
      expect((await findTable(database, { ...name, name: 'other' }))?.kind).toBe('table')
      expect((await findTableById(database, view.id))?.kind).toBe('view')
    })

    it('are listed apart from tables, page by page', async () => {
      const { database, warehouse, namespace } = await world()
      const names = ['a', 'B', 'b', 'ä']
      for (const name of names) {
        await newView(database, namespace, `v${name}`)
        await newTable(database, namespace, `t${name}`)
      }
      const list = { namespaceId: namespace.id }
      expect(await listTables(database, { ...list, kind: 'view' })).toEqual([
        'vB',
        'va',
        'vb',
        'vä',
      ])
      expect(await listTables(database, list)).toEqual(['tB', 'ta', 'tb', 'tä'])
      const page = { ...list, kind: 'view' as const, after: 'vB', limit: 2 }
      expect(await listTables(database, page)).toEqual(['va', 'vb'])
      const tables = await listWarehouseTables(database, { warehouseId: warehouse.id, limit: 100 })
      expect(tables.map(({ kind }) => kind)).toEqual(names.map(() => 'table'))
    })

    it('may share a folder with each other, and none with a table', async () => {
      const { database, warehouse, namespace } = await world()
      const view = await newView(database, namespace, 'v')
      const at = (location: string) => ({ ...viewIn(namespace, location), location })
      expect(await createTable(database, at(view.location))).toBe('created')
      expect(await createTable(database, at(`${view.location}/below`))).toBe('created')
      const near = { warehouseId: warehouse.id, location: view.location }
      expect(await findTablesNear(database, near)).toHaveLength(3)
      const table = { ...tableIn(namespace, 't'), location: view.location }
      await expect(createTable(database, table)).rejects.toThrow(LocationTakenError)
      const other = await newTable(database, namespace, 'other')
      await expect(createTable(database, at(`${other.location}/v`))).rejects.toThrow(
        LocationTakenError,
      )
    })

    it('move by swap, onto each other and never onto a table', async () => {
      const { database, namespace } = await world()
      const [view, there] = [
        await newView(database, namespace, 'v'),
        await newView(database, namespace, 'w'),
      ]
      const table = await newTable(database, namespace, 't')
      const swap = {
        tableId: view.id,
        tableUuid: view.tableUuid,
        expected: view.metadataLocation,
        next: 'file:///lake/next',
        nowMs: NOW_MS,
        event: event('view-committed'),
      }
      const onto = { ...swap, location: `${table.location}/v` }
      await expect(swapMetadataLocation(database, onto)).rejects.toThrow(LocationTakenError)
      expect(await swapMetadataLocation(database, { ...swap, location: there.location })).toBe(
        'swapped',
      )
      expect((await eventsOf(database, view.id)).map(({ kind }) => kind)).toEqual([
        'view-created',
        'view-committed',
      ])
    })

    it('are renamed and dropped as views', async () => {
      const { database, namespace } = await world()
      const view = await newView(database, namespace, 'v')
      await newTable(database, namespace, 't')
      const rename = {
        tableId: view.id,
        toNamespaceId: namespace.id,
        toName: 'w',
        nowMs: NOW_MS,
        event: event('view-renamed'),
      }
      expect(await renameTable(database, { ...rename, toName: 't' })).toBe('exists')
      expect(await renameTable(database, rename)).toBe('renamed')
      const drop = { tableId: view.id, purgeRequested: false, nowMs: NOW_MS }
      expect(await dropTable(database, { ...drop, event: event('view-dropped') })).toBe('dropped')
      expect(await findDroppedTable(database, view.id)).toMatchObject({ kind: 'view', name: 'w' })
      expect(await createTable(database, tableIn(namespace, 'w'))).toBe('created')
    })
  })
}
