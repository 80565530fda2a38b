import { describe, expect, it } from 'vitest'
import { LocationTakenError } from '../database-errors.ts'
import {
  beginPurge,
  cancelPurge,
  type DroppedTableRow,
  findDroppedTable,
  listDroppedTables,
  markTablePurged,
  requestPurge,
  undropTable,
} from '../dropped-tables.ts'
import { findTableById } from '../find-tables.ts'
import { listSchedules, requestJob } from '../maintenance-schedule.ts'
import { createTable, dropTable } from '../tables.ts'
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

const JOB_KIND = 'purge-table'

/** What dropped-tables.ts promises of purges and of tables that come back. */
export function describeDroppedTables(useDatabase: UseDatabase): void {
  const world = async (purgeRequested = false) => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const table = await newTable(database, namespace)
    const drop = { tableId: table.id, purgeRequested, nowMs: NOW_MS }
    await dropTable(database, { ...drop, event: event('table-dropped') })
    return { database, warehouse, namespace, table, tableId: table.id }
  }
  const stateOf = async (id: string): Promise<DroppedTableRow> => {
    const row = await findDroppedTable(useDatabase(), id)
    if (row === undefined) throw new Error('the table is not dropped')
    return row
  }
  const begin = async (id: string, nowMs = 7) =>
    beginPurge(useDatabase(), { ...(await stateOf(id)), nowMs })
  const ask = (tableId: string, nowMs = NOW_MS + 5) =>
    requestPurge(useDatabase(), {
      tableId,
      nowMs,
      jobKind: JOB_KIND,
      dueAtMs: nowMs + 10,
      reason: 'asked',
    })
  const keep = (tableId: string) => cancelPurge(useDatabase(), { tableId, jobKind: JOB_KIND })
  const undrop = (tableId: string, to: { namespaceId: string; name?: string }) =>
    undropTable(useDatabase(), {
      tableId,
      name: 't',
      ...to,
      nowMs: NOW_MS + 9,
      event: event('table-registered'),
    })

  describe('listing dropped tables', () => {
    it('shows the last dropped first, in pages, those of one warehouse', async () => {
      const { database, warehouse, namespace, tableId } = await world()
      const ids = [tableId]
      for (const nowMs of [NOW_MS + 1, NOW_MS + 1, NOW_MS + 2]) {
        const { id } = await newTable(database, namespace)
        const drop = { tableId: id, purgeRequested: false, nowMs }
        await dropTable(database, { ...drop, event: event('table-dropped') })
        ids.push(id)
      }
      const [first, second, third, fourth] = ids
      const read = async () => {
        const rows: DroppedTableRow[] = []
        for (;;) {
          const page = await listDroppedTables(database, {
            warehouseId: warehouse.id,
            after: rows.at(-1),
            limit: 1,
            jobKind: JOB_KIND,
          })
          if (page.length === 0) return rows.map(({ id }) => id)
          rows.push(...page)
        }
      }
      expect(await read()).toEqual([fourth, ...[second, third].sort(), first])
      await ask(tableId)
      const page = { warehouseId: warehouse.id, limit: 9, jobKind: JOB_KIND }
      const dues = (await listDroppedTables(database, page)).map((row) => row.purgeDueAtMs)
      expect(dues).toEqual([undefined, undefined, undefined, NOW_MS + 15])
    })
  })

  describe('asking for a purge after the drop', () => {
    it('schedules the job once, and its grace counts from the request', async () => {
      const { tableId } = await world()
      expect(await stateOf(tableId)).toMatchObject({ purgeRequestedAtMs: undefined })
      expect(await ask(tableId)).toBe('requested')
      expect(await ask(tableId, NOW_MS + 50)).toBe('requested-before')
      expect(await stateOf(tableId)).toMatchObject({
        purgeRequested: true,
        purgeRequestedAtMs: NOW_MS + 5,
        purgeStartedAtMs: undefined,
      })
      const [schedule] = await listSchedules(useDatabase(), tableId)
      expect(schedule).toMatchObject({ jobKind: JOB_KIND, dueAtMs: NOW_MS + 15, reason: 'asked' })
    })

    it('counts the grace of a drop with a purge from the drop', async () => {
      const { tableId } = await world(true)
      expect(await stateOf(tableId)).toMatchObject({ purgeRequestedAtMs: NOW_MS })
      expect(await ask(tableId)).toBe('requested-before')
    })

    it('is taken back until the purge has begun', async () => {
      const { tableId } = await world(true)
      expect(await ask(newId())).toBe('missing')
      expect(await keep(newId())).toBe('missing')
      await requestJob(useDatabase(), { tableId, jobKind: JOB_KIND, dueAtMs: 1, reason: 'x' })
      expect(await keep(tableId)).toBe('kept')
      expect(await keep(tableId)).toBe('kept')
      expect(await stateOf(tableId)).toMatchObject({
        purgeRequested: false,
        purgeRequestedAtMs: undefined,
      })
      expect(await listSchedules(useDatabase(), tableId)).toEqual([])
      expect(await ask(tableId)).toBe('requested')
      expect(await begin(tableId)).toBe('begun')
      expect(await keep(tableId)).toBe('purge-begun')
      expect(await markTablePurged(useDatabase(), { tableId, nowMs: 9 })).toBe('marked')
      expect(await keep(tableId)).toBe('purge-begun')
    })
  })

  describe('beginning a purge', () => {
    it('keeps the first time, for a purge that goes on after an interruption', async () => {
      const { tableId } = await world(true)
      expect(await begin(tableId, 7)).toBe('begun')
      expect(await begin(tableId, 8)).toBe('begun')
      expect(await stateOf(tableId)).toMatchObject({ purgeStartedAtMs: 7 })
    })

    it('is refused when nobody asks for it, or for another purge than the one that was read', async () => {
      const { tableId } = await world()
      expect(await begin(tableId)).toBe('changed')
      await ask(tableId)
      const read = await stateOf(tableId)
      await keep(tableId)
      expect(await beginPurge(useDatabase(), { ...read, nowMs: 7 })).toBe('changed')
      await ask(tableId, NOW_MS + 60)
      expect(await beginPurge(useDatabase(), { ...read, nowMs: 7 })).toBe('changed')
      expect(await begin(tableId)).toBe('begun')
    })

    it('is refused for a table that came back and for one that was dropped again', async () => {
      const { database, namespace, tableId } = await world(true)
      const read = await stateOf(tableId)
      await undrop(tableId, { namespaceId: namespace.id })
      expect(await beginPurge(database, { ...read, nowMs: 7 })).toBe('changed')
      const drop = { tableId, purgeRequested: true, nowMs: NOW_MS + 20 }
      await dropTable(database, { ...drop, event: event('table-dropped') })
      expect(await beginPurge(database, { ...read, nowMs: 7 })).toBe('changed')
      expect(await stateOf(tableId)).toMatchObject({ purgeStartedAtMs: undefined })
    })
  })

  describe('bringing a table back', () => {
    it('restores its last state under its id, elsewhere if asked, without its purge', async () => {
      const { database, warehouse, table, tableId } = await world(true)
      const other = await newNamespace(database, warehouse, ['other'])
      await requestJob(database, { tableId, jobKind: JOB_KIND, dueAtMs: 1, reason: 'x' })
      expect(await undrop(tableId, { namespaceId: other.id, name: 'back' })).toBe('restored')
      expect(await findTableById(database, tableId)).toMatchObject({
        levels: ['other'],
        name: 'back',
        tableUuid: table.tableUuid,
        location: table.location,
        metadataLocation: table.metadataLocation,
      })
      expect(await findDroppedTable(database, tableId)).toBeUndefined()
      expect(await listSchedules(database, tableId)).toEqual([])
      const numbers = (await eventsOf(database, tableId)).map((stored) => stored.event_number)
      expect(numbers).toEqual([1n, 2n, 3n])
      expect(await undrop(tableId, { namespaceId: other.id })).toBe('missing')
    })

    it('is refused for a taken name, a taken place, a missing namespace, and keeps the state', async () => {
      const { database, namespace, table, tableId } = await world()
      const [namespaceId, before] = [namespace.id, await stateOf(tableId)]
      await newTable(database, namespace)
      expect(await undrop(tableId, { namespaceId })).toBe('exists')
      expect(await undrop(tableId, { namespaceId: newId() })).toBe('namespace-missing')
      expect(await undrop('\0', { namespaceId })).toBe('missing')
      const location = `${table.location}/inside`
      await createTable(database, { ...tableIn(namespace, 'inside'), location })
      await expect(undrop(tableId, { namespaceId, name: 'free' })).rejects.toThrow(
        LocationTakenError,
      )
      expect(await stateOf(tableId)).toEqual(before)
      expect(await eventsOf(database, tableId)).toHaveLength(2)
    })

    it('is not brought back by its own create, sent again', async () => {
      const { database, table, tableId } = await world(true)
      const before = await stateOf(tableId)
      expect(await createTable(database, table)).toBe('exists')
      expect(await begin(tableId)).toBe('begun')
      expect(await createTable(database, table)).toBe('exists')
      expect(await stateOf(tableId)).toMatchObject({ ...before, purgeStartedAtMs: 7 })
      expect(await eventsOf(database, tableId)).toHaveLength(2)
    })

    it('is refused once the purge has begun', async () => {
      const { namespace, tableId } = await world(true)
      await begin(tableId)
      expect(await undrop(tableId, { namespaceId: namespace.id })).toBe('purge-begun')
      await markTablePurged(useDatabase(), { tableId, nowMs: 9 })
      expect(await undrop(tableId, { namespaceId: namespace.id })).toBe('purge-begun')
    })

    it('and a purge that begins at the same moment: exactly one of them happens', async () => {
      for (let round = 0; round < 8; round += 1) {
        const { database, namespace, tableId } = await world(true)
        const read = await stateOf(tableId)
        const restore = () => undrop(tableId, { namespaceId: namespace.id })
        const purge = () => beginPurge(database, { ...read, nowMs: 7 })
        const [first, second] = round % 2 === 0 ? [restore, purge] : [purge, restore]
        const outcomes = new Set<string>(await Promise.all([first(), second()]))
        expect([
          new Set(['restored', 'changed']),
          new Set(['purge-begun', 'begun']),
        ]).toContainEqual(outcomes)
        const isLive = (await findTableById(database, tableId)) !== undefined
        expect(isLive).toBe(outcomes.has('restored'))
      }
    })
  })
}
