/*
 * The frame of every statement that changes a namespace or a table: the change, its event and the outcome of its
 * idempotency key in one statement. The change is a list of common table expressions that ends in `changed`, with the
 * columns subject_id, warehouse_id, table_id, table_uuid, event_number, levels and name. It must apply only where
 * `(select ok from guard)`, which is false when another call with the same key has finished.
 */
import { IdempotencyKeyLostError, StatementError } from './database-errors.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import type { EventInput } from './outbox.ts'
import type { SqlSession } from './sql-session.ts'

/** The parameters of a change itself start here; those before belong to the frame. */
export const FIRST_CHANGE_PARAMETER = 9

/** The number of the frame's parameter that holds the time, for changes that store it too. */
export const NOW_PARAMETER = '$8::bigint'

/** The levels of the namespace of each row of `made`, as a column: looked up by id, whatever the planner thinks. */
export const LEVELS_OF_MADE =
  '(select levels from namespace where id = made.namespace_id) as levels'

/** The text of a whole statement: `change` as described above, `verdict` the extra columns of its one row. */
export function changeStatement(change: string, verdict: string): string {
  return `
with reservation as (
  select 1 from idempotency_key
  where warehouse_id = $1::text and key = $2::text and status is null for update
), guard as materialized (
  select $2::text is null or exists (select from reservation) as ok
), ${change}, event as (
  insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
    created_at_ms)
  select subject_id || '-' || event_number, warehouse_id, table_id, table_uuid, event_number, $6::text, levels, name,
    $7::text, $8::bigint
  from changed
), finished as (
  update idempotency_key set status = $3::int, body = $4::text, metadata_location = $5::text
  where warehouse_id = $1::text and key = $2::text and exists (select from changed)
)
select exists (select from changed) as changed, (select ok from guard) as allowed, ${verdict}`
}

export interface Change {
  readonly event: EventInput
  readonly nowMs: number
  readonly idempotency?: IdempotencyTicket | undefined
  /** From FIRST_CHANGE_PARAMETER on. */
  readonly params: readonly unknown[]
}

/** Runs a statement of `changeStatement`; answers its row. Throws IdempotencyKeyLostError. */
export async function applyChange<Verdict>(
  session: SqlSession,
  statement: string,
  change: Change,
): Promise<Verdict & { readonly changed: boolean }> {
  const ticket = change.idempotency
  const [row] = await session.query<Verdict & { changed: boolean; allowed: boolean }>(statement, [
    ticket?.warehouseId ?? null,
    ticket?.key ?? null,
    ticket?.outcome.status ?? null,
    ticket?.outcome.body ?? null,
    ticket?.outcome.metadataLocation ?? null,
    change.event.kind,
    change.event.payload,
    change.nowMs,
    ...change.params,
  ])
  invariant(row !== undefined, 'a change statement answers one row')
  if (!row.allowed) {
    throw new IdempotencyKeyLostError()
  }
  return row
}

const VIOLATIONS: Readonly<Record<string, 'reference' | 'uniqueness'>> = {
  '23503': 'reference',
  '23505': 'uniqueness',
}

export interface ViolatedChange {
  readonly changed: false
  readonly violated: 'reference' | 'uniqueness'
}

/**
 * The same for changes whose check in the statement can be overtaken by another connection: the constraint that then
 * refuses it is the answer.
 */
export function applyUnlessViolated<Verdict>(
  session: SqlSession,
  statement: string,
  change: Change,
): Promise<UnlessViolated<Verdict>> {
  return unlessViolated(() => applyChange<Verdict>(session, statement, change))
}

export type UnlessViolated<Verdict> =
  (Verdict & { readonly changed: boolean; readonly violated?: never }) | ViolatedChange

/** The verdict of a change, or the constraint that refused it. */
export async function unlessViolated<Verdict>(
  apply: () => Promise<Verdict & { readonly changed: boolean }>,
): Promise<UnlessViolated<Verdict>> {
  try {
    return await apply()
  } catch (error) {
    const violated = error instanceof StatementError ? VIOLATIONS[error.code ?? ''] : undefined
    if (violated === undefined) throw error
    return { changed: false, violated }
  }
}
