/*
 * Accounts: whoever may ask beside the operator. A service account proves itself with secrets, of which only hashes are
 * kept; a federated account is one subject of an identity provider, a group everybody whose tokens name it. Account access
 * is what a request needs to know of an account. Times are epoch milliseconds of the caller. Errors: those of the session.
 */
import { invariant } from './invariant.ts'
import type { GrantRole } from './grants.ts'
import type { SqlSession } from './sql-session.ts'
import { isStorableName, splitLevels } from './stored-name.ts'

export const ACCOUNT_KINDS = ['service', 'federated', 'group'] as const
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

export interface AccountRow {
  readonly id: string
  /** Unique; the client id of a service account. */
  readonly name: string
  readonly kind: AccountKind
  /** The identity provider; absent for service accounts. */
  readonly issuer: string | undefined
  /** The value in the provider's tokens: of the subject, or of one of the groups. */
  readonly subject: string | undefined
  readonly description: string
  /** Present: it cannot ask for anything. */
  readonly disabledAtMs: number | undefined
  /** Counts the changes of the row. */
  readonly version: bigint
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

interface AccountRecord {
  readonly id: string
  readonly name: string
  readonly kind: AccountKind
  readonly issuer: string | null
  readonly subject: string | null
  readonly description: string
  readonly disabled_at_ms: bigint | null
  readonly version: bigint
  readonly created_at_ms: bigint
  readonly updated_at_ms: bigint
}

export type NewAccount = Pick<
  AccountRow,
  'id' | 'name' | 'kind' | 'issuer' | 'subject' | 'description'
> & {
  /** For a service account. */
  readonly secret: { readonly id: string; readonly hash: string } | undefined
  readonly nowMs: number
  /** Accounts that there may be. */
  readonly countMax: number
}

const CREATE = `
with made as (
  insert into account (id, name, kind, issuer, subject, description, created_at_ms, updated_at_ms)
  select $1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bigint, $7::bigint
  where (select count(*) from account) < $8::int
  on conflict do nothing returning *
), kept as (
  insert into account_secret (id, account_id, hash, created_at_ms)
  select $9::text, id, $10::text, $7::bigint from made where $9::text is not null
)
select * from made`

export type CreateAccountOutcome =
  | { readonly outcome: 'created'; readonly row: AccountRow }
  /** This account has the name, or stands for the subject. */
  | { readonly outcome: 'exists'; readonly row: AccountRow }
  /** There are as many as there may be; a race may let a few more through. */
  | { readonly outcome: 'too-many' }

/** Makes an account unless its name or its subject is taken. */
export async function createAccount(
  session: SqlSession,
  account: NewAccount,
): Promise<CreateAccountOutcome> {
  const { id, name, kind, issuer, subject, description, secret, nowMs, countMax } = account
  const [record] = await session.query<AccountRecord>(CREATE, [
    ...[id, name, kind, issuer ?? null, subject ?? null, description, nowMs, countMax],
    ...[secret?.id ?? null, secret?.hash ?? null],
  ])
  if (record !== undefined) return { outcome: 'created', row: accountRowOf(record) }
  const [other] = await session.query<AccountRecord>(
    `select * from account where name = $1 or (issuer = $2 and kind = $3 and subject = $4) order by name = $1 desc limit 1`,
    [name, issuer ?? null, kind, subject ?? null],
  )
  return other === undefined
    ? { outcome: 'too-many' }
    : { outcome: 'exists', row: accountRowOf(other) }
}

/** The account of exactly this name. */
export async function findAccount(
  session: SqlSession,
  name: string,
): Promise<AccountRow | undefined> {
  if (!isStorableName(name)) return undefined
  const [record] = await session.query<AccountRecord>('select * from account where name = $1', [
    name,
  ])
  return record && accountRowOf(record)
}

/** The account with this id. */
export async function findAccountById(
  session: SqlSession,
  id: string,
): Promise<AccountRow | undefined> {
  const [record] = await session.query<AccountRecord>('select * from account where id = $1', [id])
  return record && accountRowOf(record)
}

/** Accounts by name, those behind `after`, at most `limit`. */
export async function listAccounts(
  session: SqlSession,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<AccountRow[]> {
  const records = await session.query<AccountRecord>(
    'select * from account where name > $1 order by name limit $2',
    [after ?? '', limit],
  )
  return records.map(accountRowOf)
}

/** Whether anybody beside the operator could prove who it is. */
export async function haveAccounts(session: SqlSession): Promise<boolean> {
  return (await session.query('select 1 from account limit 1')).length === 1
}

export interface AccountUpdate {
  readonly id: string
  /** The version that the change was made from. */
  readonly expectedVersion: bigint
  readonly description: string
  readonly disabledAtMs: number | undefined
  readonly nowMs: number
}

/** Replaces what operators say, if the version is still the expected one; undefined when it is not, or the row is gone. */
export async function updateAccount(
  session: SqlSession,
  update: AccountUpdate,
): Promise<AccountRow | undefined> {
  const { id, expectedVersion, description, disabledAtMs, nowMs } = update
  const [record] = await session.query<AccountRecord>(
    `update account set description = $3, disabled_at_ms = $4::bigint, version = version + 1, updated_at_ms = $5::bigint
     where id = $1 and version = $2::bigint returning *`,
    [id, expectedVersion, description, disabledAtMs ?? null, nowMs],
  )
  return record && accountRowOf(record)
}

/** Forgets an account with its secrets and its grants. */
export async function deleteAccount(
  session: SqlSession,
  { id }: { readonly id: string },
): Promise<'deleted' | 'missing'> {
  const rows = await session.query('delete from account where id = $1 returning 1', [id])
  return rows.length === 1 ? 'deleted' : 'missing'
}

export interface SecretRotation {
  readonly accountId: string
  readonly secret: { readonly id: string; readonly hash: string }
  /** Until when the secret before is valid beside the new one; not after now: it is forgotten. */
  readonly oldValidUntilMs: number
  readonly nowMs: number
}

// A secret whose time is over, and all but the newest, go: there are never more than two.
const ROTATE = `
with owner as (
  update account set updated_at_ms = $5::bigint, version = version + 1 where id = $1::text and kind = 'service' returning *
), newest as (
  select id from account_secret where account_id in (select id from owner) and coalesce(valid_until_ms, $5::bigint + 1) > $5::bigint
  order by created_at_ms desc, id desc limit 1
), shortened as (
  update account_secret set valid_until_ms = least(coalesce(valid_until_ms, $4::bigint), $4::bigint)
  where id in (select id from newest) and $4::bigint > $5::bigint returning id
), gone as (
  delete from account_secret where account_id in (select id from owner)
    and (id not in (select id from newest) or $4::bigint <= $5::bigint)
), made as (
  insert into account_secret (id, account_id, hash, created_at_ms)
  select $2::text, id, $3::text, $5::bigint from owner
)
select * from owner`

/** Gives a service account another secret; undefined when there is no such account. */
export async function rotateAccountSecret(
  session: SqlSession,
  { accountId, secret, oldValidUntilMs, nowMs }: SecretRotation,
): Promise<AccountRow | undefined> {
  const [record] = await session.query<AccountRecord>(ROTATE, [
    ...[accountId, secret.id, secret.hash, oldValidUntilMs, nowMs],
  ])
  return record && accountRowOf(record)
}

/** Remembers when a secret was last of use. */
export async function markSecretUsed(
  session: SqlSession,
  { secretId, nowMs }: { readonly secretId: string; readonly nowMs: number },
): Promise<void> {
  await session.query('update account_secret set last_used_at_ms = $2 where id = $1', [
    secretId,
    nowMs,
  ])
}

export interface AccountSecret {
  readonly id: string
  /** Never shown, never logged. */
  readonly hash: string
  readonly createdAtMs: number
  /** Undefined: until it is replaced. */
  readonly validUntilMs: number | undefined
  readonly lastUsedAtMs: number | undefined
}

/** A role and where an account has it; see grants.ts. */
export interface HeldGrant {
  readonly warehouseId: string | undefined
  readonly levels: readonly string[]
  readonly role: GrantRole
}

/** What a request needs to know of an account, as it is at one moment. */
export interface AccountAccess {
  readonly account: AccountRow
  /** Newest first. */
  readonly secrets: readonly AccountSecret[]
  readonly grants: readonly HeldGrant[]
}

// @NOTE JSON keeps what belongs together in one row, on both databases alike. The numbers in it are times, far from 2^53.
const ACCESS = `
select a.*, (
  select coalesce(json_agg(json_build_array(id, hash, created_at_ms, valid_until_ms, last_used_at_ms)
    order by created_at_ms desc, id desc), '[]')::text from account_secret where account_id = a.id
) as secrets, (
  select coalesce(json_agg(json_build_array(warehouse_id, levels, role) order by id), '[]')::text
  from access_grant where account_id = a.id
) as grants
from account a`

type AccessRecord = AccountRecord & { readonly secrets: string; readonly grants: string }

/** The service account of this name, with what it may do. */
export async function findServiceAccess(
  session: SqlSession,
  name: string,
): Promise<AccountAccess | undefined> {
  if (!isStorableName(name)) return undefined
  const [record] = await session.query<AccessRecord>(
    `${ACCESS} where a.name = $1 and a.kind = 'service'`,
    [name],
  )
  return record && accessOf(record)
}

/** The account with this id, with what it may do. */
export async function findAccessById(
  session: SqlSession,
  id: string,
): Promise<AccountAccess | undefined> {
  const [record] = await session.query<AccessRecord>(`${ACCESS} where a.id = $1`, [id])
  return record && accessOf(record)
}

export interface FederatedIdentity {
  readonly issuer: string
  readonly subject: string
  readonly groups: readonly string[]
}

/** The accounts that stand for an identity: that of the subject, if there is one, and those of its groups. */
export async function findFederatedAccess(
  session: SqlSession,
  { issuer, subject, groups }: FederatedIdentity,
): Promise<AccountAccess[]> {
  if (!isStorableName(subject)) return []
  const records = await session.query<AccessRecord>(
    `${ACCESS} where a.issuer = $1 and (
       (a.kind = 'federated' and a.subject = $2) or (a.kind = 'group' and a.subject = any($3::text[]))
     ) order by a.kind, a.name`,
    [issuer, subject, groups.filter(isStorableName)],
  )
  return records.map(accessOf)
}

type SecretJson = [string, string, number, number | null, number | null]

function accessOf(record: AccessRecord): AccountAccess {
  // `as`: the statement above makes them.
  const secrets = JSON.parse(record.secrets) as SecretJson[]
  const grants = JSON.parse(record.grants) as [string | null, string, GrantRole][]
  invariant(
    record.kind === 'service' || secrets.length === 0,
    `account ${record.id} is ${record.kind} and has no secrets`,
  )
  return {
    account: accountRowOf(record),
    secrets: secrets.map(([id, hash, createdAtMs, validUntilMs, lastUsedAtMs]) => ({
      id,
      hash,
      createdAtMs,
      validUntilMs: validUntilMs ?? undefined,
      lastUsedAtMs: lastUsedAtMs ?? undefined,
    })),
    grants: grants.map(([warehouseId, levels, role]) => ({
      warehouseId: warehouseId ?? undefined,
      levels: levels === '' ? [] : splitLevels(levels),
      role,
    })),
  }
}

function accountRowOf(record: AccountRecord): AccountRow {
  return {
    id: record.id,
    name: record.name,
    kind: record.kind,
    issuer: record.issuer ?? undefined,
    subject: record.subject ?? undefined,
    description: record.description,
    disabledAtMs: record.disabled_at_ms === null ? undefined : Number(record.disabled_at_ms),
    version: record.version,
    createdAtMs: Number(record.created_at_ms),
    updatedAtMs: Number(record.updated_at_ms),
  }
}
