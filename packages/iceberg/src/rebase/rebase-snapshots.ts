import type { CommitRequest } from '../commit/table-update.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { assignFirstRowIds, writeManifestList } from '../manifest/write-manifest-list.ts'
import { type NewFile, nextSequenceNumber } from '../snapshot/new-snapshot.ts'
import type { Filled } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { attachAppend, type NewManifest } from './attach-append.ts'
import { attachReplace } from './attach-replace.ts'
import type { RebaseBase } from './find-rebase-base.ts'
import { findOwnManifests, type OwnManifests, type WrittenSnapshot } from './own-manifests.ts'
import { rebasedRequest } from './rebased-request.ts'
import { rebasedSummary } from './rebased-summary.ts'
import { refuseRebase, type RebaseRefusal, type RebaseShape } from './rebase-shape.ts'

/** What a new file is: its name says it. */
export type NewLocationKind =
  { readonly file: 'manifest' } | { readonly file: 'manifest-list'; readonly snapshotId: bigint }

export interface Rebase {
  readonly metadata: TableMetadata
  readonly request: CommitRequest
  readonly shape: RebaseShape
  readonly base: RebaseBase
  /** As written, one for each snapshot of the shape. */
  readonly written: readonly WrittenSnapshot[]
  /** Of the state that the request was made on. */
  readonly parentManifests: readonly ManifestFile[]
  /** Of the head that it is attached to, in list order. */
  readonly headManifests: readonly ManifestFile[]
  /** The table's own folders. */
  readonly prefixes: readonly string[]
  readonly nowMs: number
  /** A location in the table's metadata folder that no file has. */
  readonly newLocation: (kind: NewLocationKind) => string
}

export interface Rebased {
  readonly outcome: 'rebased'
  /** The same snapshots on the present head, with requirements that hold there. */
  readonly request: CommitRequest
  /** The new lists, which must be stored first. */
  readonly files: readonly NewFile[]
  /** So must manifests that were written anew. */
  readonly newManifests: readonly NewManifest[]
  /** The content of the new lists by location. */
  readonly manifestLists: ReadonlyMap<string, readonly ManifestFile[]>
}

/** A snapshot of the request as it is attached, and as its writer knew it. */
interface Step {
  readonly snapshot: Snapshot | undefined
  readonly manifests: readonly ManifestFile[]
  readonly writtenSnapshot: Snapshot | undefined
  readonly writtenManifests: readonly ManifestFile[]
  readonly lastSequenceNumber: bigint
  readonly nextRowId: bigint
}

interface NextStep extends Step {
  readonly outcome: 'attached'
  readonly snapshot: Snapshot
  readonly list: NewFile
  readonly newManifests: readonly NewManifest[]
}

/**
 * The request attached to the present head: each snapshot gets the head, or the snapshot before, as its parent, a new
 * sequence number, new row ids and a new manifest list of its own manifests and those of the head, which are not
 * touched. No data file moves. Refuses what cannot be attached without changing what it means.
 * Spec: Snapshots, Sequence Number Inheritance, Row Lineage.
 */
export function rebaseSnapshots(rebase: Rebase): Rebased | RebaseRefusal {
  const { metadata, base } = rebase
  let step: Step = {
    snapshot: base.head,
    manifests: rebase.headManifests,
    writtenSnapshot: base.parent,
    writtenManifests: rebase.parentManifests,
    lastSequenceNumber: metadata.lastSequenceNumber,
    nextRowId: metadata.nextRowId ?? 0n,
  }
  const files: NewFile[] = []
  const newManifests: NewManifest[] = []
  const manifestLists = new Map<string, readonly ManifestFile[]>()
  const snapshots = new Map<bigint, Snapshot>()
  for (const written of rebase.written) {
    const next = attach(rebase, written, step)
    if (next.outcome === 'refused') return next
    files.push(next.list)
    newManifests.push(...next.newManifests)
    manifestLists.set(next.snapshot.manifestList ?? '', next.manifests)
    snapshots.set(next.snapshot.snapshotId, next.snapshot)
    step = next
  }
  const request = rebasedRequest(rebase.request, {
    metadata,
    branch: rebase.shape.branch,
    snapshots,
  })
  return { outcome: 'rebased', request, files, newManifests, manifestLists }
}

function attach(rebase: Rebase, written: WrittenSnapshot, step: Step): NextStep | RebaseRefusal {
  const { metadata, prefixes } = rebase
  const found = findOwnManifests(written, step.writtenManifests, prefixes)
  if (found.outcome === 'refused') return found
  const sequenceNumber =
    metadata.formatVersion === 1 ? nextSequenceNumber(metadata) : step.lastSequenceNumber + 1n
  const listed = attachOwn(rebase, { written, found, step, sequenceNumber })
  if (listed.outcome === 'refused') return listed
  const lineage = assignRowIds(metadata, [...listed.manifests, ...listed.kept], step.nextRowId)
  if (lineage.outcome === 'refused') return lineage
  const summary = rebasedSummary({
    kind: rebase.shape.kind,
    written,
    own: found.own,
    createdCount: listed.manifests.length,
    keptCount: listed.kept.length,
    droppedCount: found.dropped.length,
    parent: step.snapshot,
    parentManifests: step.manifests,
    writtenParent: step.writtenSnapshot,
  })
  const snapshot = snapshotOn(rebase, { written, step, sequenceNumber, summary, lineage })
  return {
    outcome: 'attached',
    snapshot,
    manifests: lineage.manifests,
    writtenSnapshot: written.snapshot,
    writtenManifests: written.manifests,
    lastSequenceNumber: sequenceNumber,
    nextRowId: lineage.nextRowId,
    list: listFile(metadata, snapshot, lineage.manifests),
    newManifests: listed.newManifests,
  }
}

interface OwnListed {
  readonly outcome: 'attached'
  /** Of the snapshot itself. */
  readonly manifests: readonly ManifestFile[]
  /** Of its parent. */
  readonly kept: readonly ManifestFile[]
  readonly newManifests: readonly NewManifest[]
}

function attachOwn(
  { metadata, shape, base, newLocation }: Rebase,
  own: {
    readonly written: WrittenSnapshot
    readonly found: OwnManifests
    readonly step: Step
    readonly sequenceNumber: bigint
  },
): OwnListed | RebaseRefusal {
  const { written, found, step, sequenceNumber } = own
  if (shape.kind === 'replace') {
    const { own: manifests, dropped } = found
    const headManifests = step.manifests
    const parentManifests = step.writtenManifests
    const replaced = attachReplace({
      metadata,
      base,
      own: manifests,
      dropped,
      headManifests,
      parentManifests,
      sequenceNumber,
    })
    return replaced.outcome === 'refused' ? replaced : { ...replaced, newManifests: [] }
  }
  const attached = attachAppend({
    metadata,
    own: found.own,
    snapshotId: written.snapshot.snapshotId,
    sequenceNumber,
    newLocation: () => newLocation({ file: 'manifest' }),
  })
  return attached.outcome === 'refused' ? attached : { ...attached, kept: step.manifests }
}

interface RowIds {
  readonly outcome: 'assigned'
  readonly manifests: readonly ManifestFile[]
  readonly nextRowId: bigint
}

function assignRowIds(
  { formatVersion }: TableMetadata,
  manifests: readonly ManifestFile[],
  nextRowId: bigint,
): RowIds | RebaseRefusal {
  if (formatVersion < 3) return { outcome: 'assigned', manifests, nextRowId }
  try {
    return { outcome: 'assigned', ...assignFirstRowIds(manifests, nextRowId) }
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error
    return refuseRebase('the row counts of a manifest of the table are unknown')
  }
}

function snapshotOn(
  { metadata, nowMs, newLocation }: Rebase,
  on: {
    readonly written: WrittenSnapshot
    readonly step: Step
    readonly sequenceNumber: bigint
    readonly summary: Readonly<Record<string, string>>
    readonly lineage: RowIds
  },
): Snapshot {
  const { written, step, sequenceNumber, summary, lineage } = on
  const { snapshotId } = written.snapshot
  const snapshot: Filled<Snapshot> = {
    ...written.snapshot,
    sequenceNumber,
    // Time never goes backwards from the parent, whatever its writer's clock said.
    timestampMs: Math.max(nowMs, step.snapshot?.timestampMs ?? 0),
    manifestList: newLocation({ file: 'manifest-list', snapshotId }),
    summary,
  }
  delete snapshot.parentSnapshotId
  delete snapshot.firstRowId
  delete snapshot.addedRows
  if (step.snapshot !== undefined) snapshot.parentSnapshotId = step.snapshot.snapshotId
  if (metadata.formatVersion >= 3) {
    snapshot.firstRowId = step.nextRowId
    snapshot.addedRows = lineage.nextRowId - step.nextRowId
  }
  return snapshot
}

function listFile(
  { formatVersion }: TableMetadata,
  { snapshotId, parentSnapshotId, sequenceNumber, firstRowId, manifestList }: Snapshot,
  manifests: readonly ManifestFile[],
): NewFile {
  const bytes = writeManifestList({
    formatVersion,
    snapshotId,
    sequenceNumber,
    manifests,
    ...(parentSnapshotId === undefined ? {} : { parentSnapshotId }),
    ...(firstRowId === undefined ? {} : { firstRowId }),
  })
  return { location: manifestList ?? '', bytes }
}
