import { ACCOUNT_KINDS, type AccountRow, type AccountSecret } from '@timelake/database/accounts'
import { bool, list, long, optional, text, timestampMs } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { AccessConfig } from '../access/access-config.ts'
import { ROLES } from '../access/caller.ts'
import type { AccountChange } from '../access/change-account.ts'
import type { GrantDraft } from '../access/change-grants.ts'
import type { AccountDraft } from '../access/create-account.ts'
import { checkName, checkNamespace } from '../catalog/names.ts'
import { msJson } from './dropped-table-json.ts'
import { refuseUnknown } from './unknown-members.ts'

/** Names are client ids: they stand in URLs, in forms, and before a colon. */
const ACCOUNT_NAME = /^(?!tls_)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const TEXT_CHARACTERS_MAX = 500
const DAY_MS = 86_400_000
const OLD_SECRET_FOR_MS = { standard: DAY_MS, min: 0, max: 30 * DAY_MS }

/** What a request to make an account says. Throws InvalidInputError that names the member. */
export function decodeAccountDraft(
  json: JsonObject,
  { identityProviders }: AccessConfig,
): AccountDraft {
  refuseUnknown(json, ['name', 'kind', 'issuer', 'subject', 'description'])
  const name = text(json['name'], 'name')
  if (!ACCOUNT_NAME.test(name)) {
    throw new InvalidInputError(
      'expected letters, digits, `.`, `_` and `-`, at most 128, not beginning with tls_',
      'name',
    )
  }
  const kind = optional(json['kind'], 'kind', oneOf(ACCOUNT_KINDS)) ?? 'service'
  const description = optional(json['description'], 'description', shortText) ?? ''
  if (kind === 'service') {
    if (json['issuer'] !== undefined || json['subject'] !== undefined) {
      throw new InvalidInputError('expected no issuer and no subject for a service account', 'kind')
    }
    return { name, kind, issuer: undefined, subject: undefined, description }
  }
  const subject = shortText(json['subject'], 'subject')
  checkName(subject, 'subject')
  const issuer = decodeIssuer(json, identityProviders?.issuers ?? [])
  return { name, kind, issuer, subject, description }
}

function decodeIssuer(json: JsonObject, issuers: readonly string[]): string {
  const issuer = optional(json['issuer'], 'issuer', text)
  const [only, ...others] = issuers
  if (issuer === undefined && only !== undefined && others.length === 0) return only
  if (issuer !== undefined && issuers.includes(issuer)) return issuer
  const found = issuer === undefined ? 'nothing' : JSON.stringify(issuer)
  throw new InvalidInputError(
    `expected one of TIMELAKE_OIDC_ISSUERS (${issuers.join(', ') || 'none is set'}), got ${found}`,
    'issuer',
  )
}

/** What a request to change an account says: absent members stay. Errors as above. */
export function decodeAccountChange(json: JsonObject): AccountChange {
  refuseUnknown(json, ['description', 'disabled', 'version'])
  return {
    description: optional(json['description'], 'description', shortText),
    isDisabled: optional(json['disabled'], 'disabled', bool),
    expectedVersion: optional(json['version'], 'version', long),
  }
}

/** The body of a rotation: how long the secret before stays valid, in ms. Throws InvalidInputError. */
export function decodeSecretRotation(json: JsonObject): { readonly oldSecretForMs: number } {
  refuseUnknown(json, ['old-secret-for-ms'])
  const { standard, min, max } = OLD_SECRET_FOR_MS
  const forMs = optional(json['old-secret-for-ms'], 'old-secret-for-ms', timestampMs) ?? standard
  if (forMs >= min && forMs <= max) return { oldSecretForMs: forMs }
  throw new InvalidInputError(`expected ${min} to ${max}, got ${forMs}`, 'old-secret-for-ms')
}

/** What a request to give a role says. Errors as above. */
export function decodeGrantDraft(json: JsonObject): GrantDraft {
  refuseUnknown(json, ['account', 'role', 'warehouse', 'namespace'])
  const warehouse = optional(json['warehouse'], 'warehouse', (value, path) => {
    const name = text(value, path)
    checkName(name, path)
    return name
  })
  const levels = optional(json['namespace'], 'namespace', (value, path) => {
    const found = list(value, path, text)
    if (found.length > 0) checkNamespace(found, path)
    return found
  })
  if (warehouse === undefined && levels !== undefined && levels.length > 0) {
    throw new InvalidInputError('expected the warehouse of the namespace, got nothing', 'warehouse')
  }
  return {
    account: text(json['account'], 'account'),
    role: oneOf(ROLES)(json['role'], 'role'),
    warehouse,
    levels: levels ?? [],
  }
}

/** How the admin routes show an account: nothing of its secrets. */
export function accountJson(row: AccountRow): JsonObject {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    issuer: row.issuer ?? null,
    subject: row.subject ?? null,
    description: row.description,
    disabled: row.disabledAtMs !== undefined,
    'disabled-ms': msJson(row.disabledAtMs),
    version: row.version,
    'created-ms': BigInt(row.createdAtMs),
    'updated-ms': BigInt(row.updatedAtMs),
  }
}

/** What may be known of a secret. */
export function accountSecretJson(secret: AccountSecret): JsonObject {
  return {
    id: secret.id,
    'created-ms': BigInt(secret.createdAtMs),
    'valid-until-ms': msJson(secret.validUntilMs),
    'last-used-ms': msJson(secret.lastUsedAtMs),
  }
}

/** How a grant is shown; without a warehouse it reaches everywhere, with an empty namespace the whole warehouse. */
export function grantJson(grant: {
  readonly id: string
  readonly accountName: string
  readonly warehouseName: string | undefined
  readonly levels: readonly string[]
  readonly role: string
  readonly createdAtMs: number
}): JsonObject {
  return {
    id: grant.id,
    account: grant.accountName,
    warehouse: grant.warehouseName ?? null,
    namespace: grant.levels,
    role: grant.role,
    'created-ms': BigInt(grant.createdAtMs),
  }
}

function shortText(value: JsonValue | undefined, path: string): string {
  const found = text(value, path)
  if (found.length <= TEXT_CHARACTERS_MAX && !/[\u0000]|\p{Surrogate}/u.test(found)) return found
  throw new InvalidInputError(`expected at most ${TEXT_CHARACTERS_MAX} characters`, path)
}

function oneOf<Word extends string>(words: readonly Word[]) {
  return (value: JsonValue | undefined, path: string): Word => {
    const found = text(value, path)
    const word = words.find((candidate) => candidate === found)
    if (word !== undefined) return word
    throw new InvalidInputError(
      `expected ${words.join(' or ')}, got ${JSON.stringify(found)}`,
      path,
    )
  }
}
