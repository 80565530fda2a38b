/*
 * Making, re-pointing, renaming, dropping and restoring tables and views: each one statement with its event and its
 * idempotency outcome. Locations in a warehouse never nest, except those of views in one another: what would overlap is
 * refused with LocationTakenError, and those who give a table a location take turns (lock-locations.ts).
 * Other errors: IdempotencyKeyLostError; StatementError and DatabaseUnavailableError of the session.
 */
import {
  applyChange,
  changeStatement,
  FIRST_CHANGE_PARAMETER,
  LEVELS_OF_MADE,
  NOW_PARAMETER,
  unlessViolated,
} from './apply-change.ts'
import { LocationTakenError } from './database-errors.ts'
import { inEventOrder } from './event-order.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import { type LandedCommit, landedExpressions, landedParameters } from './landed-commits.ts'
import { type DatabaseOrTransaction, whileLocationsStand } from './lock-locations.ts'
import { otherTableNear, overlapParameters, tablesNear } from './location-overlap.ts'
import type { EventInput } from './outbox.ts'
import { isStorableName } from './stored-name.ts'
import type { RowKind } from './table-row.ts'
import {
  type ExtraRoot,
  type MovedRoots,
  movedRootExpressions,
  movedRootParameters,
  movedRootsKnown,
  newRootExpressions,
  newRootParameters,
  rootsKnown,
} from './table-roots.ts'

interface TableChange {
  readonly nowMs: number
  readonly event: EventInput
  readonly idempotency?: IdempotencyTicket | undefined
}

export interface NewTable extends TableChange {
  readonly id: string
  /** Default: table. */
  readonly kind?: RowKind | undefined
  readonly warehouseId: string
  readonly namespaceId: string
  readonly name: string
  readonly tableUuid: string
  /** Normalized, without a trailing slash. */
  readonly location: string
  /** Its folders outside that; undefined: they are found out later. */
  readonly extraRoots?: readonly ExtraRoot[] | undefined
  readonly metadataLocation: string
  readonly landed?: LandedCommit | undefined
}

// $9 id, $10 warehouse, $11 namespace, $12 name, $13 uuid, $14 location, $15 metadata location, $16 version or null,
// $17-$19 landed, $20-$22 overlap, $23 kind, $24-$25 other folders, $26 whether there are any
const CREATE = changeStatement(
  `home as (
  select id, levels from namespace where id = $11::text and warehouse_id = $10::text for key share
), former as materialized (
  select event_number, coalesce(purge_started_at_ms, purged_at_ms) is not null as purged
  from dropped_table where id = $9::text for update
), overlap as (
  ${tablesNear(FIRST_CHANGE_PARAMETER + 11, {
    warehouseId: '$10::text',
    condition: `'table' in (t.kind, $23::text)`,
  })}
), made as (
  insert into catalog_table (id, kind, warehouse_id, namespace_id, name, table_uuid, location, metadata_location,
    version, event_number, created_at_ms, updated_at_ms, extra_roots)
  select $9::text, $23::text, $10::text, home.id, $12::text, $13::text, $14::text, $15::text, coalesce($16::bigint, 0),
    coalesce((select event_number from former), 0) + 1, ${NOW_PARAMETER}, ${NOW_PARAMETER}, $26::text
  from home, guard
  where guard.ok and not exists (select from overlap) and not exists (select from former where purged or $16::bigint is null)
  on conflict (namespace_id, name) do nothing
  returning id, warehouse_id, table_uuid, event_number, name
), changed as (
  select made.id as subject_id, made.warehouse_id, made.id as table_id, made.table_uuid, made.event_number,
    home.levels, made.name
  from made, home
), undropped as (
  delete from dropped_table where id = $9::text and exists (select from changed)
), ${newRootExpressions('$9::text', FIRST_CHANGE_PARAMETER + 15)}, ${landedExpressions({
    tableId: '$9::text',
    metadataLocation: '$15::text',
    nowMs: NOW_PARAMETER,
    parameter: FIRST_CHANGE_PARAMETER + 8,
  })}`,
  `exists (select from home) as home, exists (select from overlap) as overlap,
  exists (select from former where purged and $16::bigint is not null) as purged,
  exists (select from catalog_table where namespace_id = $11::text and name = $12::text) as taken`,
)

/**
 * The name must be storable (`isStorableName`). `exists` also for a table that was made before and is dropped: what is sent again
 * because its answer was lost brings nothing back.
 */
export async function createTable(
  session: DatabaseOrTransaction,
  table: NewTable,
): Promise<'created' | 'exists' | 'namespace-missing'> {
  const outcome = await insertTable(session, table, undefined)
  invariant(outcome !== 'purged', 'only a table that comes back was purged')
  return outcome
}

/**
 * Brings a table back under its old id, after an undo or a lost database; its events go on behind those it had when
 * it was dropped. `purged`: its files are gone or about to go.
 */
export async function restoreTable(
  session: DatabaseOrTransaction,
  table: NewTable & { readonly version: bigint },
): Promise<'restored' | 'exists' | 'namespace-missing' | 'purged'> {
  const outcome = await insertTable(session, table, table.version)
  return outcome === 'created' ? 'restored' : outcome
}

interface CreateVerdict {
  readonly home: boolean
  readonly overlap: boolean
  readonly purged: boolean
  readonly taken: boolean
}

/** `version`: that of a table that comes back. */
async function insertTable(
  session: DatabaseOrTransaction,
  table: NewTable,
  version: bigint | undefined,
): Promise<'created' | 'exists' | 'namespace-missing' | 'purged'> {
  invariant(isStorableName(table.name), 'a table name is storable')
  const change = { ...table, params: createParameters(table, version) }
  const row = await unlessViolated(() =>
    whileLocationsStand(session, table, (held) => applyChange<CreateVerdict>(held, CREATE, change)),
  )
  if (row.violated !== undefined)
    return row.violated === 'reference' ? 'namespace-missing' : 'exists'
  if (row.changed) return 'created'
  if (!row.home) return 'namespace-missing'
  if (row.purged) return 'purged'
  if (row.overlap && !row.taken) throw new LocationTakenError(rootsOf(table))
  return 'exists'
}

function createParameters(table: NewTable, version: bigint | undefined): readonly unknown[] {
  return [
    table.id,
    table.warehouseId,
    table.namespaceId,
    table.name,
    table.tableUuid,
    table.location,
    table.metadataLocation,
    version ?? null,
    ...landedParameters(table.landed),
    ...overlapParameters(...rootsOf(table)),
    table.kind ?? 'table',
    ...newRootParameters(table.extraRoots),
    rootsKnown(table.extraRoots),
  ]
}

function rootsOf({ location, extraRoots = [] }: NewTable): readonly string[] {
  return [location, ...extraRoots.map((root) => root.location)]
}

export interface TableOverwrite extends TableChange {
  readonly tableId: string
  readonly tableUuid: string
  readonly location: string
  /** Absent: its location is its only folder, and what it had before is kept as given up. */
  readonly roots?: MovedRoots | undefined
  readonly metadataLocation: string
  /** Where the pointer must be; absent: wherever it is. */
  readonly expected?: string | undefined
}

// $9 table, $10 uuid, $11 location, $12 metadata location, $13-$15 overlap, $16 expected, $17-$19 folders
const OVERWRITE = changeStatement(
  `overlap as (
  ${otherTableNear('$9::text', FIRST_CHANGE_PARAMETER + 4)}
), made as (
  update catalog_table t set table_uuid = $10::text, location = $11::text, metadata_location = $12::text,
    version = t.version + 1, event_number = t.event_number + 1, updated_at_ms = ${NOW_PARAMETER},
    extra_roots = ${movedRootsKnown(FIRST_CHANGE_PARAMETER + 8)}
  where t.id = $9::text and (select ok from guard) and not exists (select from overlap)
    and ($16::text is null or t.metadata_location = $16::text)
  returning t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number, t.name
), changed as (
  select made.id as subject_id, made.warehouse_id, made.id as table_id, made.table_uuid, made.event_number, ${LEVELS_OF_MADE},
    made.name
  from made
), ${movedRootExpressions({
    tableId: '$9::text',
    location: '$11::text',
    parameter: FIRST_CHANGE_PARAMETER + 8,
  })}, forgotten as (
  delete from landed_commit where table_id = $9::text and exists (select from changed)
)`,
  `exists (select from overlap) as overlap,
  (select metadata_location from catalog_table where id = $9::text) as current`,
)

/**
 * Points a table's name at another metadata file; its landed commits are forgotten. `stale`: the pointer is not at
 * `expected`.
 */
export async function overwriteTable(
  session: DatabaseOrTransaction,
  overwrite: TableOverwrite,
): Promise<'overwritten' | 'missing' | 'stale'> {
  const { location, roots = { extra: [], fresh: [location], left: [] } } = overwrite
  const params = [
    overwrite.tableId,
    overwrite.tableUuid,
    location,
    overwrite.metadataLocation,
    ...overlapParameters(...roots.fresh),
    overwrite.expected ?? null,
    ...movedRootParameters(roots),
  ]
  const row = await whileLocationsStand(session, overwrite, (locked) =>
    inEventOrder(locked, overwrite.tableId, (held) =>
      applyChange<{ overlap: boolean; current: string | null }>(held, OVERWRITE, {
        ...overwrite,
        params,
      }),
    ),
  )
  if (row.changed) return 'overwritten'
  if (row.current === null) return 'missing'
  if (overwrite.expected !== undefined && row.current !== overwrite.expected) return 'stale'
  if (row.overlap) throw new LocationTakenError(roots.fresh)
  return 'missing'
}

export interface TableDrop extends TableChange {
  readonly tableId: string
  readonly purgeRequested: boolean
}

// $9 table, $10 purge requested
const DROP = changeStatement(
  `made as (
  delete from catalog_table t where t.id = $9::text and (select ok from guard) returning t.*
), changed as (
  select made.id as subject_id, made.warehouse_id, made.id as table_id, made.table_uuid,
    made.event_number + 1 as event_number, ${LEVELS_OF_MADE}, made.name
  from made
), kept as (
  insert into dropped_table (id, kind, warehouse_id, namespace_id, levels, name, table_uuid, location, metadata_location,
    version, event_number, purge_requested, dropped_at_ms)
  select made.id, made.kind, made.warehouse_id, made.namespace_id, changed.levels, made.name, made.table_uuid, made.location,
    made.metadata_location, made.version, changed.event_number, $10::boolean, ${NOW_PARAMETER}
  from made join changed on changed.subject_id = made.id
), forgotten as (
  delete from landed_commit where table_id = $9::text and exists (select from changed)
), unscheduled as (
  delete from maintenance_schedule where table_id = $9::text and exists (select from changed)
)`,
  'true as found',
)

/** Removes the name; no object is touched. The last state stays in dropped_table. */
export async function dropTable(
  session: DatabaseOrTransaction,
  drop: TableDrop,
): Promise<'dropped' | 'missing'> {
  const row = await inEventOrder(session, drop.tableId, (held) =>
    applyChange(held, DROP, { ...drop, params: [drop.tableId, drop.purgeRequested] }),
  )
  return row.changed ? 'dropped' : 'missing'
}

export interface TableRename extends TableChange {
  readonly tableId: string
  readonly toNamespaceId: string
  readonly toName: string
}

// $9 table, $10 new namespace, $11 new name
const RENAME = changeStatement(
  `home as (
  select n.id, n.levels, n.warehouse_id from namespace n where n.id = $10::text for key share
), made as (
  update catalog_table t set namespace_id = home.id, name = $11::text, event_number = t.event_number + 1,
    updated_at_ms = ${NOW_PARAMETER}
  from home
  where t.id = $9::text and home.warehouse_id = t.warehouse_id and (select ok from guard)
    and not exists (select from catalog_table o where o.namespace_id = $10::text and o.name = $11::text)
  returning t.id, t.warehouse_id, t.table_uuid, t.event_number, t.name, home.levels
), changed as (
  select id as subject_id, warehouse_id, id as table_id, table_uuid, event_number, levels, name from made
)`,
  `exists (select from catalog_table where id = $9::text) as found, exists (select from home) as home`,
)

/** Keeps id, UUID and location. `exists` also when the table already has this name. */
export async function renameTable(
  session: DatabaseOrTransaction,
  rename: TableRename,
): Promise<'renamed' | 'missing' | 'exists' | 'namespace-missing'> {
  invariant(isStorableName(rename.toName), 'a table name is storable')
  const row = await unlessViolated(() =>
    inEventOrder(session, rename.tableId, (held) =>
      applyChange<{ found: boolean; home: boolean }>(held, RENAME, {
        ...rename,
        params: [rename.tableId, rename.toNamespaceId, rename.toName],
      }),
    ),
  )
  if (row.violated !== undefined)
    return row.violated === 'reference' ? 'namespace-missing' : 'exists'
  if (row.changed) return 'renamed'
  if (!row.found) return 'missing'
  return row.home ? 'exists' : 'namespace-missing'
}
