import { CommitFailedError, InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import { MAIN_BRANCH, type Snapshot, type SnapshotRef } from '../spec/snapshot.ts'
import { sameValue } from './same-value.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'

/** Row ids are 64-bit signed numbers. */
const ROW_ID_MAX = 2n ** 63n - 1n
const OPERATION_DEFAULT = 'overwrite'

/**
 * Adds a snapshot; no ref moves. Throws CommitFailedError when its sequence number or first row id was overtaken by
 * another commit, which rebasing repairs, and InvalidInputError for what no base could make valid.
 * Spec: Snapshots, Sequence Numbers, Row Lineage.
 */
export function addSnapshot(draft: TableMetadataDraft, snapshot: Snapshot): void {
  checkTableIsComplete(draft)
  checkSnapshot(draft, snapshot)
  // First what a rebase repairs: a table that went to v3 meanwhile asks for row ids, which the rebase brings.
  checkSequenceNumber(draft, snapshot)
  checkRowLineage(draft, snapshot)
  const kept = draft.formatVersion >= 3 ? snapshot : withoutRowLineage(snapshot)
  if (draft.formatVersion >= 3) draft.nextRowId = nextRowIdAfter(draft, snapshot)
  // A snapshot without a parent may carry an older number (re-import); the table's never falls.
  if (kept.sequenceNumber > draft.lastSequenceNumber) draft.lastSequenceNumber = kept.sequenceNumber
  draft.snapshots.add(withOperation(kept))
  draft.record({ action: 'add-snapshot', snapshot: kept })
}

/**
 * Creates or moves a branch or tag. Moving `main` is noted for the snapshot log, with the snapshot's own time when it
 * came in this request and the time of the commit otherwise. Throws InvalidInputError for an unknown snapshot, for
 * `main` as a tag and for retention members where they have no meaning. Spec: Snapshot References.
 */
export function setSnapshotRef(draft: TableMetadataDraft, refName: string, ref: SnapshotRef): void {
  checkRef(refName, ref)
  const before = draft.refs.get(refName)
  if (sameValue(before, ref)) return
  const snapshot = draft.snapshots.find(ref.snapshotId)
  if (snapshot === undefined) {
    throw new ValidationFailedError(`Cannot set ${refName} to unknown snapshot: ${ref.snapshotId}`)
  }
  draft.refs.set(refName, ref)
  if (refName === MAIN_BRANCH && before?.snapshotId !== ref.snapshotId) {
    const timestampMs = draft.snapshots.wasAdded(ref.snapshotId)
      ? snapshot.timestampMs
      : draft.lastUpdatedMs
    draft.mainMoves.push({ snapshotId: ref.snapshotId, timestampMs })
  }
  draft.record({ action: 'set-snapshot-ref', refName, ref })
}

/** Removes a branch or tag. Without `main` the table has no current snapshot; its log is kept. */
export function removeSnapshotRef(draft: TableMetadataDraft, refName: string): void {
  if (draft.refs.delete(refName)) draft.record({ action: 'remove-snapshot-ref', refName })
}

/** Removes snapshots with the refs and statistics that hang on them; unknown ids are ignored. No file is touched. */
export function removeSnapshots(draft: TableMetadataDraft, snapshotIds: readonly bigint[]): void {
  const removedIds = snapshotIds.filter((snapshotId) => draft.snapshots.remove(snapshotId))
  for (const snapshotId of removedIds) {
    draft.refs.namesAt(snapshotId).forEach((refName) => draft.refs.delete(refName))
    draft.statistics.delete(snapshotId)
    draft.partitionStatistics.delete(snapshotId)
  }
  if (removedIds.length > 0) draft.record({ action: 'remove-snapshots', snapshotIds: removedIds })
}

function checkTableIsComplete(draft: TableMetadataDraft): void {
  const missing = Object.entries({
    schema: draft.schemas,
    'partition spec': draft.partitionSpecs,
    'sort order': draft.sortOrders,
  }).find(([, list]) => list.length === 0)
  if (missing !== undefined) {
    throw new InvalidInputError(`Attempting to add a snapshot before a ${missing[0]} is added`)
  }
}

function checkSnapshot(draft: TableMetadataDraft, snapshot: Snapshot): void {
  const { snapshotId } = snapshot
  if (snapshotId <= 0n)
    throw new InvalidInputError(`Cannot add snapshot: expected a positive id, got ${snapshotId}`)
  if (draft.snapshots.find(snapshotId) !== undefined) {
    throw new InvalidInputError(`Snapshot already exists for id: ${snapshotId}`)
  }
  const mayListManifests = draft.formatVersion === 1 && snapshot.manifests !== undefined
  if (snapshot.manifestList === undefined && !mayListManifests) {
    throw new InvalidInputError(`Cannot add snapshot ${snapshotId}: it has no manifest list`)
  }
}

function checkSequenceNumber(draft: TableMetadataDraft, snapshot: Snapshot): void {
  const { sequenceNumber, parentSnapshotId } = snapshot
  if (sequenceNumber < 0n || (draft.formatVersion === 1 && sequenceNumber !== 0n)) {
    const expected = draft.formatVersion === 1 ? '0 in v1' : '0 or more'
    throw new InvalidInputError(
      `Cannot add snapshot with sequence number ${sequenceNumber}: expected ${expected}`,
    )
  }
  if (draft.formatVersion === 1 || parentSnapshotId === undefined) return
  if (sequenceNumber <= draft.lastSequenceNumber) {
    throw new CommitFailedError(
      `Validation failed, please retry: Cannot add snapshot with sequence number ${sequenceNumber} ` +
        `older than last sequence number ${draft.lastSequenceNumber}`,
    )
  }
}

function checkRowLineage(draft: TableMetadataDraft, { firstRowId, addedRows }: Snapshot): void {
  if (draft.formatVersion < 3) return
  const members = { 'first-row-id': firstRowId, 'added-rows': addedRows }
  for (const [member, value] of Object.entries(members)) {
    if (value !== undefined && value >= 0n) continue
    throw new InvalidInputError(
      `Cannot add a snapshot: ${member} is ${value ?? 'null'}, expected 0 or more`,
    )
  }
}

function nextRowIdAfter(draft: TableMetadataDraft, snapshot: Snapshot): bigint {
  const { firstRowId = 0n, addedRows = 0n } = snapshot
  const nextRowId = draft.nextRowId ?? 0n
  if (firstRowId < nextRowId) {
    throw new CommitFailedError(
      'Validation failed, please retry: Cannot add a snapshot, ' +
        `first-row-id is behind table next-row-id: ${firstRowId} < ${nextRowId}`,
    )
  }
  const next = firstRowId + addedRows
  if (next > ROW_ID_MAX)
    throw new InvalidInputError(`Cannot add a snapshot: row ids end at ${ROW_ID_MAX}, got ${next}`)
  return next
}

function withoutRowLineage({
  firstRowId: _firstRowId,
  addedRows: _addedRows,
  ...snapshot
}: Snapshot): Snapshot {
  return snapshot
}

/** Java reads an empty summary as none, and one without an operation as an overwrite; others refuse both. */
function withOperation(snapshot: Snapshot): Snapshot {
  const { summary, ...others } = snapshot
  if (summary === undefined || Object.hasOwn(summary, 'operation')) return snapshot
  if (Object.keys(summary).length === 0) return others
  return { ...others, summary: { operation: OPERATION_DEFAULT, ...summary } }
}

function checkRef(refName: string, ref: SnapshotRef): void {
  if (ref.type === 'tag') {
    if (refName === MAIN_BRANCH)
      throw new InvalidInputError('Cannot make main a tag: it is a branch')
    if (ref.minSnapshotsToKeep !== undefined)
      throw new InvalidInputError('Tags do not support min-snapshots-to-keep')
    if (ref.maxSnapshotAgeMs !== undefined)
      throw new InvalidInputError('Tags do not support max-snapshot-age-ms')
  }
  const bounds = {
    'min-snapshots-to-keep': ref.minSnapshotsToKeep,
    'max-snapshot-age-ms': ref.maxSnapshotAgeMs,
    'max-ref-age-ms': ref.maxRefAgeMs,
  }
  for (const [member, value] of Object.entries(bounds)) {
    if (value !== undefined && value <= 0) {
      throw new InvalidInputError(
        `Cannot set ${refName}: ${member} must be greater than 0, got ${value}`,
      )
    }
  }
}
