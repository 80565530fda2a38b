import { checkRequirements } from '../commit/check-requirements.ts'
import { snapshotRef } from '../commit/snapshot-ref.ts'
import type { CommitRequest } from '../commit/table-update.ts'
import { CommitFailedError } from '../spec/errors.ts'
import { MAIN_BRANCH, type Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { type RebaseRefusal, type RebaseShape, refuseRebase, shown } from './rebase-shape.ts'

/** Where the snapshots of a request stood, and where they are attached instead. */
export interface RebaseBase {
  readonly outcome: 'found'
  /** What the first snapshot of the request was made on; absent: on an empty table. */
  readonly parent?: Snapshot
  /** What it is attached to: the head of the branch. Absent: the table is empty. */
  readonly head?: Snapshot
  /** The snapshots after the parent up to the head, newest first. */
  readonly between: readonly Snapshot[]
}

/**
 * The present head of the branch, when the state that the request was made on is a retained ancestor of it, or the empty
 * table, and the way from there was a plain one: no rollback, no replacement of the table, no other schema. All other
 * requirements of the request hold. Otherwise the reason why not.
 */
export function findRebaseBase(
  metadata: TableMetadata,
  { request, shape }: { readonly request: CommitRequest; readonly shape: RebaseShape },
): RebaseBase | RebaseRefusal {
  const problem =
    otherRequirement(metadata, request, shape) ??
    knownSnapshot(metadata, shape) ??
    otherSchema(metadata, shape)
  if (problem !== undefined) return refuseRebase(problem)
  const { branch, expectedHeadId } = shape
  const ref = snapshotRef(metadata, branch)
  if (ref !== undefined && ref.type !== 'branch') return refuseRebase(`${shown(branch)} is a tag`)
  if (ref?.snapshotId === expectedHeadId) return unmovedBase(metadata, shape)
  if (ref === undefined) return refuseRebase(`the branch ${shown(branch)} is gone`)
  return movedBase(metadata, shape, ref.snapshotId)
}

function otherRequirement(
  metadata: TableMetadata,
  request: CommitRequest,
  { branch }: RebaseShape,
): string | undefined {
  const requirements = request.requirements.filter(
    (one) => one.type !== 'assert-ref-snapshot-id' || one.ref !== branch,
  )
  try {
    checkRequirements(metadata, { requirements, updates: [] })
    return undefined
  } catch (error) {
    if (!(error instanceof CommitFailedError)) throw error
    return 'another of its requirements does not hold either'
  }
}

function knownSnapshot(metadata: TableMetadata, { snapshots }: RebaseShape): string | undefined {
  const ids = snapshots.map(({ snapshotId }) => snapshotId)
  if (new Set(ids).size < ids.length) return 'it adds one snapshot twice'
  const known = ids.find((id) => metadata.snapshots.some(({ snapshotId }) => snapshotId === id))
  return known === undefined ? undefined : `the table has a snapshot ${known} already`
}

/** A snapshot that names no schema was written under that of its parent. */
function otherSchema(metadata: TableMetadata, { snapshots }: RebaseShape): string | undefined {
  const { currentSchemaId, schemas } = metadata
  for (const { schemaId, parentSnapshotId } of snapshots) {
    const parent = schemaId === undefined ? findSnapshot(metadata, parentSnapshotId) : undefined
    const writtenWith = schemaId ?? parent?.schemaId
    if (writtenWith === currentSchemaId) continue
    if (writtenWith === undefined && schemas.length === 1) continue
    return `expected files of schema ${currentSchemaId}, found schema ${writtenWith ?? 'unknown'}`
  }
  return undefined
}

/** Only the sequence number or the row ids went stale, by a commit to another branch. */
function unmovedBase(
  metadata: TableMetadata,
  { snapshots }: RebaseShape,
): RebaseBase | RebaseRefusal {
  const parentId = snapshots[0]?.parentSnapshotId
  if (parentId === undefined) return { outcome: 'found', between: [] }
  const parent = findSnapshot(metadata, parentId)
  return parent === undefined
    ? refuseRebase(`the table has no snapshot ${parentId} any more`)
    : { outcome: 'found', parent, head: parent, between: [] }
}

function movedBase(
  metadata: TableMetadata,
  { branch, expectedHeadId, snapshots }: RebaseShape,
  headId: bigint,
): RebaseBase | RebaseRefusal {
  const parentId = snapshots[0]?.parentSnapshotId
  // A new branch begins where its writer says, so one that somebody else made is another branch.
  if (parentId !== expectedHeadId) return refuseRebase(`somebody else made ${shown(branch)}`)
  const path = pathDown(metadata, headId, parentId)
  if (path === undefined) {
    const base = parentId === undefined ? 'the empty table' : `snapshot ${parentId}`
    return refuseRebase(`${base} is no retained ancestor of snapshot ${headId}`)
  }
  if (branch === MAIN_BRANCH && wentAstray(metadata, path)) {
    return refuseRebase('the table was rolled back or replaced meanwhile')
  }
  const { between, parent } = path
  const [head] = between
  return {
    outcome: 'found',
    between,
    ...(parent === undefined ? {} : { parent }),
    ...(head === undefined ? {} : { head }),
  }
}

interface Path {
  readonly between: readonly Snapshot[]
  readonly parent: Snapshot | undefined
}

/** From the head along the parents to the given one; undefined when it is not met, or a step is not retained. */
function pathDown(
  { snapshots }: TableMetadata,
  headId: bigint,
  parentId: bigint | undefined,
): Path | undefined {
  const between: Snapshot[] = []
  let wantedId: bigint | undefined = headId
  // Parents come before their children, so one walk down the list meets them all.
  for (let at = snapshots.length - 1; at >= 0; at -= 1) {
    const snapshot = snapshots[at]
    if (snapshot === undefined || snapshot.snapshotId !== wantedId) continue
    if (wantedId === parentId) return { between, parent: snapshot }
    between.push(snapshot)
    wantedId = snapshot.parentSnapshotId
    if (wantedId === undefined)
      return parentId === undefined ? { between, parent: undefined } : undefined
  }
  return undefined
}

/** Whether main was anywhere else since it was first at the parent; the log leaves out what it only passed. */
function wentAstray({ snapshotLog }: TableMetadata, { between, parent }: Path): boolean {
  const ids = new Set(between.map(({ snapshotId }) => snapshotId))
  const start = snapshotLog.findIndex(({ snapshotId }) => snapshotId === parent?.snapshotId)
  return snapshotLog.slice(start + 1).some(({ snapshotId }) => !ids.has(snapshotId))
}

function findSnapshot(
  { snapshots }: TableMetadata,
  wantedId: bigint | undefined,
): Snapshot | undefined {
  return snapshots.findLast(({ snapshotId }) => snapshotId === wantedId)
}
