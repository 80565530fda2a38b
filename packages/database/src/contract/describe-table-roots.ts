import { describe, expect, it } from 'vitest'
import { commitTables } from '../commit-tables.ts'
import { LocationTakenError } from '../database-errors.ts'
import {
  beginPurge,
  findDroppedTable,
  findTableSharing,
  markTablePurged,
  undropTable,
} from '../dropped-tables.ts'
import { findTableById, findTablesNear } from '../find-tables.ts'
import type { NamespaceRow } from '../namespaces.ts'
import { type MetadataSwap, swapMetadataLocation } from '../swap-metadata-location.ts'
import { listExtraRoots, listTablesOfUnknownRoots, recordRoots } from '../table-roots.ts'
import { createTable, dropTable, type NewTable, overwriteTable } from '../tables.ts'
import {
  event,
  newId,
  newNamespace,
  newWarehouse,
  NOW_MS,
  tableIn,
  type UseDatabase,
} from './contract-world.ts'

/** What holds for folders of tables beside their location. */
export function describeTableRoots(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    return {
      database,
      warehouse,
      namespace,
      at: (place: string) => `${namespace.location}/${place}`,
    }
  }
  const rooted = (
    namespace: NamespaceRow,
    name: string,
    ...roots: readonly string[]
  ): NewTable => ({
    ...tableIn(namespace, name),
    location: `${namespace.location}/${name}`,
    extraRoots: roots.map((root) => ({ location: `${namespace.location}/${root}` })),
  })
  const change = (kind: Parameters<typeof event>[0], nowMs = NOW_MS) => ({
    nowMs,
    event: event(kind),
  })
  const swapOf = (table: NewTable, next: string, nowMs = NOW_MS): MetadataSwap => ({
    tableId: table.id,
    expected: table.metadataLocation,
    next,
    tableUuid: table.tableUuid,
    location: table.location,
    ...change('table-committed', nowMs),
  })
  const drop = (tableId: string, purgeRequested = false) =>
    dropTable(useDatabase(), { tableId, purgeRequested, ...change('table-dropped') })
  const stateOf = async (id: string) => (await findTableById(useDatabase(), id))?.rootState

  describe('folders beside the location', () => {
    it.each(['elsewhere', 'elsewhere/below', 'else', 'other/data'])(
      'I15 keeps a table at %s out of the data of another one, and finds it there',
      async (place) => {
        const { database, warehouse, namespace, at } = await world()
        const owner = rooted(namespace, 'owner', 'elsewhere', 'other/data/deep', 'else/deep')
        expect(await createTable(database, owner)).toBe('created')
        expect(await stateOf(owner.id)).toBe('some')
        await expect(createTable(database, rooted(namespace, place))).rejects.toThrow(
          LocationTakenError,
        )
        const asRoot = rooted(namespace, 'second', place)
        await expect(createTable(database, asRoot)).rejects.toThrow(LocationTakenError)
        const near = { warehouseId: warehouse.id, location: at(place) }
        expect((await findTablesNear(database, near)).map(({ id }) => id)).toEqual([owner.id])
        const sharing = { tableUuid: newId(), metadataLocation: 'none', folder: at(place) }
        expect((await findTableSharing(database, sharing))?.id).toBe(owner.id)
      },
    )

    it('I15 keeps data out of the location of another table, and tells siblings apart', async () => {
      const { database, namespace } = await world()
      await createTable(database, rooted(namespace, 'orders', 'data/orders'))
      for (const root of ['orders', 'orders/data', 'data']) {
        const table = rooted(namespace, 'second', root)
        await expect(createTable(database, table), root).rejects.toThrow(LocationTakenError)
      }
      const beside = rooted(namespace, 'orders2', 'data/orders2')
      expect(await createTable(database, beside)).toBe('created')
      expect(await stateOf(beside.id)).toBe('some')
    })

    it('I15 compares folders of tables with those of views, and not views with each other', async () => {
      const { database, namespace } = await world()
      const view = { ...rooted(namespace, 'v', 'views'), kind: 'view' as const }
      await createTable(database, view)
      const table = rooted(namespace, 'views/t')
      await expect(createTable(database, table)).rejects.toThrow(LocationTakenError)
      const other = { ...rooted(namespace, 'views/w'), name: 'w', kind: 'view' as const }
      expect(await createTable(database, other)).toBe('created')
    })

    it('I15 a commit takes no folder of another table, and changes nothing then', async () => {
      const { database, namespace, at } = await world()
      const owner = rooted(namespace, 'owner', 'data/owner')
      const other = rooted(namespace, 'other')
      for (const table of [owner, other]) await createTable(database, table)
      for (const root of ['data/owner', 'data', 'data/owner/below', 'owner/data']) {
        const extra = [at(root)]
        const roots = { extra, fresh: extra, left: [other.location] }
        const swap = swapMetadataLocation(database, { ...swapOf(other, 'm1'), roots })
        await expect(swap, root).rejects.toThrow(LocationTakenError)
        const step = { ...swapOf(other, 'm1'), change: 'swap' as const, moves: true, roots }
        const hold = {
          change: 'hold' as const,
          tableId: owner.id,
          expected: owner.metadataLocation,
        }
        const set = commitTables(database, { steps: [step, hold], nowMs: NOW_MS })
        await expect(set, root).rejects.toThrow(LocationTakenError)
        const overwrite = { ...other, tableId: other.id, roots, ...change('table-registered') }
        await expect(overwriteTable(database, overwrite)).rejects.toThrow(LocationTakenError)
      }
      expect(await listExtraRoots(database, other.id)).toEqual([])
      expect(await stateOf(other.id)).toBe('none')
    })
  })

  describe('folders that were given up', () => {
    const moved = async () => {
      const { database, namespace, at } = await world()
      const table = rooted(namespace, 'table', 'data/one')
      await createTable(database, table)
      const left = [table.location, at('data/one')]
      const roots = { extra: [at('data/two')], fresh: [at('data/two')], left }
      const swap = { ...swapOf(table, 'm1', NOW_MS + 1), roots }
      expect(await swapMetadataLocation(database, swap)).toBe('swapped')
      return { database, namespace, at, table: { ...table, metadataLocation: 'm1' } }
    }

    it("stay on record and stay the table's own", async () => {
      const { database, namespace, at, table } = await moved()
      expect(await listExtraRoots(database, table.id)).toEqual([
        { location: at('data/two') },
        { location: at('data/one'), leftAtMs: NOW_MS + 1 },
      ])
      for (const place of ['data/one', 'data/two/below'])
        await expect(createTable(database, rooted(namespace, place))).rejects.toThrow(
          LocationTakenError,
        )
    })

    it('are in use again when the table comes back, and are part of a location around them', async () => {
      const { database, at, table } = await moved()
      const left = [table.location, at('data/two')]
      const back = { extra: [at('data/one')], fresh: [at('data/one')], left }
      await swapMetadataLocation(database, { ...swapOf(table, 'm2', NOW_MS + 2), roots: back })
      expect(await listExtraRoots(database, table.id)).toEqual([
        { location: at('data/one') },
        { location: at('data/two'), leftAtMs: NOW_MS + 2 },
      ])
      const after = { ...table, metadataLocation: 'm2', location: at('data') }
      const around = {
        extra: [],
        fresh: [at('data')],
        left: [table.location, at('data/one')],
      }
      await swapMetadataLocation(database, { ...swapOf(after, 'm3', NOW_MS + 3), roots: around })
      expect(await listExtraRoots(database, table.id)).toEqual([
        { location: table.location, leftAtMs: NOW_MS + 3 },
      ])
      expect(await stateOf(table.id)).toBe('some')
    })

    it('keep an old location too, with or without word of the folders', async () => {
      const { database, namespace, at } = await world()
      const table = rooted(namespace, 'table')
      await createTable(database, table)
      expect(await stateOf(table.id)).toBe('none')
      await swapMetadataLocation(database, { ...swapOf(table, 'm1'), location: at('new') })
      expect(await listExtraRoots(database, table.id)).toEqual([
        { location: table.location, leftAtMs: NOW_MS },
      ])
      expect(await stateOf(table.id)).toBe('some')
    })

    it('are forgotten where nothing can be left in them, and for another table of the name', async () => {
      const { database, namespace, at, table } = await moved()
      const empty = { extra: [at('data/three')], fresh: [at('data/three')], left: undefined }
      await swapMetadataLocation(database, { ...swapOf(table, 'm2'), roots: empty })
      expect(await listExtraRoots(database, table.id)).toEqual([{ location: at('data/three') }])
      expect(await createTable(database, rooted(namespace, 'data/one'))).toBe('created')
      const overwrite = { ...table, tableId: table.id, metadataLocation: 'm3', tableUuid: newId() }
      const roots = { extra: [], fresh: [], left: undefined }
      await overwriteTable(database, { ...overwrite, roots, ...change('table-registered') })
      expect(await listExtraRoots(database, table.id)).toEqual([])
      expect(await stateOf(table.id)).toBe('none')
    })

    it('wait for a dropped table to come back, free for others meanwhile', async () => {
      const { database, namespace, at, table } = await moved()
      await drop(table.id)
      const other = rooted(namespace, 'data/one')
      expect(await createTable(database, other)).toBe('created')
      const undrop = { tableId: table.id, namespaceId: namespace.id, name: 'table' }
      const back = () => undropTable(database, { ...undrop, ...change('table-registered') })
      await expect(back()).rejects.toThrow(LocationTakenError)
      await drop(other.id)
      expect(await back()).toBe('restored')
      expect(await listExtraRoots(database, table.id)).toEqual([
        { location: at('data/two') },
        { location: at('data/one'), leftAtMs: NOW_MS + 1 },
      ])
    })

    it('are forgotten with the purge of the table', async () => {
      const { database, table } = await moved()
      await drop(table.id, true)
      const dropped = await findDroppedTable(database, table.id)
      if (dropped === undefined) throw new Error('the table is not dropped')
      await beginPurge(database, { ...dropped, nowMs: NOW_MS })
      expect(await listExtraRoots(database, table.id)).toHaveLength(2)
      await markTablePurged(database, { tableId: table.id, nowMs: NOW_MS })
      expect(await listExtraRoots(database, table.id)).toEqual([])
    })
  })

  describe('folders that nobody looked at yet', () => {
    it('are recorded once, and not over what a commit says', async () => {
      const { database, namespace, at } = await world()
      const [first, second] = ['first', 'second'].map((name) => {
        const { extraRoots: _, ...table } = rooted(namespace, name)
        return table
      })
      if (first === undefined || second === undefined) throw new Error('there are two tables')
      for (const table of [first, second]) await createTable(database, table)
      const unknown = async () =>
        (await listTablesOfUnknownRoots(database, { limit: 1_000 })).map(({ id }) => id)
      expect(await unknown()).toEqual(expect.arrayContaining([first.id, second.id]))
      const record = { tableId: first.id, extra: [at('data')] }
      expect(await recordRoots(database, record)).toBe('recorded')
      expect(await recordRoots(database, { ...record, extra: [] })).toBe('known')
      expect(await listExtraRoots(database, first.id)).toEqual([{ location: at('data') }])
      expect(await stateOf(first.id)).toBe('some')
      const roots = { extra: [at('more')], fresh: [at('more')], left: [second.location, at('old')] }
      await swapMetadataLocation(database, { ...swapOf(second, 'm1'), roots })
      expect(await recordRoots(database, { tableId: second.id, extra: [at('late')] })).toBe('known')
      expect(await listExtraRoots(database, second.id)).toEqual([
        { location: at('more') },
        { location: at('old'), leftAtMs: NOW_MS },
      ])
      expect(await unknown()).not.toContain(first.id)
    })
  })
}
