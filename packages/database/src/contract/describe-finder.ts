import { describe, expect, it } from 'vitest'
import { findTable } from '../find-tables.ts'
import type { Database } from '../sql-session.ts'
import { swapMetadataLocation } from '../swap-metadata-location.ts'
import { TableFinder } from '../table-finder.ts'
import { event, newNamespace, newTable, newWarehouse, type UseDatabase } from './contract-world.ts'

/** What table-finder.ts promises. */
export function describeFinder(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const finder = new TableFinder(database)
    const key = (name: string, levels = ['ns']) => ({ warehouseId: warehouse.id, levels, name })
    return { database, warehouse, namespace, finder, key }
  }

  /** Counts the queries that go through it. */
  const counted = (database: Database, texts: string[]): Database => ({
    query: (text, params) => {
      texts.push(text)
      return database.query(text, params)
    },
    runScript: (text) => database.runScript(text),
    transaction: (run) => database.transaction(run),
    close: () => database.close(),
  })

  describe('finding many tables at once', () => {
    it('answers each look-up like a single one does, in whatever company', async () => {
      const { database, warehouse, namespace, finder, key } = await world()
      const nested = await newNamespace(database, warehouse, ['ns', 'in'])
      for (const name of ['a', 'b', 'A']) await newTable(database, namespace, name)
      await newTable(database, nested, 'a')
      const other = await newNamespace(database, await newWarehouse(database))
      await newTable(database, other, 'c')
      const keys = [
        ...['a', 'A', 'b', 'c', 'a', '', 'a\0'].map((name) => key(name)),
        key('a', ['ns', 'in']),
        key('a', ['ns', 'out']),
        key('a', []),
      ]
      const single = await Promise.all(keys.map((each) => findTable(database, each)))
      expect(single.filter((row) => row !== undefined)).toHaveLength(5)
      expect(await Promise.all(keys.map((each) => finder.find(each)))).toEqual(single)
      expect(await finder.find(key('b'))).toEqual(single[2])
    })

    it('asks once for what waits at the same moment, and again for what comes later', async () => {
      const { database, namespace, key } = await world()
      await newTable(database, namespace, 'a')
      const texts: string[] = []
      const finder = new TableFinder(counted(database, texts))
      const find = () => Promise.all(Array.from({ length: 50 }, () => finder.find(key('a'))))
      expect(new Set((await find()).map((row) => row?.name))).toEqual(new Set(['a']))
      expect(texts.length).toBeLessThanOrEqual(2)
      await find()
      expect(texts.length).toBeLessThanOrEqual(4)
    })

    it('sees every commit that was acknowledged before it was asked', async () => {
      const { database, namespace, finder, key } = await world()
      const table = await newTable(database, namespace, 'a')
      let expected = table.metadataLocation
      for (let round = 0; round < 20; round++) {
        const earlier = [1, 2, 3].map(() => finder.find(key('a')))
        const next = `m${round}`
        const swap = {
          ...table,
          tableId: table.id,
          expected,
          next,
          event: event('table-committed'),
        }
        expect(await swapMetadataLocation(database, swap)).toBe('swapped')
        expected = next
        const rows = await Promise.all([1, 2, 3].map(() => finder.find(key('a'))))
        expect(rows.map((row) => row?.metadataLocation)).toEqual([next, next, next])
        await Promise.all(earlier)
      }
    })

    it('tells everybody who shared a query that it failed, and goes on', async () => {
      const { database, namespace, key } = await world()
      await newTable(database, namespace, 'a')
      let isBroken = true
      const finder = new TableFinder({
        query: (text, params) =>
          isBroken ? Promise.reject(new Error('broken')) : database.query(text, params),
        runScript: (text) => database.runScript(text),
      })
      const results = await Promise.allSettled([1, 2, 3].map(() => finder.find(key('a'))))
      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
      isBroken = false
      expect(await finder.find(key('a'))).toMatchObject({ name: 'a' })
    })
  })
}
