import { describe, expect, it } from 'vitest'
import { findBatches, type LandedBatch, pruneBatches } from '../append-batches.ts'
import type { GroupSwap } from '../swap-many.ts'
import { swapMany } from '../swap-many.ts'
import type { NewTable } from '../tables.ts'
import {
  event,
  newNamespace,
  newTable,
  newWarehouse,
  NOW_MS,
  type UseDatabase,
} from './contract-world.ts'

const EXPIRES_AT_MS = NOW_MS + 1_000

const batch = (batchId: string, changes: Partial<LandedBatch> = {}): LandedBatch => ({
  batchId,
  requestHash: `hash of ${batchId}`,
  snapshotId: 9_151_314_442_816_847_871n,
  expiresAtMs: EXPIRES_AT_MS,
  ...changes,
})

const swapOf = (table: NewTable, batches: readonly LandedBatch[]): GroupSwap => ({
  tableId: table.id,
  expected: table.metadataLocation,
  next: `${table.location}/metadata/next.json`,
  tableUuid: table.tableUuid,
  location: table.location,
  nowMs: NOW_MS,
  events: [event('table-committed')],
  landed: [],
  idempotency: [],
  batches,
})

/** What append-batches.ts promises, together with swap-many.ts, which writes the rows. */
export function describeAppendBatches(useDatabase: UseDatabase): void {
  const world = async () => {
    const database = useDatabase()
    const namespace = await newNamespace(database, await newWarehouse(database))
    return { database, table: await newTable(database, namespace) }
  }

  describe('append batches', () => {
    it('land with the swap, and are found by their ids, table by table', async () => {
      const { database, table } = await world()
      const batches = [batch('a'), batch('b')]
      expect(await swapMany(database, [swapOf(table, batches)])).toEqual(['swapped'])
      const find = (tableId: string, ...batchIds: string[]) =>
        findBatches(database, { tableId, batchIds })
      expect([...(await find(table.id, 'b', 'c', 'a')).values()]).toEqual(
        expect.arrayContaining(batches),
      )
      expect((await find(table.id, 'c')).size).toBe(0)
      expect((await find(table.id)).size).toBe(0)
      expect((await find('another table', 'a')).size).toBe(0)
    })

    it('are not remembered when the swap is stale', async () => {
      const { database, table } = await world()
      const stale = { ...swapOf(table, [batch('a')]), expected: 'somewhere else' }
      expect(await swapMany(database, [stale])).toEqual(['stale'])
      const found = await findBatches(database, { tableId: table.id, batchIds: ['a'] })
      expect(found.size).toBe(0)
    })

    it('are told apart by every character of their ids', async () => {
      const { database, table } = await world()
      const ids = ['a', 'A', 'a ', 'ä', 'a\u0308', "a'; --", '{"a"}', 'a,b']
      await swapMany(database, [
        swapOf(
          table,
          ids.map((id) => batch(id)),
        ),
      ])
      const found = await findBatches(database, { tableId: table.id, batchIds: ids })
      expect([...found.keys()].sort()).toEqual([...ids].sort())
    })

    it('are forgotten when their time is over, the oldest first and no more than asked', async () => {
      const { database, table } = await world()
      // Rows of other cases expire later.
      const batches = [1, 2, 3, 4].map((at) => batch(`p${at}`, { expiresAtMs: at * 10 }))
      await swapMany(database, [swapOf(table, batches)])
      const left = async () => {
        const batchIds = batches.map(({ batchId }) => batchId)
        const found = await findBatches(database, { tableId: table.id, batchIds })
        return [...found.keys()].sort()
      }
      expect(await pruneBatches(database, { expiredBeforeMs: 30, limit: 1 })).toBe(1)
      expect(await left()).toEqual(['p2', 'p3', 'p4'])
      expect(await pruneBatches(database, { expiredBeforeMs: 30, limit: 10 })).toBe(1)
      expect(await left()).toEqual(['p3', 'p4'])
      expect(await pruneBatches(database, { expiredBeforeMs: 30, limit: 10 })).toBe(0)
    })
  })
}
