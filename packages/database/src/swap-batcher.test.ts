import { openTestDatabase } from '@timelake/testing/open-test-database'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { event, newNamespace, newTable, newWarehouse, NOW_MS } from './contract/contract-world.ts'
import type { Database } from './sql-session.ts'
import { SwapBatcher } from './swap-batcher.ts'
import type { GroupSwap } from './swap-many.ts'
import { isSwapStatement, swapStatement } from './swap-statement.ts'

const LONG_MS = 60_000
const PLAIN = {
  tickets: false,
  landed: false,
  forgotten: false,
  batches: false,
  hasOneEventEach: true,
  isSerial: true,
}

describe('the batcher over the database in this process', () => {
  let database: Database
  let swaps: readonly GroupSwap[]

  beforeAll(async () => {
    database = await openTestDatabase()
    const namespace = await newNamespace(database, await newWarehouse(database))
    const made: GroupSwap[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      const table = await newTable(database, namespace, name)
      const swap = { ...table, tableId: table.id, expected: table.metadataLocation, nowMs: NOW_MS }
      made.push({
        ...swap,
        next: `${table.location}/metadata/1.json`,
        events: [event('table-committed')],
        landed: [],
        idempotency: [],
        batches: [],
      })
    }
    swaps = made
  })
  afterAll(() => database.close())

  /** The batcher, and how many swaps each of its statements had. */
  const countingBatcher = (gatheringMsMax: number) => {
    const sizes: number[] = []
    const query = <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
      const [tableIds] = params
      if (isSwapStatement(text) && Array.isArray(tableIds)) sizes.push(tableIds.length)
      return database.query<Row>(text, params)
    }
    const counting = { ...({ isSerial: true } as const), query, runScript: database.runScript }
    return { sizes, batcher: new SwapBatcher(counting, gatheringMsMax) }
  }
  const swapNumber = (index: number): GroupSwap => {
    const swap = swaps[index]
    if (swap === undefined) throw new Error(`there is no swap ${index}`)
    return swap
  }
  /** Stale, so that each test can do it again. */
  const stale = (index: number): GroupSwap => ({ ...swapNumber(index), expected: 'elsewhere' })

  it('waits until half of the announced swaps are there', async () => {
    const { sizes, batcher } = countingBatcher(LONG_MS)
    const releases: (() => void)[] = []
    const commits = [0, 1, 2, 3].map(async (index) => {
      await batcher.before(() => new Promise<void>((resolve) => releases.push(resolve)))
      return batcher.swap(swapNumber(index))
    })
    const [first, second, ...others] = releases
    first?.()
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(sizes).toEqual([])
    second?.()
    expect(await Promise.all(commits.slice(0, 2))).toEqual(['swapped', 'swapped'])
    expect(sizes).toEqual([2])
    for (const release of others) release()
    expect(await Promise.all(commits)).toEqual(Array(4).fill('swapped'))
    expect(sizes).toEqual([2, 2])
  })

  it('does not wait for a swap that does not come', async () => {
    const { sizes, batcher } = countingBatcher(LONG_MS)
    const failed = [0, 1].map(() => batcher.before(() => Promise.reject(new Error('disk full'))))
    const swapped = batcher.swap(stale(0))
    await expect(Promise.all(failed)).rejects.toThrow('disk full')
    expect(await swapped).toBe('stale')
    expect(sizes).toEqual([1])
  })

  it('waits for slow ones no longer than it may', async () => {
    const { batcher } = countingBatcher(1)
    const slow = [0, 1].map(() => batcher.before(() => new Promise(() => {})))
    expect(await batcher.swap(stale(0))).toBe('stale')
    expect(slow).toHaveLength(2)
  })

  it('enters the pointers by the ids of its tables, whatever their number was when it was planned', async () => {
    const text = swapStatement({ ...PLAIN })
    const count = Math.max(...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
    const nulls = Array.from({ length: count }, () => 'null').join()
    for (const step of ['select 1', 'vacuum analyze catalog_table']) {
      await database.runScript(step)
      await database.runScript(`prepare plain as ${text}`)
      const lines = await database.query<Record<string, string>>(`explain execute plain(${nulls})`)
      await database.runScript('deallocate plain')
      const plan = lines.map((line) => line['QUERY PLAN']).join('\n')
      const entries = [...plan.matchAll(/ on catalog_table .*\n(.*)/g)].map(([, next]) => next)
      const looks = entries.filter((next) => !next?.includes('->'))
      expect(looks.length).toBe(2)
      for (const look of looks) expect(look).toMatch(/Index Cond: .*id = /)
    }
  })

  it('waits for nobody when nobody is announced', async () => {
    const { sizes, batcher } = countingBatcher(LONG_MS)
    expect(await batcher.swap(stale(0))).toBe('stale')
    expect(sizes).toEqual([1])
  })
})
