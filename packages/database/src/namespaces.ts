/*
 * Namespaces. Names are exact: they differ by case and by normal form. The parent of a nested namespace must exist,
 * and a namespace with tables, views or children cannot be dropped.
 * Errors: IdempotencyKeyLostError; StatementError and DatabaseUnavailableError of the session.
 */
import {
  applyChange,
  applyUnlessViolated,
  changeStatement,
  NOW_PARAMETER,
  unlessViolated,
} from './apply-change.ts'
import { inEventOrder } from './event-order.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import type { DatabaseOrTransaction } from './lock-locations.ts'
import type { EventInput } from './outbox.ts'
import {
  areStorableLevels,
  isStorableName,
  joinLevels,
  keysetStart,
  namespaceDirectoryName,
  splitLevels,
} from './stored-name.ts'
import type { SqlSession } from './sql-session.ts'

export interface NamespaceRow {
  readonly id: string
  readonly warehouseId: string
  readonly levels: readonly string[]
  /** As the user set them; without the computed location. */
  readonly properties: Readonly<Record<string, string>>
  /** The property `location` when it is set, else the default: `<warehouse>/<slug>-<8 hex digits of the id>`. */
  readonly location: string
}

interface NamespaceRecord {
  readonly id: string
  readonly warehouse_id: string
  readonly levels: string
  readonly properties: string
  readonly default_location: string
}

export interface NewNamespace {
  readonly id: string
  readonly warehouseId: string
  readonly levels: readonly string[]
  readonly properties: Readonly<Record<string, string>>
  readonly nowMs: number
  readonly event: EventInput
  readonly idempotency?: IdempotencyTicket | undefined
}

export type CreateNamespaceOutcome =
  | { readonly outcome: 'created'; readonly row: NamespaceRow }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'parent-missing'; readonly parent: readonly string[] }

// $9 id, $10 warehouse, $11 joined levels, $12 last level, $13 joined parent levels or null, $14 properties, $15 folder
const CREATE = changeStatement(
  `home as (
  select w.id, w.location, p.id as parent_id from warehouse w
  left join namespace p on p.warehouse_id = w.id and p.levels = $13::text
  where w.id = $10::text and ($13::text is null or p.id is not null)
  for key share of w
), made as (
  insert into namespace
    (id, warehouse_id, parent_id, levels, name, properties, default_location, event_number, created_at_ms)
  select $9::text, home.id, home.parent_id, $11::text, $12::text, $14::text, home.location || '/' || $15::text, 1,
    ${NOW_PARAMETER}
  from home, guard where guard.ok
  on conflict (warehouse_id, levels) do nothing
  returning id, warehouse_id, event_number, levels, default_location
), changed as (
  select id as subject_id, warehouse_id, null::text as table_id, null::text as table_uuid, event_number, levels,
    null::text as name
  from made
)`,
  `exists (select from home) as home, (select default_location from made) as default_location`,
)

/** Levels and names must be storable (`areStorableLevels`). The warehouse must exist. */
export async function createNamespace(
  session: SqlSession,
  namespace: NewNamespace,
): Promise<CreateNamespaceOutcome> {
  const { id, warehouseId, levels, properties } = namespace
  invariant(areStorableLevels(levels), 'namespace levels are storable')
  const parent = levels.slice(0, -1)
  const params = [
    id,
    warehouseId,
    joinLevels(levels),
    levels.at(-1),
    parent.length === 0 ? null : joinLevels(parent),
    JSON.stringify(properties),
    namespaceDirectoryName(levels, id),
  ]
  const row = await applyUnlessViolated<{ home: boolean; default_location: string }>(
    session,
    CREATE,
    { ...namespace, params },
  )
  if (row.violated !== undefined || !row.home) return { outcome: 'parent-missing', parent }
  if (!row.changed) return { outcome: 'exists' }
  const location = properties['location'] ?? row.default_location
  return { outcome: 'created', row: { id, warehouseId, levels, properties, location } }
}

/** The namespace of exactly these levels. */
export async function findNamespace(
  session: SqlSession,
  warehouseId: string,
  levels: readonly string[],
): Promise<NamespaceRow | undefined> {
  if (!areStorableLevels(levels)) return undefined
  const [record] = await session.query<NamespaceRecord>(
    `select id, warehouse_id, levels, properties, default_location from namespace
     where warehouse_id = $1 and levels = $2`,
    [warehouseId, joinLevels(levels)],
  )
  return record && rowOf(record)
}

export interface ListNamespacesRequest {
  readonly warehouseId: string
  /** Absent or empty: the top level. */
  readonly parentLevels?: readonly string[] | undefined
  /** Only those whose last level sorts behind this one, by code point. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
  /** Only those whose last level is among these. */
  readonly names?: readonly string[] | undefined
}

/** The levels of the direct children in the order of their last level. An unknown parent has none. */
export async function listNamespaces(
  session: SqlSession,
  request: ListNamespacesRequest,
): Promise<string[][]> {
  const { warehouseId, parentLevels = [], limit, names } = request
  if (!parentLevels.every(isStorableName)) return []
  const page = [warehouseId, keysetStart(request.after), limit ?? null]
  if (names !== undefined) return listNamed(session, request, names)
  const rows = await (parentLevels.length === 0
    ? session.query<{ levels: string }>(LIST_TOP, page)
    : session.query<{ levels: string }>(LIST_CHILDREN, [...page, joinLevels(parentLevels)]))
  return rows.map((row) => splitLevels(row.levels))
}

async function listNamed(
  session: SqlSession,
  { warehouseId, parentLevels = [], after, limit }: ListNamespacesRequest,
  names: readonly string[],
): Promise<string[][]> {
  const children = names.filter(isStorableName).map((name) => joinLevels([...parentLevels, name]))
  if (children.length === 0) return []
  const rows = await session.query<{ levels: string }>(
    `select levels from namespace where warehouse_id = $1 and levels = any($2::text[]) and name > $3
     order by name limit $4`,
    [warehouseId, children, keysetStart(after), limit ?? null],
  )
  return rows.map((row) => splitLevels(row.levels))
}

const LIST_TOP = `
select levels from namespace where warehouse_id = $1 and parent_id is null and name > $2 order by name limit $3`

const LIST_CHILDREN = `
select levels from namespace
where warehouse_id = $1 and name > $2
  and parent_id = (select id from namespace where warehouse_id = $1 and levels = $4)
order by name limit $3`

// $9 namespace, $10 properties
const UPDATE = changeStatement(
  `made as (
  update namespace set properties = $10::text, event_number = event_number + 1
  where id = $9::text and (select ok from guard)
  returning id, warehouse_id, event_number, levels
), changed as (
  select id as subject_id, warehouse_id, null::text as table_id, null::text as table_uuid, event_number, levels,
    null::text as name
  from made
)`,
  'true as found',
)

export interface NamespacePropertiesUpdate {
  readonly namespaceId: string
  readonly updates: Readonly<Record<string, string>>
  readonly removals: readonly string[]
  readonly nowMs: number
  readonly event: EventInput
  /** The outcome may depend on what was changed. */
  readonly idempotency?:
    IdempotencyTicket | ((result: NamespacePropertiesResult) => IdempotencyTicket) | undefined
  /** It is sent again because an answer was lost: where everything is as asked, nothing is changed a second time. */
  readonly isRepeated?: boolean
}

export interface NamespacePropertiesResult {
  readonly updated: string[]
  readonly removed: string[]
  /** Removals that were not there. */
  readonly missing: string[]
}

/** Sets and removes properties in one transaction; undefined when there is no such namespace. */
export async function updateNamespaceProperties(
  database: { transaction<T>(run: (session: SqlSession) => Promise<T>): Promise<T> },
  update: NamespacePropertiesUpdate,
): Promise<NamespacePropertiesResult | undefined> {
  return database.transaction(async (session) => {
    const [record] = await session.query<{ properties: string }>(
      'select properties from namespace where id = $1 for update',
      [update.namespaceId],
    )
    if (record === undefined) return undefined
    const properties = new Map(Object.entries(decodeProperties(record.properties)))
    const removed = update.removals.filter((key) => properties.delete(key))
    const missing = update.removals.filter((key) => !removed.includes(key))
    for (const [key, value] of Object.entries(update.updates)) properties.set(key, value)
    const result = { updated: Object.keys(update.updates), removed, missing }
    const { idempotency, isRepeated = false } = update
    const text = JSON.stringify(Object.fromEntries(properties))
    if (isRepeated && text === record.properties) {
      return { ...result, removed: missing, missing: [] }
    }
    await inEventOrder(session, update.namespaceId, (held) =>
      applyChange(held, UPDATE, {
        event: update.event,
        nowMs: update.nowMs,
        idempotency: typeof idempotency === 'function' ? idempotency(result) : idempotency,
        params: [update.namespaceId, text],
      }),
    )
    return result
  })
}

// $9 namespace
const DROP = changeStatement(
  `made as (
  delete from namespace n
  where n.id = $9::text and (select ok from guard)
    and not exists (select from catalog_table t where t.namespace_id = n.id)
    and not exists (select from namespace c where c.parent_id = n.id)
  returning n.id, n.warehouse_id, n.event_number + 1 as event_number, n.levels
), changed as (
  select id as subject_id, warehouse_id, null::text as table_id, null::text as table_uuid, event_number, levels,
    null::text as name
  from made
)`,
  `exists (select from namespace where id = $9::text) as found,
  (select count(*) from catalog_table where namespace_id = $9::text and kind = 'table')::int as tables,
  (select count(*) from catalog_table where namespace_id = $9::text and kind = 'view')::int as views,
  (select count(*) from namespace where parent_id = $9::text)::int as children`,
)

export interface NamespaceDrop {
  readonly namespaceId: string
  readonly nowMs: number
  readonly event: EventInput
  readonly idempotency?: IdempotencyTicket | undefined
}

export type DropNamespaceOutcome =
  'dropped' | 'missing' | ({ readonly outcome: 'not-empty' } & NamespaceContent)

/** How much is directly in a namespace, each kind counted for itself. */
export interface NamespaceContent {
  readonly tables: number
  readonly views: number
  readonly children: number
}

/** Removes an empty namespace; `not-empty` counts what is in the way. */
export async function dropNamespace(
  session: DatabaseOrTransaction,
  drop: NamespaceDrop,
): Promise<DropNamespaceOutcome> {
  const row = await unlessViolated(() =>
    inEventOrder(session, drop.namespaceId, (held) =>
      applyChange<{ found: boolean } & NamespaceContent>(held, DROP, {
        ...drop,
        params: [drop.namespaceId],
      }),
    ),
  )
  // Something was made inside it between the look and the delete; its reference holds the namespace.
  if (row.violated !== undefined) return { outcome: 'not-empty', tables: 0, views: 0, children: 0 }
  if (row.changed) return 'dropped'
  if (!row.found) return 'missing'
  const { tables, views, children } = row
  return { outcome: 'not-empty', tables, views, children }
}

function rowOf(record: NamespaceRecord): NamespaceRow {
  const properties = decodeProperties(record.properties)
  return {
    id: record.id,
    warehouseId: record.warehouse_id,
    levels: splitLevels(record.levels),
    properties,
    location: properties['location'] ?? record.default_location,
  }
}

/** What this file wrote itself: a JSON object of strings. */
function decodeProperties(text: string): Record<string, string> {
  return JSON.parse(text) as Record<string, string>
}
