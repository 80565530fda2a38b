/*
 * The audit log: who changed what, was given access to what, and was refused what. Entries are only added, and pruned by
 * age. Times are epoch milliseconds of the caller. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'
import { joinLevels, splitLevels } from './stored-name.ts'

export interface AuditEntry {
  readonly atMs: number
  readonly callerId: string
  readonly callerName: string
  /** `trusted`, `operator`, `account`, `federated`, or `unknown` for who could not prove who it is. */
  readonly callerKind: string
  /** The operationId of the route, or what was done inside it. */
  readonly action: string
  readonly outcome: 'done' | 'denied' | 'failed'
  /** Of the HTTP answer. */
  readonly status: number
  /** Names as they were then. */
  readonly warehouse: string | undefined
  readonly namespace: readonly string[] | undefined
  /** The table, view, account or webhook. */
  readonly object: string | undefined
  /** A few words for people; no secret. */
  readonly detail: string | undefined
  readonly remoteAddress: string | undefined
}

/** An entry in the log; `seq` grows, with gaps. */
export interface AuditRow extends AuditEntry {
  readonly seq: bigint
}

interface AuditRecord {
  readonly seq: bigint
  readonly at_ms: bigint
  readonly caller_id: string
  readonly caller_name: string
  readonly caller_kind: string
  readonly action: string
  readonly outcome: AuditEntry['outcome']
  readonly status: number
  readonly warehouse: string | null
  readonly namespace: string | null
  readonly object: string | null
  readonly detail: string | null
  readonly remote_address: string | null
}

const WRITE = `
insert into audit_entry (at_ms, caller_id, caller_name, caller_kind, action, outcome, status, warehouse, namespace, object,
  detail, remote_address)
select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[],
  $9::text[], $10::text[], $11::text[], $12::text[])`

/** Adds entries, all or none, in their order. Names may be hostile: NUL is written as U+FFFD. */
export async function writeAuditEntries(
  session: SqlSession,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return
  const column = (read: (entry: AuditEntry) => string | undefined) =>
    entries.map((entry) => storable(read(entry)))
  await session.query(WRITE, [
    entries.map(({ atMs }) => atMs),
    column(({ callerId }) => callerId),
    column(({ callerName }) => callerName),
    column(({ callerKind }) => callerKind),
    column(({ action }) => action),
    column(({ outcome }) => outcome),
    entries.map(({ status }) => status),
    column(({ warehouse }) => warehouse),
    column(({ namespace }) => (namespace?.length ? joinLevels(namespace) : undefined)),
    column(({ object }) => object),
    column(({ detail }) => detail),
    column(({ remoteAddress }) => remoteAddress),
  ])
}

function storable(text: string | undefined): string | null {
  return text === undefined ? null : text.replaceAll(/\u0000|\p{Surrogate}/gu, '\ufffd')
}

export interface AuditFilter {
  /** The id or the name of a caller. */
  readonly caller?: string | undefined
  readonly warehouse?: string | undefined
  readonly action?: string | undefined
  readonly outcome?: AuditEntry['outcome'] | undefined
  readonly fromMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** Entries that pass the filter, newest first, at most `limit`; those before `beforeSeq` where a page goes on. */
export async function listAuditEntries(
  session: SqlSession,
  page: { filter: AuditFilter; beforeSeq?: bigint | undefined; limit: number },
): Promise<AuditRow[]> {
  const { filter, beforeSeq, limit } = page
  const records = await session.query<AuditRecord>(
    `select * from audit_entry where ($1::bigint is null or seq < $1::bigint)
       and ($2::text is null or $2::text in (caller_id, caller_name)) and ($3::text is null or warehouse = $3::text)
       and ($4::text is null or action = $4::text) and ($5::text is null or outcome = $5::text)
       and ($6::bigint is null or at_ms >= $6::bigint) and ($7::bigint is null or at_ms < $7::bigint)
     order by seq desc limit $8::int`,
    [
      ...[beforeSeq ?? null, filter.caller ?? null, filter.warehouse ?? null],
      ...[filter.action ?? null, filter.outcome ?? null],
      ...[filter.fromMs ?? null, filter.untilMs ?? null, limit],
    ],
  )
  return records.map(auditRowOf)
}

/** Forgets up to `limit` entries from before this time; answers how many. */
export async function pruneAuditEntries(
  session: SqlSession,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from audit_entry where seq in (
       select seq from audit_entry where at_ms < $1::bigint order by at_ms limit $2::int for update skip locked
     ) returning 1`,
    [beforeMs, limit],
  )
  return rows.length
}

function auditRowOf(record: AuditRecord): AuditRow {
  return {
    seq: record.seq,
    atMs: Number(record.at_ms),
    callerId: record.caller_id,
    callerName: record.caller_name,
    callerKind: record.caller_kind,
    action: record.action,
    outcome: record.outcome,
    status: record.status,
    warehouse: record.warehouse ?? undefined,
    namespace: record.namespace === null ? undefined : splitLevels(record.namespace),
    object: record.object ?? undefined,
    detail: record.detail ?? undefined,
    remoteAddress: record.remote_address ?? undefined,
  }
}
