import { describe, expect, it } from 'vitest'
import { FindBatcher, KEYS_PER_QUERY_MAX } from '../find-batcher.ts'
import { findMany } from '../find-many.ts'
import { findTable } from '../find-tables.ts'
import { renameTable } from '../tables.ts'
import {
  event,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

/** What find-many.ts and find-batcher.ts promise. */
export function describeFindBatches(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const namespace = await newNamespace(database, warehouse)
    const other = await newNamespace(database, warehouse, ['ns', 'deep'])
    await newTable(database, namespace, 'a')
    await newTable(database, other, 'a')
    await newTable(database, namespace, 'b')
    const key = (name: string, ...levels: string[]) => ({ warehouseId: warehouse.id, levels, name })
    return { database, namespace, key }
  }

  describe('looking many tables up at once', () => {
    it('answers what findTable answers, in the order of the names', async () => {
      const { database, key } = await world()
      const keys = [
        key('b', 'ns'),
        key('a', 'ns', 'deep'),
        key('nobody', 'ns'),
        key('a', 'ns'),
        key('a', 'nowhere'),
        key('\u0000', 'ns'),
        key('b', 'ns'),
      ]
      const expected = []
      for (const one of keys) expected.push(await findTable(database, one))
      expect(expected.filter((row) => row !== undefined)).toHaveLength(4)
      expect(await findMany(database, keys)).toEqual(expected)
      const batcher = new FindBatcher(database)
      expect(await Promise.all(keys.map((one) => batcher.find(one)))).toEqual(expected)
    })

    it('answers more look-ups than one query takes', async () => {
      const { database, key } = await world()
      const batcher = new FindBatcher(database)
      const keys = Array.from({ length: KEYS_PER_QUERY_MAX * 2 + 1 }, (_, i) =>
        key(i % 2 === 0 ? 'a' : 'b', 'ns'),
      )
      const rows = await Promise.all(keys.map((one) => batcher.find(one)))
      expect(rows.map((row) => row?.name)).toEqual(keys.map(({ name }) => name))
    })

    it('I9 sees what was committed before it was asked, also behind a query that is under way', async () => {
      const { database, namespace, key } = await world()
      const batcher = new FindBatcher(database)
      const first = batcher.find(key('a', 'ns'))
      const row = await findTable(database, key('b', 'ns'))
      await renameTable(database, {
        tableId: row?.id ?? '',
        toNamespaceId: namespace.id,
        toName: 'c',
        nowMs: NOW_MS,
        event: event('table-renamed'),
      })
      const later = [batcher.find(key('b', 'ns')), batcher.find(key('c', 'ns'))]
      expect(await first).toMatchObject({ name: 'a' })
      expect((await Promise.all(later)).map((found) => found?.name)).toEqual([undefined, 'c'])
    })
  })
}
