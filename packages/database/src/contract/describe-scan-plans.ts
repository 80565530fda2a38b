import { describe, expect, it } from 'vitest'
import {
  deleteScanPlan,
  findScanPlan,
  finishScanPlan,
  insertScanPlan,
  pruneScanPlans,
} from '../scan-plans.ts'
import { newWarehouse, NOW_MS, type UseDatabase } from './contract-world.ts'

/** What scan-plans.ts promises. */
export function describeScanPlans(useDatabase: UseDatabase): void {
  const begin = async (id: string, more: { pagesText?: string; expiresAtMs?: number } = {}) => {
    const database = useDatabase()
    const warehouse = await newWarehouse(database)
    const plan = { id, warehouseId: warehouse.id, scanText: '{"scan":1}', expiresAtMs: NOW_MS + 1 }
    await insertScanPlan(database, { ...plan, ...more })
    return { database, key: { id, warehouseId: warehouse.id, nowMs: NOW_MS } }
  }

  describe('plans of scans', () => {
    it('are there until their time is over, for their warehouse alone', async () => {
      const { database, key } = await begin('plan-a')
      expect(await findScanPlan(database, key)).toEqual({
        scanText: '{"scan":1}',
        pagesText: undefined,
        failureText: undefined,
      })
      expect(await findScanPlan(database, { ...key, nowMs: NOW_MS + 1 })).toBeUndefined()
      expect(await findScanPlan(database, { ...key, warehouseId: 'other' })).toBeUndefined()
    })

    it('keep the first outcome', async () => {
      const { database, key } = await begin('plan-b')
      const planned = { outcome: 'planned', pagesText: '[]' } as const
      const failed = { outcome: 'failed', failureText: '{}' } as const
      expect(await finishScanPlan(database, key.id, planned)).toBe('finished')
      expect(await finishScanPlan(database, key.id, failed)).toBe('gone')
      expect(await findScanPlan(database, key)).toMatchObject({
        pagesText: '[]',
        failureText: undefined,
      })
    })

    it('take no outcome after they were cancelled', async () => {
      const { database, key } = await begin('plan-c')
      await deleteScanPlan(database, key.id)
      const failed = { outcome: 'failed', failureText: '{}' } as const
      expect(await finishScanPlan(database, key.id, failed)).toBe('gone')
      expect(await findScanPlan(database, key)).toBeUndefined()
    })

    it('are pruned when their time is over, the oldest first', async () => {
      const { database, key } = await begin('plan-d', { expiresAtMs: NOW_MS - 2, pagesText: '[]' })
      await begin('plan-e', { expiresAtMs: NOW_MS - 1 })
      expect(await pruneScanPlans(database, { nowMs: NOW_MS, limit: 1 })).toBe(1)
      const left = await database.query('select id from scan_plan where expires_at_ms <= $1', [
        NOW_MS,
      ])
      expect(left).toEqual([{ id: 'plan-e' }])
      expect(await pruneScanPlans(database, { nowMs: NOW_MS, limit: 10 })).toBe(1)
      expect(await findScanPlan(database, { ...key, nowMs: 0 })).toBeUndefined()
    })
  })
}
