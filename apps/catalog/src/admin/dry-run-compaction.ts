import { Buffer } from 'node:buffer'
import type { TableRow } from '@timelake/database/table-row'
import { readLiveFiles, type LiveFiles } from '@timelake/iceberg/io/snapshot-files'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { PartitionValue } from '@timelake/iceberg/spec/partition-spec'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  planCompaction,
  type CompactionGroup,
  type CompactionNumbers,
  type CompactionPlan,
} from '@timelake/timelake/contract/plan-compaction'
import type { Catalog } from '../catalog/catalog.ts'
import { tableRoots } from '../catalog/location-rules.ts'

/** What a compaction of the table would do now, from the same planner that the job uses. Changes nothing. */
export async function dryRunCompaction(catalog: Catalog, row: TableRow): Promise<JsonObject> {
  const { metadata } = await catalog.metadata.get(row.metadataLocation)
  const allowedPrefixes = tableRoots(metadata)
  const live = await readCurrentFiles(catalog, metadata, allowedPrefixes)
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
  return { 'table-id': row.id, ...planJson(plan) }
}

async function readCurrentFiles(
  catalog: Catalog,
  metadata: TableMetadata,
  allowedPrefixes: readonly string[],
): Promise<LiveFiles | undefined> {
  const current = metadata.currentSnapshotId
  const snapshot = metadata.snapshots.find(({ snapshotId }) => snapshotId === current)
  if (snapshot === undefined) return undefined
  return readLiveFiles(
    (location, options) => catalog.context.objectStore.get(normalizeLocation(location), options),
    { metadata, snapshot },
    { allowedPrefixes },
  )
}

function unreadableReason(live: Exclude<LiveFiles, { outcome: 'read' }>): string {
  return live.outcome === 'outside'
    ? `file ${live.location} is outside the table and is not read`
    : `manifest ${live.location} is encrypted`
}

function planJson(plan: CompactionPlan): JsonObject {
  const { outcome, reason } = plan
  const shared = { outcome, reason, numbers: numbersJson(plan.numbers) }
  switch (plan.outcome) {
    case 'compact':
      return {
        ...shared,
        'snapshot-id': plan.snapshotId,
        'sort-order-id': BigInt(plan.order.orderId),
        'unsorted-reason': plan.order.unsortedReason,
        groups: plan.groups.map(groupJson),
        'remaining-group-count': BigInt(plan.remainingGroupCount),
      }
    case 'nothing-to-do':
      return {
        ...shared,
        'next-trigger-ms': plan.nextTriggerMs === undefined ? null : BigInt(plan.nextTriggerMs),
      }
    case 'skipped':
      return shared
  }
}

function numbersJson(numbers: CompactionNumbers): JsonObject {
  const { settings } = numbers
  return {
    'live-file-count': BigInt(numbers.liveFileCount),
    'small-file-count': BigInt(numbers.smallFileCount),
    'partition-count': BigInt(numbers.partitionCount),
    'largest-small-file-count': BigInt(numbers.largestSmallFileCount),
    'target-file-size-bytes': settings?.targetFileSizeBytes,
    'small-file-size-bytes': settings?.smallFileSizeBytes,
    'min-input-file-count':
      settings === undefined ? undefined : BigInt(settings.minInputFileCount),
  }
}

function groupJson(group: CompactionGroup): JsonObject {
  return {
    'spec-id': BigInt(group.specId),
    partition: group.partition.map(partitionValueJson),
    inputs: group.inputs.map(({ entry }) => entry.dataFile.filePath),
    'input-size-bytes': group.inputSizeBytes,
    'input-row-count': group.inputRowCount,
    'output-count': BigInt(group.estimatedOutputCount),
    reason: group.reason,
  }
}

function partitionValueJson(value: PartitionValue): JsonValue {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}
