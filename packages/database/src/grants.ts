/*
 * Grants: which role an account has where. A grant reaches everywhere, a warehouse, or a namespace of it with what is below;
 * the namespace need not exist. There is one role for each account and place. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'
import { joinLevels, splitLevels } from './stored-name.ts'

export type GrantRole = 'reader' | 'writer' | 'admin'

export interface GrantRow {
  readonly id: string
  readonly accountId: string
  /** Undefined: everywhere. */
  readonly warehouseId: string | undefined
  /** Empty: the whole warehouse. */
  readonly levels: readonly string[]
  readonly role: GrantRole
  readonly createdAtMs: number
}

export interface GrantRecord {
  readonly id: string
  readonly account_id: string
  readonly warehouse_id: string | null
  readonly levels: string
  readonly role: GrantRole
  readonly created_at_ms: bigint
}

export type NewGrant = Omit<GrantRow, 'createdAtMs'> & {
  readonly nowMs: number
  /** Grants that an account may have. */
  readonly countMax: number
}

// The first two say what is missing, so that a race with a deletion is an outcome and no broken reference.
const PUT = `
with owner as (select id from account where id = $2::text for share),
place as (select 1 where $3::text is null union all select 1 from (select from warehouse where id = $3::text for share) w),
full_up as (
  select 1 where (select count(*) from access_grant where account_id = $2::text) >= $7::int and not exists (
    select from access_grant where account_id = $2::text and coalesce(warehouse_id, '') = coalesce($3::text, '')
      and levels = $4::text)
),
put as (
  insert into access_grant (id, account_id, warehouse_id, levels, role, created_at_ms)
  select $1::text, owner.id, $3::text, $4::text, $5::text, $6::bigint from owner, place where not exists (select from full_up)
  on conflict (account_id, (coalesce(warehouse_id, '')), levels) do update set role = excluded.role returning *
)
select put.*, exists (select from full_up) as is_full, exists (select from owner) as has_owner,
  exists (select from place) as has_place
from (select 1) one left join put on true`

export type PutGrantOutcome =
  | { readonly outcome: 'granted'; readonly row: GrantRow }
  | { readonly outcome: 'no-account' }
  | { readonly outcome: 'no-warehouse' }
  /** There are as many as there may be; a race may let a few more through. */
  | { readonly outcome: 'too-many' }

/** Gives an account this role at this place, instead of another one that it has there. */
export async function putGrant(session: SqlSession, grant: NewGrant): Promise<PutGrantOutcome> {
  const { id, accountId, warehouseId, levels, role, nowMs, countMax } = grant
  type Answer = GrantRecord & { is_full: boolean; has_owner: boolean; has_place: boolean }
  const [answer] = await session.query<Answer>(PUT, [
    ...[id, accountId, warehouseId ?? null, joinLevels(levels), role, nowMs, countMax],
  ])
  if (answer === undefined || !answer.has_owner) return { outcome: 'no-account' }
  if (!answer.has_place) return { outcome: 'no-warehouse' }
  if (answer.is_full) return { outcome: 'too-many' }
  return { outcome: 'granted', row: grantRowOf(answer) }
}

export interface GrantFilter {
  readonly id?: string | undefined
  readonly accountId?: string | undefined
  readonly warehouseId?: string | undefined
}

/** A grant with the names that people use. */
export interface NamedGrant extends GrantRow {
  readonly accountName: string
  readonly warehouseName: string | undefined
}

interface NamedRecord extends GrantRecord {
  readonly account_name: string
  readonly warehouse_name: string | null
}

/** Grants by id, those behind `after`, at most `limit`. */
export async function listGrants(
  session: SqlSession,
  { filter, after, limit }: { filter: GrantFilter; after?: string | undefined; limit: number },
): Promise<NamedGrant[]> {
  const records = await session.query<NamedRecord>(
    `select g.*, a.name as account_name, w.name as warehouse_name
     from access_grant g join account a on a.id = g.account_id left join warehouse w on w.id = g.warehouse_id
     where ($1::text is null or g.account_id = $1::text) and ($2::text is null or g.warehouse_id = $2::text)
       and g.id > $3::text and ($5::text is null or g.id = $5::text)
     order by g.id limit $4::int`,
    [filter.accountId ?? null, filter.warehouseId ?? null, after ?? '', limit, filter.id ?? null],
  )
  return records.map((record) => ({
    ...grantRowOf(record),
    accountName: record.account_name,
    warehouseName: record.warehouse_name ?? undefined,
  }))
}

/** Takes a grant back; undefined when there is none with this id. */
export async function deleteGrant(
  session: SqlSession,
  { id }: { readonly id: string },
): Promise<GrantRow | undefined> {
  const [record] = await session.query<GrantRecord>(
    'delete from access_grant where id = $1 returning *',
    [id],
  )
  return record && grantRowOf(record)
}

/** A grant of its columns. */
export function grantRowOf(record: GrantRecord): GrantRow {
  return {
    id: record.id,
    accountId: record.account_id,
    warehouseId: record.warehouse_id ?? undefined,
    levels: record.levels === '' ? [] : splitLevels(record.levels),
    role: record.role,
    createdAtMs: Number(record.created_at_ms),
  }
}
