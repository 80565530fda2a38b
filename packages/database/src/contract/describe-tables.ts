import { describe, expect, it } from 'vitest'
import { LocationTakenError } from '../database-errors.ts'
import {
  beginPurge,
  findDroppedTable,
  findTableSharing,
  markTablePurged,
} from '../dropped-tables.ts'
import {
  findTable,
  findTableById,
  findTablesNear,
  listTables,
  listWarehouseTables,
} from '../find-tables.ts'
import { findLandedCommit } from '../landed-commits.ts'
import { requestJob, listSchedules } from '../maintenance-schedule.ts'
import { dropNamespace } from '../namespaces.ts'
import { createTable, dropTable, overwriteTable, renameTable, restoreTable } from '../tables.ts'
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

/** What tables.ts, dropped-tables.ts and find-tables.ts promise. */
export function describeTables(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    return { database, warehouse, namespace: await newNamespace(database, warehouse) }
  }
  const change = (kind: Parameters<typeof event>[0]) => ({ nowMs: NOW_MS, event: event(kind) })

  describe('creating and finding tables', () => {
    it('creates a table that is found by name and by id', async () => {
      const { database, warehouse, namespace } = await world()
      const table = await newTable(database, namespace)
      const row = {
        id: table.id,
        kind: 'table' as const,
        warehouseId: warehouse.id,
        namespaceId: namespace.id,
        levels: ['ns'],
        name: 't',
        tableUuid: table.tableUuid,
        location: table.location,
        metadataLocation: table.metadataLocation,
        version: 0n,
        rootState: 'unknown' as const,
      }
      const name = { warehouseId: warehouse.id, levels: ['ns'], name: 't' }
      expect(await findTable(database, name)).toEqual(row)
      expect(await findTableById(database, table.id)).toEqual(row)
      expect(await eventsOf(database, table.id)).toMatchObject([
        { event_id: `${table.id}-1`, event_number: 1n, kind: 'table-created', name: 't' },
      ])
    })

    it('answers exists for a taken name and changes nothing', async () => {
      const { database, namespace } = await world()
      const first = await newTable(database, namespace)
      const second = tableIn(namespace)
      expect(await createTable(database, second)).toBe('exists')
      expect(await findTableById(database, second.id)).toBeUndefined()
      expect(await eventsOf(database, second.id)).toEqual([])
      expect(await findTableById(database, first.id)).toBeDefined()
    })

    it('answers namespace-missing for a namespace that is gone or of another warehouse', async () => {
      const { database, namespace } = await world()
      const other = await newWarehouse(database)
      const table = tableIn(namespace)
      expect(await createTable(database, { ...table, namespaceId: newId() })).toBe(
        'namespace-missing',
      )
      expect(await createTable(database, { ...table, warehouseId: other.id })).toBe(
        'namespace-missing',
      )
    })

    it('lets exactly one of many racers create a name', async () => {
      const { database, namespace } = await world()
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => createTable(database, tableIn(namespace, 'race'))),
      )
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(19)
    })

    it('keeps names apart that differ by case or normal form: B008, B010', async () => {
      const { database, warehouse, namespace } = await world()
      const names = ['Orders', 'orders', 'caf\u00e9', 'cafe\u0301', 'a.b', '?;"\\', '\u{1f600}']
      for (const name of names) await newTable(database, namespace, name)
      for (const name of names) {
        const found = await findTable(database, { warehouseId: warehouse.id, levels: ['ns'], name })
        expect(found?.name).toBe(name)
      }
      expect(await listTables(database, { namespaceId: namespace.id })).toHaveLength(names.length)
    })

    it.each(['', 'a\0b', 'a\u001fb', '\ud800'])('finds no table named %j', async (name) => {
      const { database, warehouse, namespace } = await world()
      await newTable(database, namespace, 'a')
      const answer = findTable(database, { warehouseId: warehouse.id, levels: ['ns'], name })
      expect(await answer).toBeUndefined()
      expect(await findTableById(database, name)).toBeUndefined()
    })

    it('pages through names by code point, a full last page included: B017', async () => {
      const { database, namespace } = await world()
      const names = ['A', 'B', 'a', 'b', '\uffff', '\u{1f600}']
      for (const name of [...names].reverse()) await newTable(database, namespace, name)
      const page = (after?: string) =>
        listTables(database, { namespaceId: namespace.id, after, limit: 3 })
      expect(await page()).toEqual(['A', 'B', 'a'])
      expect(await page('a')).toEqual(['b', '\uffff', '\u{1f600}'])
      expect(await page('\u{1f600}')).toEqual([])
    })

    it('pages through all tables of a warehouse', async () => {
      const { database, warehouse, namespace } = await world()
      const ids = []
      for (const name of ['x', 'y', 'z']) ids.push((await newTable(database, namespace, name)).id)
      const page = await listWarehouseTables(database, { warehouseId: warehouse.id, limit: 2 })
      const rest = await listWarehouseTables(database, {
        warehouseId: warehouse.id,
        afterId: page.at(-1)?.id,
        limit: 2,
      })
      expect([...page, ...rest].map((row) => row.id)).toEqual(ids.sort())
    })
  })

  describe('locations', () => {
    it('finds tables that equal, contain or lie inside a location, by whole segments', async () => {
      const { database, warehouse, namespace } = await world()
      const at = async (name: string, location: string) =>
        createTable(database, { ...tableIn(namespace, name), location })
      const root = warehouse.location
      for (const leaf of ['a/b', 'a/bc', 'a-b', 'a b', 'a/c/d', 'é/x', 'A/b'])
        await at(leaf, `${root}/${leaf}`)
      const near = async (leaf: string) => {
        const rows = await findTablesNear(database, {
          warehouseId: warehouse.id,
          location: `${root}/${leaf}`,
        })
        return rows.map((row) => row.location.slice(root.length + 1)).sort()
      }
      expect(await near('a/b')).toEqual(['a/b'])
      expect(await near('a/b/c/d')).toEqual(['a/b'])
      expect(await near('a')).toEqual(['a/b', 'a/bc', 'a/c/d'])
      expect(await near('a/c')).toEqual(['a/c/d'])
      expect(await near('a/%')).toEqual([])
      expect(await near('a/b0')).toEqual([])
      expect(await near('é')).toEqual(['é/x'])
    })

    it('does not see the tables of another warehouse', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      const other = await newWarehouse(database)
      const request = { warehouseId: other.id, location: table.location }
      expect(await findTablesNear(database, request)).toEqual([])
    })

    it.each(['', '/inside', '/inside/deep'])(
      'refuses a location that is or lies in another table: B195 (%j)',
      async (suffix) => {
        const { database, namespace } = await world()
        const first = await newTable(database, namespace)
        const second = { ...tableIn(namespace, 'second'), location: first.location + suffix }
        await expect(createTable(database, second)).rejects.toThrow(LocationTakenError)
        expect(await findTableById(database, second.id)).toBeUndefined()
      },
    )

    it('refuses a location that holds other tables: B195', async () => {
      const { database, warehouse, namespace } = await world()
      await newTable(database, namespace)
      const second = tableIn(namespace, 'second')
      const around = [namespace.location, warehouse.location, 'file:///lake', 'file://']
      for (const location of around) {
        await expect(createTable(database, { ...second, location })).rejects.toThrow(
          LocationTakenError,
        )
      }
      const beside = `${namespace.location}-2`
      expect(await createTable(database, { ...second, location: beside })).toBe('created')
    })

    it('lets exactly one of two racers take a location', async () => {
      const { database, namespace } = await world()
      const location = `${namespace.location}/shared`
      const outcomes = await Promise.allSettled(
        ['one', 'two', 'three'].map((name) =>
          createTable(database, { ...tableIn(namespace, name), location }),
        ),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    })
  })

  describe('overwriting a table', () => {
    it('points the name at another metadata file and forgets landed commits', async () => {
      const { database, namespace } = await world()
      const table = {
        ...tableIn(namespace),
        landed: { requestHash: 'h', snapshotIds: [1n], forgetSnapshotIds: [] },
      }
      await createTable(database, table)
      const overwrite = {
        tableId: table.id,
        tableUuid: newId(),
        location: `${namespace.location}/other`,
        metadataLocation: `${namespace.location}/other/metadata/v7.json`,
        ...change('table-registered'),
      }
      expect(await overwriteTable(database, overwrite)).toBe('overwritten')
      expect(await findTableById(database, table.id)).toMatchObject({
        tableUuid: overwrite.tableUuid,
        location: overwrite.location,
        metadataLocation: overwrite.metadataLocation,
        version: 1n,
      })
      expect(
        await findLandedCommit(database, { tableId: table.id, requestHash: 'h' }),
      ).toBeUndefined()
      expect(await overwriteTable(database, { ...overwrite, tableId: newId() })).toBe('missing')
    })

    it('refuses the location of another table and keeps the pointer', async () => {
      const { database, namespace } = await world()
      const first = await newTable(database, namespace, 'first')
      const second = await newTable(database, namespace, 'second')
      const overwrite = {
        tableId: second.id,
        tableUuid: newId(),
        location: `${first.location}/sub`,
        metadataLocation: 'file:///lake/m',
        ...change('table-registered'),
      }
      await expect(overwriteTable(database, overwrite)).rejects.toThrow(LocationTakenError)
      expect(await findTableById(database, second.id)).toMatchObject({
        metadataLocation: second.metadataLocation,
      })
    })
  })

  describe('dropping and restoring a table', () => {
    it('keeps the last state, the purge wish and no schedule: B079', async () => {
      const { database, warehouse, namespace } = await world()
      const kept = await newTable(database, namespace, 'kept')
      const purged = await newTable(database, namespace, 'purged')
      const job = { tableId: kept.id, jobKind: 'compact', dueAtMs: 1, reason: 'test' }
      await requestJob(database, job)
      const drop = change('table-dropped')
      expect(await dropTable(database, { tableId: kept.id, purgeRequested: false, ...drop })).toBe(
        'dropped',
      )
      expect(await dropTable(database, { tableId: purged.id, purgeRequested: true, ...drop })).toBe(
        'dropped',
      )
      expect(await dropTable(database, { tableId: kept.id, purgeRequested: false, ...drop })).toBe(
        'missing',
      )
      const rows = await database.query(
        `select name, metadata_location, purge_requested, dropped_at_ms from dropped_table
         where warehouse_id = $1 order by name`,
        [warehouse.id],
      )
      const dropped_at_ms = BigInt(NOW_MS)
      expect(rows).toEqual([
        {
          name: 'kept',
          metadata_location: kept.metadataLocation,
          purge_requested: false,
          dropped_at_ms,
        },
        {
          name: 'purged',
          metadata_location: purged.metadataLocation,
          purge_requested: true,
          dropped_at_ms,
        },
      ])
      expect(await listSchedules(database, kept.id)).toEqual([])
      expect(await findTableById(database, kept.id)).toBeUndefined()
    })

    it('gives a table of the same name another id and other events: B022', async () => {
      const { database, namespace } = await world()
      const first = await newTable(database, namespace)
      await dropTable(database, {
        tableId: first.id,
        purgeRequested: false,
        ...change('table-dropped'),
      })
      const second = await newTable(database, namespace)
      expect(await eventsOf(database, second.id)).toMatchObject([{ event_number: 1n }])
      expect(await eventsOf(database, first.id)).toMatchObject([
        { event_number: 1n },
        { event_number: 2n, kind: 'table-dropped' },
      ])
    })

    it('restores a dropped table under its id, and its events go on', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      await dropTable(database, {
        tableId: table.id,
        purgeRequested: false,
        ...change('table-dropped'),
      })
      expect(await restoreTable(database, { ...table, version: 7n })).toBe('restored')
      expect(await findTableById(database, table.id)).toMatchObject({ version: 7n })
      const numbers = (await eventsOf(database, table.id)).map((stored) => stored.event_number)
      expect(numbers).toEqual([1n, 2n, 3n])
      const left = await database.query('select 1 from dropped_table where id = $1', [table.id])
      expect(left).toEqual([])
    })

    it('keeps the dropped state when the name is taken meanwhile', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      await dropTable(database, {
        tableId: table.id,
        purgeRequested: false,
        ...change('table-dropped'),
      })
      await newTable(database, namespace)
      expect(await restoreTable(database, { ...table, version: 7n })).toBe('exists')
      const left = await database.query('select 1 from dropped_table where id = $1', [table.id])
      expect(left).toHaveLength(1)
    })
  })

  describe('purging a dropped table', () => {
    const dropped = async (purgeRequested: boolean) => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace)
      const drop = { tableId: table.id, purgeRequested, ...change('table-dropped') }
      await dropTable(database, drop)
      return { database, namespace, table, tableId: table.id }
    }

    it('keeps the last state of the table and marks it purged once', async () => {
      const { database, table, tableId } = await dropped(true)
      const { id, name, location, tableUuid, metadataLocation } = table
      const row = { id, name, location, tableUuid, metadataLocation, levels: ['ns'] }
      const state = { ...row, purgeRequested: true, droppedAtMs: NOW_MS, purgedAtMs: undefined }
      expect(await findDroppedTable(database, tableId)).toMatchObject(state)
      expect(await markTablePurged(database, { tableId, nowMs: 5 })).toBe('marked')
      expect(await markTablePurged(database, { tableId, nowMs: 9 })).toBe('marked')
      expect(await findDroppedTable(database, tableId)).toMatchObject({ purgedAtMs: 5 })
    })

    it('does not bring a table back whose files are gone or about to go', async () => {
      const { database, table, tableId } = await dropped(true)
      const restore = () => restoreTable(database, { ...table, version: 7n })
      const found = await findDroppedTable(database, tableId)
      expect(found && (await beginPurge(database, { ...found, nowMs: 4 }))).toBe('begun')
      expect(await restore()).toBe('purged')
      await markTablePurged(database, { tableId, nowMs: 5 })
      expect(await restore()).toBe('purged')
      expect(await findTableById(database, tableId)).toBeUndefined()
      expect(await findDroppedTable(database, tableId)).toMatchObject({ purgedAtMs: 5 })
      expect(await eventsOf(database, tableId)).toHaveLength(2)
    })

    it('B079: does not mark a table whose purge nobody asked for, or that is live', async () => {
      const { database, namespace, tableId } = await dropped(false)
      const live = await newTable(database, namespace, 'live')
      for (const id of [tableId, live.id, newId()]) {
        expect(await markTablePurged(database, { tableId: id, nowMs: 5 })).toBe('missing')
      }
      expect(await findDroppedTable(database, live.id)).toBeUndefined()
      expect(await findDroppedTable(database, '\0')).toBeUndefined()
    })

    it('B080: finds live tables that share its UUID, metadata file or folder', async () => {
      const { database, namespace, table } = await dropped(true)
      const { tableUuid, metadataLocation, location: folder } = table
      const sharing = async () =>
        (await findTableSharing(database, { tableUuid, metadataLocation, folder }))?.name
      await newTable(database, namespace, 'unrelated')
      expect(await sharing()).toBeUndefined()
      const variants = { tableUuid, metadataLocation, location: `${folder}/inside` }
      for (const [key, value] of Object.entries(variants)) {
        const other = { ...tableIn(namespace, key), [key]: value }
        expect(await createTable(database, other)).toBe('created')
        expect(await sharing()).toBe(key)
        const drop = { tableId: other.id, purgeRequested: false, ...change('table-dropped') }
        await dropTable(database, drop)
      }
    })
  })

  describe('renaming a table', () => {
    it('moves the name and keeps everything else', async () => {
      const { database, warehouse, namespace } = await world()
      const target = await newNamespace(database, warehouse, ['target'])
      const table = await newTable(database, namespace)
      const rename = {
        tableId: table.id,
        toNamespaceId: target.id,
        toName: 'new',
        ...change('table-renamed'),
      }
      expect(await renameTable(database, rename)).toBe('renamed')
      const old = { warehouseId: warehouse.id, levels: ['ns'], name: 't' }
      expect(await findTable(database, old)).toBeUndefined()
      const found = await findTable(database, { ...old, levels: ['target'], name: 'new' })
      expect(found).toMatchObject({
        id: table.id,
        tableUuid: table.tableUuid,
        location: table.location,
      })
      expect((await eventsOf(database, table.id)).at(-1)).toMatchObject({
        event_number: 2n,
        kind: 'table-renamed',
        name: 'new',
      })
    })

    it('refuses a taken name, its own included, a missing table and a missing namespace', async () => {
      const { database, namespace } = await world()
      const table = await newTable(database, namespace, 'a')
      await newTable(database, namespace, 'b')
      const rename = (tableId: string, toNamespaceId: string, toName: string) =>
        renameTable(database, { tableId, toNamespaceId, toName, ...change('table-renamed') })
      expect(await rename(table.id, namespace.id, 'b')).toBe('exists')
      expect(await rename(table.id, namespace.id, 'a')).toBe('exists')
      expect(await rename(newId(), namespace.id, 'c')).toBe('missing')
      expect(await rename(table.id, newId(), 'c')).toBe('namespace-missing')
      expect(await eventsOf(database, table.id)).toHaveLength(1)
    })

    it('lets exactly one of many racers take a name', async () => {
      const { database, namespace } = await world()
      const tables = []
      for (let i = 0; i < 8; i++) tables.push(await newTable(database, namespace, `t${i}`))
      const outcomes = await Promise.all(
        tables.map((table) =>
          renameTable(database, {
            tableId: table.id,
            toNamespaceId: namespace.id,
            toName: 'prize',
            ...change('table-renamed'),
          }),
        ),
      )
      expect(outcomes.filter((outcome) => outcome === 'renamed')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(7)
    })

    it('never leaves a table in a namespace that is dropped at the same time', async () => {
      const { database, warehouse } = await world()
      for (let i = 0; i < 5; i++) {
        const namespace = await newNamespace(database, warehouse, [`race-${i}`])
        const [created, dropped] = await Promise.all([
          createTable(database, tableIn(namespace)),
          dropNamespace(database, { namespaceId: namespace.id, ...change('namespace-dropped') }),
        ])
        if (dropped === 'dropped') expect(created).toBe('namespace-missing')
        else expect(created).toBe('created')
      }
    })
  })
}
