/*
 * Many commits in one statement: pointers of different tables that wait at the same moment share one round trip, one
 * transaction and one flush. Each swap gets its own verdict, exactly as swapMetadataLocation would give it. Rows are
 * locked in the order of their ids, so two processes that do this at once cannot deadlock.
 */
import { LEVELS_OF_MADE } from './apply-change.ts'
import { IdempotencyKeyLostError } from './database-errors.ts'
import { invariant } from './invariant.ts'
import { landedParameters } from './landed-commits.ts'
import type { MetadataSwap } from './swap-metadata-location.ts'
import type { SqlSession } from './sql-session.ts'

export type SwapVerdict = 'swapped' | 'stale' | 'missing' | IdempotencyKeyLostError

// `any(array(…))` beside each join: a plan made over small tables must still enter the index by its columns later.
// $1-$14 hold one item per swap; $15-$16 and $17-$18 are pairs of a swap's place and an added or forgotten snapshot.
const SWAP_MANY = `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::text[]) with ordinality
    as i(table_id, expected, next, table_uuid, location, now_ms, kind, payload, key_warehouse, key, status, body,
      outcome_location, request_hash, place)
), reservation as materialized (
  select i.place
  from (select * from input where key is not null order by key_warehouse, key) as i
  cross join lateral (
    select 1 from idempotency_key k
    where k.warehouse_id = i.key_warehouse and k.key = i.key and k.status is null limit 1 for update
  ) as open
), guarded as materialized (
  select i.*, i.key is null or i.place in (select place from reservation) as ok from input i
), locked as materialized (
  select g.*
  from (select * from guarded where ok order by table_id) as g
  cross join lateral (
    select 1 from catalog_table t where t.id = g.table_id limit 1 for no key update
  ) as row
), made as (
  update catalog_table t set metadata_location = g.next, table_uuid = g.table_uuid,
    version = t.version + 1, event_number = t.event_number + 1, updated_at_ms = g.now_ms
  from locked g
  where t.id = any(array(select table_id from locked)) and t.id = g.table_id
    and t.metadata_location is not distinct from g.expected
    and t.location is not distinct from g.location
  returning g.place, t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number, t.name
), event as (
  insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
    created_at_ms)
  select made.id || '-' || made.event_number, made.warehouse_id, made.id, made.table_uuid, made.event_number, g.kind,
    ${LEVELS_OF_MADE}, made.name, g.payload, g.now_ms
  from made join guarded g on g.place = made.place
  order by made.place
), forgotten as (
  delete from landed_commit c using unnest($17::bigint[], $18::bigint[]) as f(place, snapshot_id) join made
    on made.place = f.place
  where c.table_id = any(array(select id from made)) and c.snapshot_id = any($18::bigint[])
    and c.table_id = made.id and c.snapshot_id = f.snapshot_id
), landed as (
  insert into landed_commit (table_id, snapshot_id, request_hash, metadata_location, landed_at_ms)
  select made.id, a.snapshot_id, g.request_hash, g.next, g.now_ms
  from unnest($15::bigint[], $16::bigint[]) as a(place, snapshot_id)
    join made on made.place = a.place join guarded g on g.place = a.place
  on conflict (table_id, snapshot_id) do update set request_hash = excluded.request_hash,
    metadata_location = excluded.metadata_location, landed_at_ms = excluded.landed_at_ms
), finished as (
  update idempotency_key k set status = g.status, body = g.body, metadata_location = g.outcome_location
  from guarded g join made on made.place = g.place
  where k.warehouse_id = any(array(select key_warehouse from input)) and k.key = any(array(select key from input))
    and k.warehouse_id = g.key_warehouse and k.key = g.key
)
select g.place, g.ok as allowed, g.place in (select place from made) as changed,
  g.place in (select place from locked) as present
from guarded g order by g.place`

interface VerdictRow {
  readonly place: bigint
  readonly allowed: boolean
  readonly changed: boolean
  readonly present: boolean
}

/**
 * The verdicts of the swaps, in their order. Each table at most once, and every table stays at its location: a swap that
 * moves its table is `stale` here and belongs to swapMetadataLocation. Errors: StatementError (nothing changed),
 * DatabaseUnavailableError (each of them unknown: read the pointers before deciding).
 */
export async function swapMany(
  session: SqlSession,
  swaps: readonly MetadataSwap[],
): Promise<readonly SwapVerdict[]> {
  const tables = new Set(swaps.map(({ tableId }) => tableId))
  invariant(tables.size === swaps.length, 'a table is swapped at most once in one statement')
  const rows = await session.query<VerdictRow>(SWAP_MANY, parametersOf(swaps))
  invariant(rows.length === swaps.length, 'each swap gets a verdict')
  return rows.map(verdictOf)
}

function verdictOf({ allowed, changed, present }: VerdictRow): SwapVerdict {
  if (!allowed) return new IdempotencyKeyLostError()
  if (changed) return 'swapped'
  return present ? 'stale' : 'missing'
}

function parametersOf(swaps: readonly MetadataSwap[]): readonly unknown[] {
  const column = <T>(pick: (swap: MetadataSwap) => T) => swaps.map(pick)
  const landed = swaps.map((swap) => landedParameters(swap.landed))
  const added = pairs(landed.map(([, snapshotIds]) => snapshotIds))
  const forgotten = pairs(landed.map(([, , snapshotIds]) => snapshotIds))
  return [
    column(({ tableId }) => tableId),
    column(({ expected }) => expected),
    column(({ next }) => next),
    column(({ tableUuid }) => tableUuid),
    column(({ location }) => location),
    column(({ nowMs }) => nowMs),
    column(({ event }) => event.kind),
    column(({ event }) => event.payload),
    column(({ idempotency }) => idempotency?.warehouseId ?? null),
    column(({ idempotency }) => idempotency?.key ?? null),
    column(({ idempotency }) => idempotency?.outcome.status ?? null),
    column(({ idempotency }) => idempotency?.outcome.body ?? null),
    column(({ idempotency }) => idempotency?.outcome.metadataLocation ?? null),
    landed.map(([requestHash]) => requestHash),
    added.places,
    added.ids,
    forgotten.places,
    forgotten.ids,
  ]
}

/** Snapshot ids with the place, from 1, of the swap that they belong to. */
function pairs(idsOfSwaps: readonly (readonly bigint[])[]): {
  readonly places: readonly number[]
  readonly ids: readonly bigint[]
} {
  return {
    places: idsOfSwaps.flatMap((ids, index) => ids.map(() => index + 1)),
    ids: idsOfSwaps.flat(),
  }
}
