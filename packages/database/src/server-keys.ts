/*
 * Keys that the processes of one database share for what they sign. Rows are only added: the newest that a process can
 * read signs, and each that it can read proves. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'

export interface ServerKeyRow {
  readonly id: string
  /** Sealed, where the process that made it could. Never shown, never logged. */
  readonly keyText: string
  readonly createdAtMs: number
}

/** The keys for one purpose, newest first. */
export async function listServerKeys(
  session: SqlSession,
  { purpose }: { readonly purpose: string },
): Promise<ServerKeyRow[]> {
  const records = await session.query<{ id: string; key_text: string; created_at_ms: bigint }>(
    `select id, key_text, created_at_ms from server_key where purpose = $1 order by created_at_ms desc, id desc`,
    [purpose],
  )
  return records.map((record) => ({
    id: record.id,
    keyText: record.key_text,
    createdAtMs: Number(record.created_at_ms),
  }))
}

/** Keeps one more key. */
export async function addServerKey(
  session: SqlSession,
  key: { readonly id: string; readonly purpose: string; readonly keyText: string; nowMs: number },
): Promise<void> {
  await session.query(
    'insert into server_key (id, purpose, key_text, created_at_ms) values ($1, $2, $3, $4)',
    [key.id, key.purpose, key.keyText, key.nowMs],
  )
}
