import { MAIN_BRANCH, type Snapshot, type SnapshotRef } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { HISTORY_LIMITS, TRIM_PROPERTY, wholeNumber } from './history-properties.ts'
import { nextSnapshotLog } from './snapshot-log.ts'
import { snapshotRef } from './snapshot-ref.ts'

export interface TrimContext {
  readonly nowMs: number
  /** Snapshots that this very commit adds: whoever sent them looks for them in the answer. */
  readonly addedIds?: readonly bigint[]
}

export interface TrimmedHistory {
  /** The metadata itself when nothing was old enough. */
  readonly metadata: TableMetadata
  /** In the order of the metadata. Their files are still there. */
  readonly trimmed: readonly Snapshot[]
}

interface TrimPolicy {
  readonly ageMsMax: number
  readonly countMin: number
  readonly countMax: number
}

/**
 * The metadata without the snapshots that the table's own properties call old, for a table that asks for this with
 * `timelake.history.trim.enabled`. Each branch keeps its newest snapshots: at least `history.expire.min-snapshots-to-keep`,
 * beyond them those younger than `history.expire.max-snapshot-age-ms`, `timelake.history.max-snapshots` in all; what the ref
 * itself says about the first two goes before the properties. Tags and branches never go, nor what they point at, nor
 * snapshots of this commit; a snapshot that hangs on no ref stays until it is too old. Snapshot log and statistics follow.
 * Files stay: who deletes them needs a grace for readers. Tables with `gc.enabled=false` and encrypted ones are left alone.
 * Spec: Snapshot Retention Policy.
 */
export function trimHistory(metadata: TableMetadata, context: TrimContext): TrimmedHistory {
  const policy = trimPolicy(metadata)
  if (policy === undefined || !mayHoldOld(metadata, policy, context.nowMs)) {
    return { metadata, trimmed: [] }
  }
  const kept = keptIds(metadata, policy, context)
  const trimmed = metadata.snapshots.filter(({ snapshotId }) => !kept.has(snapshotId))
  return trimmed.length === 0
    ? { metadata, trimmed }
    : { metadata: without(metadata, kept), trimmed }
}

function trimPolicy({ properties, encryptionKeys }: TableMetadata): TrimPolicy | undefined {
  if (!isTrue(properties[TRIM_PROPERTY]) || encryptionKeys.length > 0) return undefined
  if (properties['gc.enabled']?.trim().toLowerCase() === 'false') return undefined
  const { snapshotAgeMsMax, snapshotCountMax, snapshotCountMin } = HISTORY_LIMITS
  const ageMsMax = wholeNumber(properties[snapshotAgeMsMax.property], snapshotAgeMsMax)
  const countMin = wholeNumber(properties[snapshotCountMin.property], snapshotCountMin)
  const countMax = wholeNumber(properties[snapshotCountMax.property], snapshotCountMax)
  return {
    ageMsMax: Math.max(0, ageMsMax),
    // The head of a branch stays, whatever the property says.
    countMin: Math.max(1, countMin),
    countMax: Math.max(1, countMax),
  }
}

function isTrue(text: string | undefined): boolean {
  return text?.trim().toLowerCase() === 'true'
}

/** Most commits find nothing to trim, and see so without an index of the snapshots. */
function mayHoldOld(metadata: TableMetadata, policy: TrimPolicy, nowMs: number): boolean {
  const { snapshots } = metadata
  const ageMs = refsOf(metadata).reduce(
    (least, { maxSnapshotAgeMs }) => Math.min(least, maxSnapshotAgeMs ?? least),
    policy.ageMsMax,
  )
  const isOld = ({ timestampMs }: Snapshot): boolean => timestampMs < nowMs - ageMs
  return snapshots.length > policy.countMax || snapshots.some(isOld)
}

function refsOf(metadata: TableMetadata): readonly SnapshotRef[] {
  const main = snapshotRef(metadata, MAIN_BRANCH)
  const refs = Object.values(metadata.refs)
  return main === undefined || refs.includes(main) ? refs : [...refs, main]
}

function keptIds(
  metadata: TableMetadata,
  policy: TrimPolicy,
  { nowMs, addedIds = [] }: TrimContext,
): ReadonlySet<bigint> {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
  const kept = new Set(addedIds)
  const reached = new Set<bigint>()
  const refs = refsOf(metadata)
  for (const ref of refs.filter(({ type }) => type === 'branch')) {
    keepOfBranch(byId, { ref, policy, nowMs, kept })
    markReached(byId, ref.snapshotId, reached)
  }
  for (const { snapshotId } of refs) {
    kept.add(snapshotId)
    reached.add(snapshotId)
  }
  for (const { snapshotId, timestampMs } of metadata.snapshots) {
    if (!reached.has(snapshotId) && timestampMs >= nowMs - policy.ageMsMax) kept.add(snapshotId)
  }
  return kept
}

interface BranchToKeep {
  readonly ref: SnapshotRef
  readonly policy: TrimPolicy
  readonly nowMs: number
  /** Gains the snapshots that the branch keeps. */
  readonly kept: Set<bigint>
}

function keepOfBranch(
  byId: ReadonlyMap<bigint, Snapshot>,
  { ref, policy, nowMs, kept }: BranchToKeep,
): void {
  const countMin = Math.max(1, ref.minSnapshotsToKeep ?? policy.countMin)
  const sinceMs = nowMs - (ref.maxSnapshotAgeMs ?? policy.ageMsMax)
  let snapshot = byId.get(ref.snapshotId)
  // A file from elsewhere may chain its snapshots into a circle: no branch is longer than the table.
  for (let count = 0; snapshot !== undefined && count < byId.size; count += 1) {
    const isYoung = count < policy.countMax && snapshot.timestampMs >= sinceMs
    if (count >= countMin && !isYoung) return
    kept.add(snapshot.snapshotId)
    snapshot = parentOf(byId, snapshot)
  }
}

/** Where another branch came by, everything before is marked already. */
function markReached(
  byId: ReadonlyMap<bigint, Snapshot>,
  headId: bigint,
  reached: Set<bigint>,
): void {
  let snapshot = byId.get(headId)
  while (snapshot !== undefined && !reached.has(snapshot.snapshotId)) {
    reached.add(snapshot.snapshotId)
    snapshot = parentOf(byId, snapshot)
  }
}

function parentOf(
  byId: ReadonlyMap<bigint, Snapshot>,
  { parentSnapshotId }: Snapshot,
): Snapshot | undefined {
  return parentSnapshotId === undefined ? undefined : byId.get(parentSnapshotId)
}

function without(metadata: TableMetadata, kept: ReadonlySet<bigint>): TableMetadata {
  const isKept = ({ snapshotId }: { readonly snapshotId: bigint }): boolean => kept.has(snapshotId)
  const { currentSnapshotId, lastUpdatedMs } = metadata
  const snapshots = metadata.snapshots.filter(isKept)
  const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId))
  return {
    ...metadata,
    snapshots,
    snapshotLog: nextSnapshotLog({
      before: metadata.snapshotLog,
      appended: [],
      currentSnapshotId,
      hasSnapshot: (snapshotId) => ids.has(snapshotId),
      wasAdded: () => false,
      hasRemovals: true,
      lastUpdatedMs,
    }),
    statistics: metadata.statistics.filter(isKept),
    partitionStatistics: metadata.partitionStatistics.filter(isKept),
  }
}
