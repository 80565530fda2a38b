/*
 * Idempotency keys. A key is reserved before the work, and its outcome is written in the transaction of the change,
 * so an expired reservation without an outcome means that nothing happened and may be taken over. Two owners of one
 * key cannot both change something: the first outcome wins and the other change is refused with
 * IdempotencyKeyLostError. Times are epoch milliseconds of the caller.
 */
import { invariant } from './invariant.ts'
import type { SqlSession } from './sql-session.ts'

/** The recorded answer. `metadataLocation` stands for a body that is built from that metadata file; `body` is a note then. */
export interface IdempotencyOutcome {
  readonly status: number
  readonly body?: string | undefined
  readonly metadataLocation?: string | undefined
}

/** What a change takes along, so that its outcome is stored with it. */
export interface IdempotencyTicket {
  readonly warehouseId: string
  readonly key: string
  readonly outcome: IdempotencyOutcome
}

export interface IdempotencyReservation {
  readonly warehouseId: string
  readonly key: string
  /** What is called, for example `updateTable main/ns/t`. */
  readonly operation: string
  readonly requestHash: string
  readonly nowMs: number
  /** How long this call may take before another may take the key over. */
  readonly leaseMs: number
  /** How long the outcome is kept. */
  readonly lifetimeMs: number
}

export type IdempotencyVerdict =
  | { readonly outcome: 'reserved' }
  | { readonly outcome: 'running'; readonly retryAfterMs: number }
  | { readonly outcome: 'mismatch' }
  | ({ readonly outcome: 'done' } & IdempotencyOutcome)

const RESERVE = `
with reserved as (
  insert into idempotency_key as k
    (warehouse_id, key, operation, request_hash, lease_until_ms, expires_at_ms)
  values ($1, $2, $3, $4, $5::bigint + $6::bigint, $5::bigint + $7::bigint)
  on conflict (warehouse_id, key) do update set
    operation = excluded.operation, request_hash = excluded.request_hash,
    lease_until_ms = excluded.lease_until_ms, expires_at_ms = excluded.expires_at_ms,
    status = null, body = null, metadata_location = null
  where k.expires_at_ms <= $5::bigint
    or (k.status is null and k.lease_until_ms <= $5::bigint
        and k.operation = excluded.operation and k.request_hash = excluded.request_hash)
  returning 1
)
select true as reserved, null::text as operation, null::text as request_hash, null::bigint as lease_until_ms,
  null::int as status, null::text as body, null::text as metadata_location
from reserved
union all
select false, operation, request_hash, lease_until_ms, status, body, metadata_location
from idempotency_key
where warehouse_id = $1 and key = $2 and not exists (select from reserved)`

interface ReserveRow {
  readonly reserved: boolean
  readonly operation: string
  readonly request_hash: string
  readonly lease_until_ms: bigint
  readonly status: number | null
  readonly body: string | null
  readonly metadata_location: string | null
}

/** A concurrent reservation may be invisible to the statement that lost to it; the next one sees it. */
const RESERVE_ATTEMPTS_MAX = 3

/**
 * `reserved`: go ahead. `running`: another call works on it. `done`: here is its answer. `mismatch`: the key belongs
 * to another operation or body.
 */
export async function reserveIdempotencyKey(
  session: SqlSession,
  reservation: IdempotencyReservation,
): Promise<IdempotencyVerdict> {
  const { warehouseId, key, operation, requestHash, nowMs, leaseMs, lifetimeMs } = reservation
  const params = [warehouseId, key, operation, requestHash, nowMs, leaseMs, lifetimeMs]
  for (let attempt = 1; attempt <= RESERVE_ATTEMPTS_MAX; attempt++) {
    const [row] = await session.query<ReserveRow>(RESERVE, params)
    if (row !== undefined) return verdictOf(row, reservation)
  }
  return { outcome: 'running', retryAfterMs: leaseMs }
}

function verdictOf(row: ReserveRow, reservation: IdempotencyReservation): IdempotencyVerdict {
  if (row.reserved) return { outcome: 'reserved' }
  const same =
    row.operation === reservation.operation && row.request_hash === reservation.requestHash
  if (!same) return { outcome: 'mismatch' }
  if (row.status === null) {
    return {
      outcome: 'running',
      retryAfterMs: Math.max(0, Number(row.lease_until_ms) - reservation.nowMs),
    }
  }
  return {
    outcome: 'done',
    status: row.status,
    ...(row.body === null ? {} : { body: row.body }),
    ...(row.metadata_location === null ? {} : { metadataLocation: row.metadata_location }),
  }
}

const FINISH = `
update idempotency_key set status = $3, body = $4, metadata_location = $5
where warehouse_id = $1 and key = $2 and status is null
returning 1`

/**
 * Records the answer of a call that changed nothing, such as a 404 or 409. `lost`: another call finished first.
 * Calls that change something pass their ticket to the change instead.
 */
export async function finishIdempotencyKey(
  session: SqlSession,
  ticket: { readonly warehouseId: string; readonly key: string },
  outcome: IdempotencyOutcome,
): Promise<'finished' | 'lost'> {
  invariant(
    outcome.status < 500,
    'a server error is never kept as the answer of an idempotency key',
  )
  const rows = await session.query(FINISH, [
    ticket.warehouseId,
    ticket.key,
    outcome.status,
    outcome.body ?? null,
    outcome.metadataLocation ?? null,
  ])
  return rows.length === 1 ? 'finished' : 'lost'
}

/** A key as it is on record: `status` is absent while nobody has finished under it. */
export interface KeptIdempotencyKey extends Omit<IdempotencyOutcome, 'status'> {
  readonly status?: number
  /** Until then the call that reserved it may be running. */
  readonly leaseUntilMs: number
}

/** The record of a key; undefined when it was never used, was given back, or is forgotten. */
export async function findIdempotencyKey(
  session: SqlSession,
  { warehouseId, key }: { readonly warehouseId: string; readonly key: string },
): Promise<KeptIdempotencyKey | undefined> {
  const [row] = await session.query<Omit<ReserveRow, 'reserved'>>(
    `select lease_until_ms, status, body, metadata_location from idempotency_key
     where warehouse_id = $1 and key = $2`,
    [warehouseId, key],
  )
  if (row === undefined) return undefined
  return {
    leaseUntilMs: Number(row.lease_until_ms),
    ...(row.status === null ? {} : { status: row.status }),
    ...(row.body === null ? {} : { body: row.body }),
    ...(row.metadata_location === null ? {} : { metadataLocation: row.metadata_location }),
  }
}

/** Gives a reserved key back after a call that certainly changed nothing and may be tried again (401, 403, 5xx). */
export async function releaseIdempotencyKey(
  session: SqlSession,
  ticket: { readonly warehouseId: string; readonly key: string },
): Promise<void> {
  await session.query(
    'delete from idempotency_key where warehouse_id = $1 and key = $2 and status is null',
    [ticket.warehouseId, ticket.key],
  )
}

/** Deletes up to `limit` keys whose lifetime is over; answers how many. */
export async function pruneIdempotencyKeys(
  session: SqlSession,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<number> {
  const rows = await session.query(
    `delete from idempotency_key where (warehouse_id, key) in (
       select warehouse_id, key from idempotency_key where expires_at_ms <= $1 order by expires_at_ms limit $2
       for update skip locked
     ) returning 1`,
    [nowMs, limit],
  )
  return rows.length
}
