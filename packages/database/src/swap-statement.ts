/*
 * The statement by which `swapMany` moves pointers. Its parameters are columns: of the swaps, and of what comes with them, each
 * item with the place, from 1, of its swap.
 */
import { LEVELS_OF_MADE } from './apply-change.ts'
import { invariant } from './invariant.ts'

/** What a statement of `swapMany` carries beside the swaps themselves, and what it can do without. */
export interface SwapParts {
  readonly tickets: boolean
  readonly landed: boolean
  readonly forgotten: boolean
  readonly batches: boolean
  /** Every swap has exactly one event, which comes with it instead of in columns of its own. */
  readonly hasOneEventEach: boolean
  /** Nobody else can do anything meanwhile, so that no row is locked before it is changed. */
  readonly isSerial: boolean
}

/** A statement of `swapMany`, which depends on what its swaps need: parts that none needs would cost half of its time. */
export interface SwapStatement {
  readonly text: string
  readonly parts: SwapParts
}

const [INPUT, EVENTS, LANDED, TICKETS, FORGOTTEN, BATCHES] = [6, 4, 3, 6, 2, 5]

const PART_NAMES = [
  'tickets',
  'landed',
  'forgotten',
  'batches',
  'hasOneEventEach',
  'isSerial',
] as const

/** Every statement that `swapMany` may send; the bits of its place say which parts it has. */
export const SWAP_STATEMENTS: readonly SwapStatement[] = Array.from(
  { length: 1 << PART_NAMES.length },
  (_, key) => {
    const has = (name: keyof SwapParts): boolean => (key & bitOf(name)) !== 0
    const parts = {
      tickets: has('tickets'),
      landed: has('landed'),
      forgotten: has('forgotten'),
      batches: has('batches'),
      hasOneEventEach: has('hasOneEventEach'),
      isSerial: has('isSerial'),
    }
    return { text: statementText(parts), parts }
  },
)

function bitOf(name: keyof SwapParts): number {
  return 1 << PART_NAMES.indexOf(name)
}

/** The statement with these parts. */
export function swapStatement(parts: SwapParts): string {
  let key = 0
  for (const name of PART_NAMES) if (parts[name]) key |= bitOf(name)
  const statement = SWAP_STATEMENTS[key]
  invariant(statement !== undefined, 'there is a statement for every choice of parts')
  return statement.text
}

/** Whether the text is one of `swapMany`. */
export function isSwapStatement(text: string): boolean {
  return SWAP_STATEMENTS.some((statement) => statement.text === text)
}

/** The parameters of a statement, section by section; a part that it does not carry has empty columns. */
export interface SwapColumns {
  /** Table id, expected, next, table uuid, location, now: an item for each swap. */
  readonly input: readonly (readonly unknown[])[]
  // What follows has an item for each event, snapshot, ticket or batch. The first column is the place, from 1, of its swap.
  /** Place, number within its swap from 1, kind, payload. */
  readonly events: readonly (readonly unknown[])[]
  /** Place, snapshot id, request hash. */
  readonly landed: readonly (readonly unknown[])[]
  /** Place, warehouse id, key, status, body, metadata location. */
  readonly tickets: readonly (readonly unknown[])[]
  /** Place, snapshot id. */
  readonly forgotten: readonly (readonly unknown[])[]
  /** Place, batch id, request hash, snapshot id, time of expiry. */
  readonly batches: readonly (readonly unknown[])[]
}

/** The columns in the parameters of a statement; inverse of how they are sent. */
export function swapColumnsOf(parts: SwapParts, params: readonly unknown[]): SwapColumns {
  let at = 0
  const take = (count: number, isCarried = true): readonly (readonly unknown[])[] => {
    if (!isCarried) return Array.from({ length: count }, () => [])
    at += count
    return params.slice(at - count, at) as unknown[][] // `as`: written by `swapParameters`
  }
  const input = take(INPUT)
  return {
    input,
    events: parts.hasOneEventEach
      ? [places(input), places(input).map(() => 1), ...take(2)]
      : take(1 + EVENTS).slice(1),
    landed: take(LANDED, parts.landed),
    tickets: take(TICKETS, parts.tickets),
    forgotten: take(FORGOTTEN, parts.forgotten),
    batches: take(BATCHES, parts.batches),
  }
}

/** The parameters of the statement with these parts. */
export function swapParameters(parts: SwapParts, columns: SwapColumns): readonly unknown[] {
  const { input, events } = columns
  const [, , kinds, payloads] = events
  return [
    ...input,
    ...(parts.hasOneEventEach ? [kinds, payloads] : [eventCounts(columns), ...events]),
    ...(parts.landed ? columns.landed : []),
    ...(parts.tickets ? columns.tickets : []),
    ...(parts.forgotten ? columns.forgotten : []),
    ...(parts.batches ? columns.batches : []),
  ]
}

/** The places of the swaps, from 1. */
function places([tableIds = []]: SwapColumns['input']): readonly number[] {
  return tableIds.map((_, index) => index + 1)
}

function eventCounts({ input, events }: SwapColumns): readonly number[] {
  const counts = places(input).map(() => 0)
  for (const place of events[0] ?? [])
    counts[Number(place) - 1] = (counts[Number(place) - 1] ?? 0) + 1
  return counts
}

/** The `unnest` of the next parameters, which have these types. */
type Unnest = (...types: readonly string[]) => string

// `any(…)` beside each join: a plan made over small tables must still enter the index by its columns later.
// $1 are the tables.
function statementText(parts: SwapParts): string {
  let number = 0
  const unnest: Unnest = (...types) =>
    `unnest(${types.map((type) => `$${(number += 1)}::${type}[]`).join(', ')})`
  const input = inputText(unnest, parts)
  const changes = [madeText(parts)]
  changes.push(parts.hasOneEventEach ? onlyEventText() : eventText(unnest))
  if (parts.landed) changes.push(landedText(unnest))
  const guarded = parts.tickets
    ? [`input as materialized (select i.* from ${input})`, ticketText(unnest), guardedText()]
    : [`guarded as materialized (select i.*, null::text as lost_keys from ${input})`]
  if (parts.forgotten) changes.push(forgottenText(unnest))
  if (parts.batches) changes.push(batchText(unnest))
  if (parts.tickets) changes.push(finishedText())
  const locked = parts.isSerial ? [] : [lockedText()]
  return `
with ${[...guarded, ...locked, ...changes].join(', ')}
select v.lost_keys, v.changed, ${presentText(parts)} as present
from (select g.*, g.place in (select place from made) as changed from guarded g offset 0) v order by v.place`
}

function inputText(unnest: Unnest, { hasOneEventEach }: SwapParts): string {
  const swap = ['text', 'text', 'text', 'text', 'text', 'bigint']
  const [types, names] = hasOneEventEach
    ? [[...swap, 'text', 'text'], 'kind, payload']
    : [[...swap, 'bigint'], 'event_count']
  return `${unnest(...types)}
    with ordinality as i(table_id, expected, next, table_uuid, location, now_ms, ${names}, place)`
}

/**
 * Whether there is a table. When nobody else can change that, it is looked up only for a swap that changed nothing; not by
 * `exists`, for which a plan may read every table.
 */
function presentText({ isSerial }: SwapParts): string {
  return isSerial
    ? 'v.changed or (select true from catalog_table t where t.id = v.table_id) is not null'
    : 'v.place in (select place from locked)'
}

function ticketText(unnest: Unnest): string {
  return `ticket as materialized (
  select * from ${unnest('bigint', 'text', 'text', 'int', 'text', 'text')}
    as t(place, warehouse_id, key, status, body, outcome_location)
), reservation as materialized (
  select t.key
  from (select * from ticket order by warehouse_id, key) as t
  cross join lateral (
    select 1 from idempotency_key k
    where k.warehouse_id = t.warehouse_id and k.key = t.key and k.status is null limit 1 for update
  ) as open
)`
}

function guardedText(): string {
  return `guarded as materialized (
  select i.*, (select string_agg(t.key, ' ') from ticket t
    where t.place = i.place and t.key not in (select key from reservation)) as lost_keys
  from input i
)`
}

function lockedText(): string {
  return `locked as materialized (
  select g.*
  from (select * from guarded where lost_keys is null order by table_id) as g
  cross join lateral (
    select 1 from catalog_table t where t.id = g.table_id limit 1 for no key update
  ) as row
)`
}

function madeText({ isSerial, hasOneEventEach }: SwapParts): string {
  const events = hasOneEventEach ? 'g.kind, g.payload' : 'g.event_count'
  return `made as (
  update catalog_table t set metadata_location = g.next, table_uuid = g.table_uuid, version = t.version + 1,
    event_number = t.event_number + ${hasOneEventEach ? '1' : 'g.event_count'}, updated_at_ms = g.now_ms
  from ${isSerial ? 'guarded' : 'locked'} g
  where t.id = any($1::text[]) and t.id = g.table_id and g.lost_keys is null
    and t.metadata_location is not distinct from g.expected
    and t.location is not distinct from g.location
  returning g.place, ${events}, g.next, g.now_ms, t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number, t.name
)`
}

function onlyEventText(): string {
  return `event as (
  insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
    created_at_ms)
  select made.id || '-' || made.event_number, made.warehouse_id, made.id, made.table_uuid, made.event_number, made.kind,
    ${LEVELS_OF_MADE}, made.name, made.payload, made.now_ms
  from made
)`
}

function eventText(unnest: Unnest): string {
  return `event as (
  insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
    created_at_ms)
  select made.id || '-' || n.number, made.warehouse_id, made.id, made.table_uuid, n.number, e.kind, ${LEVELS_OF_MADE},
    made.name, e.payload, made.now_ms
  from ${unnest('bigint', 'bigint', 'text', 'text')} as e(place, nth, kind, payload)
    join made on made.place = e.place
    cross join lateral (select made.event_number - made.event_count + e.nth as number) as n
  order by e.place, e.nth
)`
}

function landedText(unnest: Unnest): string {
  return `landed as (
  insert into landed_commit (table_id, snapshot_id, request_hash, metadata_location, landed_at_ms)
  select made.id, a.snapshot_id, a.request_hash, made.next, made.now_ms
  from ${unnest('bigint', 'bigint', 'text')} as a(place, snapshot_id, request_hash)
    join made on made.place = a.place
  on conflict (table_id, snapshot_id) do update set request_hash = excluded.request_hash,
    metadata_location = excluded.metadata_location, landed_at_ms = excluded.landed_at_ms
)`
}

function forgottenText(unnest: Unnest): string {
  return `gone as materialized (
  select * from ${unnest('bigint', 'bigint')} as f(place, snapshot_id)
), forgotten as (
  delete from landed_commit c using gone f join made on made.place = f.place
  where c.table_id = any(array(select id from made)) and c.snapshot_id = any(array(select snapshot_id from gone))
    and c.table_id = made.id and c.snapshot_id = f.snapshot_id
)`
}

function batchText(unnest: Unnest): string {
  return `batch as (
  insert into append_batch (table_id, batch_id, request_hash, snapshot_id, landed_at_ms, expires_at_ms)
  select made.id, b.batch_id, b.request_hash, b.snapshot_id, made.now_ms, b.expires_at_ms
  from ${unnest('bigint', 'text', 'text', 'bigint', 'bigint')}
    as b(place, batch_id, request_hash, snapshot_id, expires_at_ms)
    join made on made.place = b.place
  on conflict (table_id, batch_id) do update set request_hash = excluded.request_hash,
    snapshot_id = excluded.snapshot_id, landed_at_ms = excluded.landed_at_ms, expires_at_ms = excluded.expires_at_ms
)`
}

function finishedText(): string {
  return `finished as (
  update idempotency_key k set status = t.status, body = t.body, metadata_location = t.outcome_location
  from ticket t join made on made.place = t.place
  where k.warehouse_id = any(array(select warehouse_id from ticket)) and k.key = any(array(select key from ticket))
    and k.warehouse_id = t.warehouse_id and k.key = t.key
)`
}
