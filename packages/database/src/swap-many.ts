/*
 * Commits of many tables in one statement: pointers of different tables that wait at the same moment share one round
 * trip, one transaction and one flush, and so do all commits of one table that landed in one metadata file. Each swap gets
 * its own verdict. Rows are locked in the order of their ids, so two processes that do this at once cannot deadlock.
 */
import { LEVELS_OF_MADE } from './apply-change.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import { type LandedCommit, landedParameters } from './landed-commits.ts'
import type { EventInput } from './outbox.ts'
import type { SqlSession } from './sql-session.ts'

/** A batch of files that lands with a swap, and until when its id is remembered. */
export interface AppendedBatch {
  readonly batchId: string
  readonly requestHash: string
  readonly snapshotId: bigint
  readonly expiresAtMs: number
}

/** The commits of one table that share a metadata file, on their way into the database. */
export interface GroupSwap {
  readonly tableId: string
  /** The metadata location that the commits were computed from. */
  readonly expected: string
  readonly next: string
  readonly tableUuid: string
  /** Of the table, which stays where it is. */
  readonly location: string
  readonly nowMs: number
  /** At least one, in the order of the commits; the first gets the number after the table's last event. */
  readonly events: readonly EventInput[]
  /** No snapshot id twice. */
  readonly landed: readonly LandedCommit[]
  /** The keys whose outcome is this swap; no key twice. */
  readonly idempotency: readonly IdempotencyTicket[]
  /** No batch id twice. */
  readonly batches: readonly AppendedBatch[]
}

/** `keys-lost`: calls with these idempotency keys have finished elsewhere, so nothing was changed. */
export type SwapVerdict =
  'swapped' | 'stale' | 'missing' | { readonly outcome: 'keys-lost'; readonly keys: string[] }

// `any(array(…))` beside each join: a plan made over small tables must still enter the index by its columns later.
// $1-$7 hold one item per swap; the others one item per ticket, event, snapshot or batch, with the place of its swap.
// A process that swaps in its turn passes it on, see commit-turns.ts: $28 is its name.
/** The statement of `swapMany`. */
export const SWAP_MANY = `
with input as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
    with ordinality as i(table_id, expected, next, table_uuid, location, now_ms, event_count, place)
), ticket as materialized (
  select * from unnest($8::bigint[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[])
    as t(place, warehouse_id, key, status, body, outcome_location)
), reservation as materialized (
  select t.key
  from (select * from ticket order by warehouse_id, key) as t
  cross join lateral (
    select 1 from idempotency_key k
    where k.warehouse_id = t.warehouse_id and k.key = t.key and k.status is null limit 1 for update
  ) as open
), guarded as materialized (
  select i.*, (select string_agg(t.key, ' ') from ticket t
    where t.place = i.place and t.key not in (select key from reservation)) as lost_keys
  from input i
), locked as materialized (
  select g.*
  from (select * from guarded where lost_keys is null order by table_id) as g
  cross join lateral (
    select 1 from catalog_table t where t.id = g.table_id limit 1 for no key update
  ) as row
), made as (
  update catalog_table t set metadata_location = g.next, table_uuid = g.table_uuid, version = t.version + 1,
    event_number = t.event_number + g.event_count, updated_at_ms = g.now_ms,
    commit_turn = case when t.commit_turn = $28::text then t.commit_next else t.commit_turn end,
    commit_next = case when t.commit_turn = $28::text then null else t.commit_next end
  from locked g
  where t.id = any(array(select table_id from locked)) and t.id = g.table_id
    and t.metadata_location is not distinct from g.expected
    and t.location is not distinct from g.location
  returning g.place, g.event_count, g.next, g.now_ms, t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number,
    t.name
), event as (
  insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
    created_at_ms)
  select made.id || '-' || n.number, made.warehouse_id, made.id, made.table_uuid, n.number, e.kind, ${LEVELS_OF_MADE},
    made.name, e.payload, made.now_ms
  from unnest($14::bigint[], $15::bigint[], $16::text[], $17::text[]) as e(place, nth, kind, payload)
    join made on made.place = e.place
    cross join lateral (select made.event_number - made.event_count + e.nth as number) as n
  order by e.place, e.nth
), forgotten as (
  delete from landed_commit c using unnest($18::bigint[], $19::bigint[]) as f(place, snapshot_id) join made
    on made.place = f.place
  where c.table_id = any(array(select id from made)) and c.snapshot_id = any($19::bigint[])
    and c.table_id = made.id and c.snapshot_id = f.snapshot_id
), landed as (
  insert into landed_commit (table_id, snapshot_id, request_hash, metadata_location, landed_at_ms)
  select made.id, a.snapshot_id, a.request_hash, made.next, made.now_ms
  from unnest($20::bigint[], $21::bigint[], $22::text[]) as a(place, snapshot_id, request_hash)
    join made on made.place = a.place
  on conflict (table_id, snapshot_id) do update set request_hash = excluded.request_hash,
    metadata_location = excluded.metadata_location, landed_at_ms = excluded.landed_at_ms
), batch as (
  insert into append_batch (table_id, batch_id, request_hash, snapshot_id, landed_at_ms, expires_at_ms)
  select made.id, b.batch_id, b.request_hash, b.snapshot_id, made.now_ms, b.expires_at_ms
  from unnest($23::bigint[], $24::text[], $25::text[], $26::bigint[], $27::bigint[])
    as b(place, batch_id, request_hash, snapshot_id, expires_at_ms)
    join made on made.place = b.place
  on conflict (table_id, batch_id) do update set request_hash = excluded.request_hash,
    snapshot_id = excluded.snapshot_id, landed_at_ms = excluded.landed_at_ms, expires_at_ms = excluded.expires_at_ms
), finished as (
  update idempotency_key k set status = t.status, body = t.body, metadata_location = t.outcome_location
  from ticket t join made on made.place = t.place
  where k.warehouse_id = any(array(select warehouse_id from ticket)) and k.key = any(array(select key from ticket))
    and k.warehouse_id = t.warehouse_id and k.key = t.key
)
select g.lost_keys, g.place in (select place from made) as changed, g.place in (select place from locked) as present
from guarded g order by g.place`

interface VerdictRow {
  readonly lost_keys: string | null
  readonly changed: boolean
  readonly present: boolean
}

/**
 * The verdicts of the swaps, in their order. Each table at most once, and every table stays at its location: a swap that
 * moves its table is `stale` here and belongs to swapMetadataLocation. `processId` says whose turn ends. Errors: StatementError (nothing changed),
 * DatabaseUnavailableError (each of them unknown: read the pointers before deciding).
 */
export async function swapMany(
  session: SqlSession,
  swaps: readonly GroupSwap[],
  processId = '',
): Promise<readonly SwapVerdict[]> {
  const tables = new Set(swaps.map(({ tableId }) => tableId))
  invariant(tables.size === swaps.length, 'a table is swapped at most once in one statement')
  const rows = await session.query<VerdictRow>(SWAP_MANY, [...parametersOf(swaps), processId])
  invariant(rows.length === swaps.length, 'each swap gets a verdict')
  return rows.map(verdictOf)
}

function verdictOf({ lost_keys: lostKeys, changed, present }: VerdictRow): SwapVerdict {
  if (lostKeys !== null) return { outcome: 'keys-lost', keys: lostKeys.split(' ') }
  if (changed) return 'swapped'
  return present ? 'stale' : 'missing'
}

function parametersOf(swaps: readonly GroupSwap[]): readonly unknown[] {
  const column = <T>(pick: (swap: GroupSwap) => T) => swaps.map(pick)
  return [
    column(({ tableId }) => tableId),
    column(({ expected }) => expected),
    column(({ next }) => next),
    column(({ tableUuid }) => tableUuid),
    column(({ location }) => location),
    column(({ nowMs }) => nowMs),
    column(({ events }) => events.length),
    ...ticketColumns(swaps),
    ...eventColumns(swaps),
    ...landedColumns(swaps),
    ...batchColumns(swaps),
  ]
}

/** The items of all swaps, each with the place, from 1, of its swap. */
function placed<Item>(swaps: readonly GroupSwap[], pick: (swap: GroupSwap) => readonly Item[]) {
  return swaps.flatMap((swap, index) =>
    pick(swap).map((item, nth) => ({ item, place: index + 1, nth: nth + 1 })),
  )
}

function ticketColumns(swaps: readonly GroupSwap[]): readonly unknown[] {
  const tickets = placed(swaps, ({ idempotency }) => idempotency)
  return [
    tickets.map(({ place }) => place),
    tickets.map(({ item }) => item.warehouseId),
    tickets.map(({ item }) => item.key),
    tickets.map(({ item }) => item.outcome.status),
    tickets.map(({ item }) => item.outcome.body ?? null),
    tickets.map(({ item }) => item.outcome.metadataLocation ?? null),
  ]
}

function eventColumns(swaps: readonly GroupSwap[]): readonly unknown[] {
  const events = placed(swaps, (swap) => swap.events)
  return [
    events.map(({ place }) => place),
    events.map(({ nth }) => nth),
    events.map(({ item }) => item.kind),
    events.map(({ item }) => item.payload),
  ]
}

function landedColumns(swaps: readonly GroupSwap[]): readonly unknown[] {
  const added = placed(swaps, ({ landed }) =>
    landed.flatMap((one) => {
      const [requestHash, snapshotIds] = landedParameters(one)
      return snapshotIds.map((snapshotId) => ({ snapshotId, requestHash }))
    }),
  )
  // What one commit of the group adds is not forgotten because an earlier one removed it.
  const kept = new Set(added.map(({ item, place }) => `${place} ${item.snapshotId}`))
  const forgotten = placed(swaps, ({ landed }) =>
    landed.flatMap(({ forgetSnapshotIds }) => forgetSnapshotIds),
  ).filter(({ item, place }) => !kept.has(`${place} ${item}`))
  return [
    forgotten.map(({ place }) => place),
    forgotten.map(({ item }) => item),
    added.map(({ place }) => place),
    added.map(({ item }) => item.snapshotId),
    added.map(({ item }) => item.requestHash),
  ]
}

function batchColumns(swaps: readonly GroupSwap[]): readonly unknown[] {
  const batches = placed(swaps, (swap) => swap.batches)
  return [
    batches.map(({ place }) => place),
    batches.map(({ item }) => item.batchId),
    batches.map(({ item }) => item.requestHash),
    batches.map(({ item }) => item.snapshotId),
    batches.map(({ item }) => item.expiresAtMs),
  ]
}
