/*
 * Batches of appended files that landed. Each batch id lands once for as long as its row lives, whatever becomes of the
 * snapshot that brought it in. Rows are written with the swap (swap-many.ts). Times are epoch milliseconds of the caller.
 */
import type { SqlSession } from './sql-session.ts'
import type { AppendedBatch } from './swap-many.ts'

/** A batch as it landed. A repetition with other files has another request hash, and lands nothing either. */
export type LandedBatch = AppendedBatch

interface BatchRow {
  readonly batch_id: string
  readonly request_hash: string
  readonly snapshot_id: bigint
  readonly expires_at_ms: bigint
}

/** The landed ones among these batches of a table, by id; expired ones too, while their rows are there. */
export async function findBatches(
  session: SqlSession,
  { tableId, batchIds }: { readonly tableId: string; readonly batchIds: readonly string[] },
): Promise<ReadonlyMap<string, LandedBatch>> {
  if (batchIds.length === 0) return new Map()
  const rows = await session.query<BatchRow>(
    `select batch_id, request_hash, snapshot_id, expires_at_ms from append_batch
     where table_id = $1 and batch_id = any($2::text[])`,
    [tableId, batchIds],
  )
  return new Map(rows.map((row) => [row.batch_id, landedBatch(row)]))
}

function landedBatch(row: BatchRow): LandedBatch {
  return {
    batchId: row.batch_id,
    requestHash: row.request_hash,
    snapshotId: row.snapshot_id,
    expiresAtMs: Number(row.expires_at_ms),
  }
}

/** Deletes up to `limit` batches that expired before the given time, the oldest first; answers how many. */
export async function pruneBatches(
  session: SqlSession,
  { expiredBeforeMs, limit }: { readonly expiredBeforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from append_batch where (table_id, batch_id) in (
       select table_id, batch_id from append_batch where expires_at_ms < $1 order by expires_at_ms limit $2
       for update skip locked
     ) returning 1`,
    [expiredBeforeMs, limit],
  )
  return rows.length
}
