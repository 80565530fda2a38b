import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { MAIN_BRANCH } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { compactionObstacle, currentSchema } from './compaction-obstacle.ts'
import type {
  CompactionGroup,
  CompactionInput,
  CompactionNumbers,
  CompactionPlan,
} from './compaction-plan.ts'
import { mergeOrderOf } from './merge-order.ts'
import { packSmallFiles, type PackedPartition } from './pack-small-files.ts'
import { printBytes, printDurationMs } from './quantity.ts'
import { readCompactionSettings, type CompactionSettings } from './table-settings.ts'

/**
 * The merges that a table needs now, or the reason why it needs none. Deterministic: the same input gives the same plan
 * whatever the order of `files`. A fixed point: when every group has been replaced by one file no larger than the sum
 * of its inputs, planning again finds nothing, except for groups closed by the bound on input files, whose outputs may
 * be merged once more (each round divides their number by that bound).
 */
export function planCompaction(input: CompactionInput): CompactionPlan {
  const { metadata, files } = input
  const snapshotId = metadata.refs[MAIN_BRANCH]?.snapshotId ?? metadata.currentSnapshotId
  const settings = tryReadSettings(metadata.properties)
  if (typeof settings === 'string') return skipped(settings, plainNumbers(files.length))
  const obstacle = compactionObstacle(input, settings)
  if (obstacle !== undefined) return skipped(obstacle, plainNumbers(files.length))
  if (snapshotId === undefined) {
    return {
      outcome: 'nothing-to-do',
      reason: 'the table has no snapshot',
      numbers: plainNumbers(0),
    }
  }
  const order = mergeOrderOf(currentSchema(metadata), currentSortOrder(metadata))
  const partitions = packSmallFiles({ ...input, settings, order, schema: currentSchema(metadata) })
  const numbers = countFiles(files.length, partitions, settings)
  const groups = partitions.flatMap(({ groups }) => groups)
  if (groups.length === 0) return nothingToDo(partitions, numbers, settings)
  const taken = groups.slice(0, settings.groupCountMax)
  return {
    outcome: 'compact',
    snapshotId,
    order,
    groups: taken,
    remainingGroupCount: groups.length - taken.length,
    numbers,
    reason: compactReason(taken, groups.length),
  }
}

function tryReadSettings(
  properties: Readonly<Record<string, string>>,
): CompactionSettings | string {
  try {
    return readCompactionSettings(properties)
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause
    return `a table property is wrong: ${cause.message}`
  }
}

function currentSortOrder(metadata: TableMetadata) {
  const found = metadata.sortOrders.find(({ orderId }) => orderId === metadata.defaultSortOrderId)
  return found ?? { orderId: 0, fields: [] }
}

function skipped(reason: string, numbers: CompactionNumbers): CompactionPlan {
  return { outcome: 'skipped', reason, numbers }
}

function plainNumbers(liveFileCount: number): CompactionNumbers {
  return { liveFileCount, smallFileCount: 0, partitionCount: 0, largestSmallFileCount: 0 }
}

function countFiles(
  liveFileCount: number,
  partitions: readonly PackedPartition[],
  settings: CompactionSettings,
): CompactionNumbers {
  const counts = partitions.map(({ smallFileCount }) => smallFileCount)
  return {
    liveFileCount,
    smallFileCount: counts.reduce((sum, count) => sum + count, 0),
    partitionCount: partitions.length,
    largestSmallFileCount: counts.reduce((most, count) => Math.max(most, count), 0),
    settings,
  }
}

function nothingToDo(
  partitions: readonly PackedPartition[],
  numbers: CompactionNumbers,
  settings: CompactionSettings,
): CompactionPlan {
  const colds = partitions.flatMap(({ coldAtMs }) => (coldAtMs === undefined ? [] : [coldAtMs]))
  const nextTriggerMs = colds.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const reason = idleReason(partitions, numbers, settings)
  const next = Number.isFinite(nextTriggerMs) ? { nextTriggerMs } : {}
  return { outcome: 'nothing-to-do', reason, numbers, ...next }
}

function idleReason(
  partitions: readonly PackedPartition[],
  { liveFileCount, smallFileCount, largestSmallFileCount }: CompactionNumbers,
  { smallFileSizeBytes, minInputFileCount, coldAfterMs }: CompactionSettings,
): string {
  const small = printBytes(Number(smallFileSizeBytes))
  if (smallFileCount === 0) return `none of ${liveFileCount} live files is below ${small}`
  if (smallFileCount === 1) return `only one of ${liveFileCount} live files is below ${small}`
  if (largestSmallFileCount === 1) {
    return `no two of ${smallFileCount} small files (below ${small}) are in one partition`
  }
  const most = partitions.reduce((best, { largestTierFileCount: n }) => Math.max(best, n), 0)
  return (
    `no partition holds ${minInputFileCount} small files of similar size: ` +
    `the most is ${most} of ${largestSmallFileCount} small files (below ${small})` +
    ` in one partition; two are merged once a partition has had no commit for ${printDurationMs(coldAfterMs)}`
  )
}

function compactReason(groups: readonly CompactionGroup[], groupCount: number): string {
  const inputs = groups.reduce((sum, group) => sum + group.inputs.length, 0)
  const outputs = groups.reduce((sum, group) => sum + group.estimatedOutputCount, 0)
  const rest =
    groupCount > groups.length ? `; ${groupCount - groups.length} groups follow later` : ''
  return `${inputs} small files become ${outputs} in ${groups.length} groups${rest}`
}
