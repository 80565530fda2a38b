import type { TableRow } from '@timelake/database/table-row'
import { readLiveFiles } from '@timelake/iceberg/io/snapshot-files'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  compactionInput,
  mainSnapshot,
  unreadableReason,
} from '@timelake/timelake/contract/compaction-input'
import type { CompactionPlan } from '@timelake/timelake/contract/compaction-plan'
import { describePlan } from '@timelake/timelake/contract/describe-plan'
import { planCompaction } from '@timelake/timelake/contract/plan-compaction'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'

/** What a compaction of the table would do now, from the same planner that the job uses. Changes nothing. */
export async function dryRunCompaction(catalog: Catalog, row: TableRow): Promise<JsonObject> {
  const warehouse = await catalog.warehouses.byId(row.warehouseId)
  const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
  const plan = await planNow(warehouse, metadata, catalog.context.nowMs())
  return { 'table-id': row.id, ...describePlan(plan) }
}

async function planNow(
  { store }: Warehouse,
  metadata: TableMetadata,
  nowMs: number,
): Promise<CompactionPlan> {
  const input = compactionInput({ metadata, nowMs })
  const early = planCompaction(input)
  const snapshot = mainSnapshot(metadata)
  if (early.outcome === 'skipped' || snapshot === undefined) return early
  const live = await readLiveFiles(
    (location, options) => store.get(normalizeLocation(location), options),
    { metadata, snapshot },
    { allowedPrefixes: input.allowedPrefixes },
  )
  if (live.outcome !== 'read') {
    return { ...early, outcome: 'skipped', reason: unreadableReason(live) }
  }
  return planCompaction(compactionInput({ metadata, live, nowMs }))
}
