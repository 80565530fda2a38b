import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import { readLiveFiles, type LiveFiles } from '@timelake/iceberg/io/snapshot-files'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { describePlan } from '@timelake/timelake/contract/describe-plan'
import { planCompaction } from '@timelake/timelake/contract/plan-compaction'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'

/** What a compaction of the table would do now, from the same planner that the job uses. Changes nothing. */
export async function dryRunCompaction(catalog: Catalog, row: TableRow): Promise<JsonObject> {
  const warehouse = await catalog.warehouses.byId(row.warehouseId)
  const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
  const allowedPrefixes = tableRoots(metadata)
  const live = await readCurrentFiles(warehouse, metadata, allowedPrefixes)
  if (live !== undefined && live.outcome !== 'read') {
    return { 'table-id': row.id, outcome: 'skipped', reason: unreadableReason(live) }
  }
  const plan = planCompaction({
    metadata,
    files: (live?.dataFiles ?? []).map(({ manifest, entry }) => ({
      specId: manifest.partitionSpecId,
      entry,
    })),
    deleteFileCount: live?.deleteFiles.length ?? 0,
    allowedPrefixes,
    nowMs: catalog.context.nowMs(),
  })
  return { 'table-id': row.id, ...describePlan(plan) }
}

async function readCurrentFiles(
  { store }: Warehouse,
  metadata: TableMetadata,
  allowedPrefixes: readonly string[],
): Promise<LiveFiles | undefined> {
  const current = metadata.currentSnapshotId
  const snapshot = metadata.snapshots.find(({ snapshotId }) => snapshotId === current)
  if (snapshot === undefined) return undefined
  return readLiveFiles(
    (location, options) => store.get(normalizeLocation(location), options),
    { metadata, snapshot },
    { allowedPrefixes },
  )
}

function unreadableReason(live: Exclude<LiveFiles, { outcome: 'read' }>): string {
  return live.outcome === 'outside'
    ? `file ${live.location} is outside the table and is not read`
    : `manifest ${live.location} is encrypted`
}
