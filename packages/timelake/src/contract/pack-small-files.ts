import { partitionKey } from '@timelake/iceberg/manifest/partition-type'
import type { Schema } from '@timelake/iceberg/spec/schema'
import { compareValues, decodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { MergeOrder } from './merge-order.ts'
import type { CompactionGroup, CompactionInput, LiveDataFile } from './compaction-plan.ts'
import { printDurationMs } from './quantity.ts'
import type { CompactionSettings } from './table-settings.ts'

/** Sizes are classed in tiers of 64 KiB × 4ⁿ, so that a byte is rewritten at most about log₄(target / commit size) times. */
const TIER_BASE_BYTES = 64n * 1024n
const TIER_GROWTH = 4n
/** A group that is no longer small takes one more file up to this multiple of the target. */
const GROUP_SIZE_PERCENT_MAX = 125n

/** The small files of one partition and the groups they form. */
export interface PackedPartition {
  readonly smallFileCount: number
  readonly largestTierFileCount: number
  readonly groups: readonly CompactionGroup[]
  /** When the partition turns cold, if small files would be merged then. */
  readonly coldAtMs?: number
}

interface PackingInput extends CompactionInput {
  readonly settings: CompactionSettings
  readonly order: MergeOrder
  readonly schema: Schema
}

/** Packs the small files of every partition, in the order of partition spec and tuple. Full files are left alone. */
export function packSmallFiles(input: PackingInput): readonly PackedPartition[] {
  const partitions = new Map<string, LiveDataFile[]>()
  for (const file of input.files) {
    if (!isSmall(file, input.settings)) continue
    const key = groupKey(file)
    const members = partitions.get(key)
    if (members === undefined) partitions.set(key, [file])
    else members.push(file)
  }
  return [...partitions]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, members]) => packPartition(members, input))
}

/** Equal for files of equal spec and partition; ordered by spec first. By code unit, so that no locale matters. */
function groupKey({ specId, entry }: LiveDataFile): string {
  return `${String(specId).padStart(10, '0')} ${partitionKey(entry.dataFile.partition)}`
}

function isSmall(file: LiveDataFile, settings: CompactionSettings): boolean {
  return file.entry.dataFile.fileSizeBytes < settings.smallFileSizeBytes
}

function packPartition(members: readonly LiveDataFile[], input: PackingInput): PackedPartition {
  const { settings, nowMs } = input
  const coldAtMs = lastCommitMs(members, input) + settings.coldAfterMs
  const isCold = nowMs >= coldAtMs
  const { selected, largestTierFileCount } = selectTiers(members, settings.minInputFileCount)
  const chosen = isCold ? members : selected
  const cold = isCold ? `no commit for ${printDurationMs(settings.coldAfterMs)}` : undefined
  const reason = cold ?? `${largestTierFileCount} small files of similar size`
  const groups = chosen.length < 2 ? [] : packGroups(chosen, input, reason)
  const turnsCold = !isCold && groups.length === 0 && members.length >= 2
  return {
    smallFileCount: members.length,
    largestTierFileCount,
    groups,
    ...(turnsCold ? { coldAtMs } : {}),
  }
}

/** The newest commit that added one of the files; a snapshot that has expired counts as very old. */
function lastCommitMs(members: readonly LiveDataFile[], input: PackingInput): number {
  const ids = new Set(members.map(({ entry }) => entry.snapshotId))
  return input.metadata.snapshots.reduce(
    (latest, { snapshotId, timestampMs }) =>
      ids.has(snapshotId) ? Math.max(latest, timestampMs) : latest,
    0,
  )
}

/**
 * The files to merge: everything up to the highest tier that holds enough files, counting the merge of the tiers below
 * as one file. Taking the smaller ones along keeps one merge per partition.
 */
function selectTiers(members: readonly LiveDataFile[], minInputFileCount: number) {
  const tiers = new Map<number, LiveDataFile[]>()
  for (const file of members) {
    const tier = tierOf(file.entry.dataFile.fileSizeBytes)
    const own = tiers.get(tier)
    if (own === undefined) tiers.set(tier, [file])
    else own.push(file)
  }
  let selected: readonly LiveDataFile[] = []
  let below: readonly LiveDataFile[] = []
  let largestTierFileCount = 0
  for (const tier of [...tiers.keys()].sort((a, b) => a - b)) {
    const own = tiers.get(tier) ?? []
    const count = own.length + (selected.length > 0 ? 1 : 0)
    largestTierFileCount = Math.max(largestTierFileCount, own.length)
    below = [...below, ...own]
    if (count >= minInputFileCount) selected = below
  }
  return { selected, largestTierFileCount }
}

function tierOf(sizeBytes: bigint): number {
  let tier = 0
  for (let limit = TIER_BASE_BYTES; sizeBytes >= limit; limit *= TIER_GROWTH) tier++
  return tier
}

/**
 * Contiguous groups in merge order. A group closes when it is no longer small and the next file would take it past
 * the bound, so at most one small file is left; a group of one file is left as it is.
 */
function packGroups(
  chosen: readonly LiveDataFile[],
  input: PackingInput,
  reason: string,
): readonly CompactionGroup[] {
  const { settings } = input
  const sizeBytesMax = (settings.targetFileSizeBytes * GROUP_SIZE_PERCENT_MAX) / 100n
  const bins: LiveDataFile[][] = []
  let sizeBytes = 0n
  for (const file of inMergeOrder(chosen, input)) {
    const bin = bins.at(-1)
    const added = file.entry.dataFile.fileSizeBytes
    const isFull =
      bin === undefined ||
      bin.length >= settings.groupInputFileCountMax ||
      (sizeBytes >= settings.smallFileSizeBytes && sizeBytes + added > sizeBytesMax)
    if (isFull) bins.push([file])
    else bin.push(file)
    sizeBytes = isFull ? added : sizeBytes + added
  }
  return bins.filter(({ length }) => length >= 2).map((bin) => groupOf(bin, reason))
}

function groupOf(inputs: readonly LiveDataFile[], reason: string): CompactionGroup {
  const files = inputs.map(({ entry }) => entry.dataFile)
  const inputRowCount = files.reduce((sum, { recordCount }) => sum + recordCount, 0n)
  return {
    specId: inputs[0]?.specId ?? 0,
    partition: files[0]?.partition ?? [],
    inputs,
    inputSizeBytes: files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0n),
    inputRowCount,
    estimatedOutputCount: inputRowCount === 0n ? 0 : 1,
    reason,
  }
}

/**
 * By the lower bound of the leading sort key where there is one, so that outputs overlap little, then by age.
 * Files without that bound come first.
 */
function inMergeOrder(chosen: readonly LiveDataFile[], input: PackingInput): LiveDataFile[] {
  const [lead] = input.order.terms
  const keyed = chosen.map((file) => {
    const bound =
      lead === undefined ? undefined : file.entry.dataFile.lowerBounds?.get(lead.columnId)
    return { file, bound: bound === undefined ? undefined : decodeBound(lead, bound) }
  })
  const sign = lead?.direction === 'desc' ? -1 : 1
  keyed.sort((left, right) => {
    if (lead !== undefined && left.bound !== undefined && right.bound !== undefined) {
      const byBound = compareValues(lead.type, left.bound, right.bound)
      if (byBound !== 0) return sign * byBound
    } else if (left.bound !== right.bound) return left.bound === undefined ? -1 : 1
    return compareByAge(left.file, right.file)
  })
  return keyed.map(({ file }) => file)
}

function decodeBound(lead: MergeOrder['terms'][number] | undefined, bound: Uint8Array) {
  if (lead === undefined) return undefined
  try {
    return decodeSingleValue(lead.type, bound)
  } catch (cause) {
    // A foreign writer's broken bound only costs the order of the groups.
    if (cause instanceof Error && /Invalid|Corrupt/.test(cause.name)) return undefined
    throw cause
  }
}

function compareByAge(left: LiveDataFile, right: LiveDataFile): number {
  const a = left.entry
  const b = right.entry
  if (a.sequenceNumber !== b.sequenceNumber) return a.sequenceNumber < b.sequenceNumber ? -1 : 1
  if (a.dataFile.filePath === b.dataFile.filePath) return 0
  return a.dataFile.filePath < b.dataFile.filePath ? -1 : 1
}
