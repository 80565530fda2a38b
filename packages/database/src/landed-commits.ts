/*
 * Landed commits: which request added a snapshot. A request that comes again, by a proxy or a client that lost the
 * answer, is recognised by its hash; it is remembered until its snapshots are forgotten. Written with the swap.
 */
import type { SqlSession } from './sql-session.ts'

export interface LandedCommit {
  readonly requestHash: string
  /** The snapshots that this commit added. Without any, nothing is remembered. */
  readonly snapshotIds: readonly bigint[]
  /** The snapshots that this commit removed. */
  readonly forgetSnapshotIds: readonly bigint[]
}

/** The metadata file and the snapshots of the commit with this request hash; undefined when it never landed. */
export async function findLandedCommit(
  session: SqlSession,
  { tableId, requestHash }: { readonly tableId: string; readonly requestHash: string },
): Promise<{ readonly metadataLocation: string; readonly snapshotIds: bigint[] } | undefined> {
  const rows = await session.query<{ metadata_location: string; snapshot_id: bigint }>(
    `select metadata_location, snapshot_id from landed_commit
     where table_id = $1 and request_hash = $2 order by landed_at_ms desc, snapshot_id`,
    [tableId, requestHash],
  )
  const [newest] = rows
  if (newest === undefined) return undefined
  const landed = rows.filter((row) => row.metadata_location === newest.metadata_location)
  return {
    metadataLocation: newest.metadata_location,
    snapshotIds: landed.map((row) => row.snapshot_id),
  }
}

export interface LandedSnapshot {
  readonly snapshotId: bigint
  /** The metadata file with which it landed. */
  readonly metadataLocation: string
  readonly landedAtMs: number
}

/** The record of a snapshot; undefined when it never landed, or was removed from the table since. */
export async function findLandedSnapshot(
  session: SqlSession,
  { tableId, snapshotId }: { readonly tableId: string; readonly snapshotId: bigint },
): Promise<LandedSnapshot | undefined> {
  const [row] = await session.query<{ metadata_location: string; landed_at_ms: bigint }>(
    'select metadata_location, landed_at_ms from landed_commit where table_id = $1 and snapshot_id = $2',
    [tableId, snapshotId],
  )
  if (row === undefined) return undefined
  const { metadata_location: metadataLocation, landed_at_ms: landedAtMs } = row
  return { snapshotId, metadataLocation, landedAtMs: Number(landedAtMs) }
}

/**
 * Common table expressions that keep the book of landed commits beside a change of the table `tableId` (an SQL text
 * or parameter) to `metadataLocation`. They need the CTE `changed`; `parameter` is the number of the first of the
 * three parameters of `landedParameters`.
 */
export function landedExpressions(where: {
  readonly tableId: string
  readonly metadataLocation: string
  readonly nowMs: string
  readonly parameter: number
}): string {
  const [hash, added, forgotten] = [where.parameter, where.parameter + 1, where.parameter + 2]
  return `forgotten as (
  delete from landed_commit where table_id = ${where.tableId} and snapshot_id = any($${forgotten}::bigint[])
    and exists (select from changed)
), landed as (
  insert into landed_commit (table_id, snapshot_id, request_hash, metadata_location, landed_at_ms)
  select ${where.tableId}, snapshot_id, $${hash}::text, ${where.metadataLocation}, ${where.nowMs}
  from unnest($${added}::bigint[]) as snapshot_id where exists (select from changed)
  on conflict (table_id, snapshot_id) do update set request_hash = excluded.request_hash,
    metadata_location = excluded.metadata_location, landed_at_ms = excluded.landed_at_ms
)`
}

/** The three parameters of `landedExpressions`: request hash, added and forgotten snapshot ids. */
export function landedParameters(
  landed: LandedCommit | undefined,
): readonly [requestHash: string | null, added: readonly bigint[], forgotten: readonly bigint[]] {
  if (landed === undefined) return [null, [], []]
  const added = new Set(landed.snapshotIds)
  return [
    landed.requestHash,
    [...added],
    landed.forgetSnapshotIds.filter((snapshotId) => !added.has(snapshotId)),
  ]
}
