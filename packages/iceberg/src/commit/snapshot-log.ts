import type { SnapshotLogEntry } from '../spec/table-metadata.ts'

export interface SnapshotLogChange {
  readonly before: readonly SnapshotLogEntry[]
  /** One entry for each time `main` moved, in order; its time is what the writer or the server claims. */
  readonly appended: readonly SnapshotLogEntry[]
  readonly currentSnapshotId: bigint | undefined
  /** Whether the table still has the snapshot. */
  readonly hasSnapshot: (snapshotId: bigint) => boolean
  /** Whether the snapshot was added by this commit. */
  readonly wasAdded: (snapshotId: bigint) => boolean
  /** Whether this commit removed snapshots. */
  readonly hasRemovals: boolean
  /** The time that the commit stamps on the table. */
  readonly lastUpdatedMs: number
}

/**
 * The snapshot log after a commit. A snapshot that was `main` only in between is left out. Where a snapshot is
 * gone, everything before it goes too, because a gap would claim that the entry before it lasted longer than it did.
 * Times of new entries are clamped between the entry before and the time of the commit, since Java refuses a table
 * whose log runs backwards or into the future; older entries stay as they are.
 */
export function nextSnapshotLog(change: SnapshotLogChange): readonly SnapshotLogEntry[] {
  if (!change.hasRemovals && change.appended.length === 0) return change.before
  const intermediateIds = findIntermediateIds(change)
  const log = withoutGaps(change, change.before).filter(
    ({ snapshotId }) => !intermediateIds.has(snapshotId),
  )
  for (const entry of change.appended) {
    if (intermediateIds.has(entry.snapshotId)) continue
    if (change.hasRemovals && !change.hasSnapshot(entry.snapshotId)) log.length = 0
    else pushClamped(change, log, entry)
  }
  // A log written elsewhere may lack the current snapshot, which Java refuses once entries are removed.
  const { currentSnapshotId: snapshotId, lastUpdatedMs: timestampMs } = change
  if (snapshotId !== undefined && log.at(-1)?.snapshotId !== snapshotId) {
    pushClamped(change, log, { snapshotId, timestampMs })
  }
  return log
}

function findIntermediateIds(change: SnapshotLogChange): ReadonlySet<bigint> {
  const ids = change.appended.map(({ snapshotId }) => snapshotId)
  return new Set(ids.filter((id) => id !== change.currentSnapshotId && change.wasAdded(id)))
}

function withoutGaps(
  change: SnapshotLogChange,
  entries: readonly SnapshotLogEntry[],
): readonly SnapshotLogEntry[] {
  if (!change.hasRemovals) return entries
  return entries.slice(
    entries.findLastIndex(({ snapshotId }) => !change.hasSnapshot(snapshotId)) + 1,
  )
}

function pushClamped(
  change: SnapshotLogChange,
  log: SnapshotLogEntry[],
  entry: SnapshotLogEntry,
): void {
  const timestampMs = Math.min(entry.timestampMs, change.lastUpdatedMs)
  log.push({ ...entry, timestampMs: Math.max(log.at(-1)?.timestampMs ?? 0, timestampMs) })
}
