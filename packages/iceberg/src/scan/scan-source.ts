import { currentSchema } from '../snapshot/new-snapshot.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { Schema } from '../spec/schema.ts'
import { MAIN_BRANCH, type Snapshot } from '../spec/snapshot.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'

/** What a client asks to scan. All absent: the head of `main`. */
export interface ScanAsk {
  readonly snapshotId?: bigint
  /** Exclusive; together with `endSnapshotId` an incremental scan of what was appended in between. */
  readonly startSnapshotId?: bigint
  /** Inclusive. */
  readonly endSnapshotId?: bigint
  /** The schema that the snapshot was written with, instead of the table's current one. */
  readonly useSnapshotSchema?: boolean
}

/** What has to be read for a scan. */
export interface ScanSource {
  /** Which filters and fields are of. */
  readonly schema: Schema
  /** The snapshots whose manifest lists count; none when there is nothing to scan. Oldest first. */
  readonly snapshots: readonly Snapshot[]
  /**
   * Only of incremental scans: data files count when an entry of one of these snapshots added them, and delete files never
   * do. One file may be found through several lists.
   */
  readonly addedIn?: ReadonlySet<bigint>
}

/**
 * The snapshots and the schema of a scan. An incremental scan covers the `append` snapshots after the start up to the end; what
 * other snapshots between them did is passed over, as the Java library does. A start that was expired is fine while a child
 * of it is there. Throws InvalidInputError for an unknown snapshot, half an incremental scan, both kinds at once, and a
 * start that is no ancestor of the end. Spec: REST `planTableScan`.
 */
export function scanSource(metadata: TableMetadata, ask: ScanAsk): ScanSource {
  const { snapshotId, startSnapshotId, endSnapshotId } = ask
  if (startSnapshotId === undefined && endSnapshotId === undefined) {
    return pointInTime(metadata, snapshotId, ask.useSnapshotSchema === true)
  }
  if (snapshotId !== undefined) {
    throw new InvalidInputError(
      'expected either snapshot-id or start-snapshot-id and end-snapshot-id, got both',
    )
  }
  if (startSnapshotId === undefined || endSnapshotId === undefined) {
    const missing = startSnapshotId === undefined ? 'start-snapshot-id' : 'end-snapshot-id'
    throw new InvalidInputError(`expected ${missing} in an incremental scan, got none`)
  }
  return incremental(metadata, { startSnapshotId, endSnapshotId }, ask.useSnapshotSchema === true)
}

function pointInTime(
  metadata: TableMetadata,
  snapshotId: bigint | undefined,
  isSnapshotSchema: boolean,
): ScanSource {
  const id = snapshotId ?? metadata.refs[MAIN_BRANCH]?.snapshotId ?? metadata.currentSnapshotId
  if (id === undefined) return { schema: currentSchema(metadata), snapshots: [] }
  const snapshot = snapshotOf(metadata, id)
  return { schema: schemaOf(metadata, snapshot, isSnapshotSchema), snapshots: [snapshot] }
}

function incremental(
  metadata: TableMetadata,
  range: { readonly startSnapshotId: bigint; readonly endSnapshotId: bigint },
  isSnapshotSchema: boolean,
): ScanSource {
  const { startSnapshotId, endSnapshotId } = range
  const end = snapshotOf(metadata, endSnapshotId)
  const snapshots = snapshotsAfter(metadata, startSnapshotId, end)
    .filter((snapshot) => snapshot.summary?.['operation'] === 'append')
    .reverse()
  return {
    schema: schemaOf(metadata, end, isSnapshotSchema),
    snapshots,
    addedIn: new Set(snapshots.map((snapshot) => snapshot.snapshotId)),
  }
}

/** Newest first. */
function snapshotsAfter(metadata: TableMetadata, startId: bigint, end: Snapshot): Snapshot[] {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]))
  const found: Snapshot[] = []
  let current: Snapshot | undefined = end
  // A history that goes in circles ends when each snapshot was met once.
  while (current !== undefined && found.length < byId.size) {
    if (current.snapshotId === startId) return found
    found.push(current)
    if (current.parentSnapshotId === startId) return found
    current =
      current.parentSnapshotId === undefined ? undefined : byId.get(current.parentSnapshotId)
  }
  throw new InvalidInputError(
    `expected start-snapshot-id to be an ancestor of snapshot ${end.snapshotId}, got ${startId}`,
  )
}

function snapshotOf(metadata: TableMetadata, snapshotId: bigint): Snapshot {
  const snapshot = metadata.snapshots.find((each) => each.snapshotId === snapshotId)
  if (snapshot !== undefined) return snapshot
  throw new InvalidInputError(`expected a snapshot of the table, got ${snapshotId}`)
}

/** Snapshots of old writers do not say which schema they were written with. */
function schemaOf(metadata: TableMetadata, snapshot: Snapshot, isOwn: boolean): Schema {
  const own = metadata.schemas.find(({ schemaId }) => schemaId === snapshot.schemaId)
  return (isOwn ? own : undefined) ?? currentSchema(metadata)
}
