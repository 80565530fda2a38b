import { parseArgs } from 'node:util'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { parseDurationMs } from '@timelake/timelake/contract/quantity'
import { orUsageError, UsageError } from './usage-error.ts'

interface ServerRequest {
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
}

/** What is asked of accounts, past all checks of form. `body` is the request's. */
export type AccountsCommand = ServerRequest & { readonly kind: 'accounts' } & (
    | { readonly action: 'list' }
    | { readonly action: 'show' | 'disable' | 'enable' | 'delete'; readonly name: string }
    | { readonly action: 'create' | 'rotate'; readonly name: string; readonly body: JsonObject }
  )

/** What is asked of grants. */
export type GrantsCommand = ServerRequest & { readonly kind: 'grants' } & (
    | { readonly action: 'list'; readonly account?: string; readonly warehouse?: string }
    | { readonly action: 'add'; readonly body: JsonObject }
    | { readonly action: 'remove'; readonly id: string }
  )

/** What is asked of the audit log; `query` by the names of the route. */
export type AuditCommand = ServerRequest & {
  readonly kind: 'audit'
  readonly query: Readonly<Record<string, string>>
}

const CLIENT_OPTIONS = { uri: { type: 'string' }, json: { type: 'boolean' } } as const
const ACCOUNT_OPTIONS = {
  ...CLIENT_OPTIONS,
  subject: { type: 'string' },
  group: { type: 'string' },
  issuer: { type: 'string' },
  description: { type: 'string' },
  'keep-old': { type: 'string' },
} as const
const GRANT_OPTIONS = {
  ...CLIENT_OPTIONS,
  account: { type: 'string' },
  warehouse: { type: 'string' },
  namespace: { type: 'string' },
} as const
const AUDIT_OPTIONS = {
  ...CLIENT_OPTIONS,
  caller: { type: 'string' },
  warehouse: { type: 'string' },
  action: { type: 'string' },
  outcome: { type: 'string' },
  limit: { type: 'string' },
} as const

const KEEP_OLD = { min: 0, max: 2_592_000_000 }

/** `timelake accounts …`. Throws UsageError. */
export function parseAccounts(args: readonly string[]): AccountsCommand {
  const [action, ...rest] = args
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: rest, options: ACCOUNT_OPTIONS, allowPositionals: true }),
  )
  const [name, ...more] = positionals
  const request = { kind: 'accounts', ...serverRequest(values) } as const
  const { 'keep-old': keepOld, subject, group, issuer, description } = values
  const isNew = [subject, group, issuer, description].some((value) => value !== undefined)
  if (isNew && action !== 'create') throw new UsageError('--subject and the like are for create')
  if (keepOld !== undefined && action !== 'rotate') throw new UsageError('--keep-old is for rotate')
  refuseMore(action === 'list' ? positionals : more)
  switch (action) {
    case 'list':
      return { ...request, action }
    case 'show':
    case 'disable':
    case 'enable':
    case 'delete':
      return { ...request, action, name: named(name, 'account') }
    case 'create':
      return { ...request, action, name: named(name, 'account'), body: newAccount(name, values) }
    case 'rotate': {
      const body = keepOld === undefined ? {} : { 'old-secret-for-ms': keepOldMs(keepOld) }
      return { ...request, action, name: named(name, 'account'), body }
    }
    default:
      throw new UsageError(
        'say what to do: timelake accounts list, show, create, rotate, disable, enable or delete',
      )
  }
}

function newAccount(
  name: string | undefined,
  { subject, group, issuer, description }: Readonly<Record<string, string | boolean | undefined>>,
): JsonObject {
  if (subject !== undefined && group !== undefined) {
    throw new UsageError('say either --subject or --group')
  }
  const outside = {
    ...(subject === undefined ? {} : { kind: 'federated', subject: String(subject) }),
    ...(group === undefined ? {} : { kind: 'group', subject: String(group) }),
  }
  return {
    name: named(name, 'account'),
    ...outside,
    ...(issuer === undefined ? {} : { issuer: String(issuer) }),
    ...(description === undefined ? {} : { description: String(description) }),
  }
}

function keepOldMs(text: string): bigint {
  try {
    return BigInt(parseDurationMs(text, KEEP_OLD))
  } catch (cause) {
    throw new UsageError(`--keep-old: expected ${(cause as Error).message}`)
  }
}

/** `timelake grants …`. Throws UsageError. */
export function parseGrants(args: readonly string[]): GrantsCommand {
  const [action, ...rest] = args
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: rest, options: GRANT_OPTIONS, allowPositionals: true }),
  )
  const request = { kind: 'grants', ...serverRequest(values) } as const
  const { account, warehouse, namespace } = values
  const [first, second, ...more] = positionals
  switch (action) {
    case 'list':
      refuseMore(positionals)
      return {
        ...request,
        action,
        ...(account === undefined ? {} : { account }),
        ...(warehouse === undefined ? {} : { warehouse }),
      }
    case 'add': {
      refuseMore(more)
      if (second === undefined) throw new UsageError('say which role: reader, writer or admin')
      const place = {
        ...(warehouse === undefined ? {} : { warehouse }),
        ...(namespace === undefined ? {} : { namespace: namespace.split('.') }),
      }
      const body = { account: named(first, 'account'), role: second, ...place }
      return { ...request, action, body }
    }
    case 'remove':
      refuseMore(positionals.slice(1))
      return { ...request, action, id: named(first, 'grant') }
    default:
      throw new UsageError('say what to do: timelake grants list, add or remove')
  }
}

/** `timelake audit …`. Throws UsageError. */
export function parseAudit(args: readonly string[]): AuditCommand {
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: [...args], options: AUDIT_OPTIONS, allowPositionals: true }),
  )
  refuseMore(positionals)
  const { uri: _uri, json: _json, limit, ...filter } = values
  const query = { ...filter, pageSize: limit ?? '50' }
  return { kind: 'audit', ...serverRequest(values), query }
}

function serverRequest({ uri, json }: { readonly uri?: string; json?: boolean }): ServerRequest {
  return { isJson: json ?? false, ...(uri === undefined ? {} : { uri }) }
}

function named(name: string | undefined, what: string): string {
  if (name === undefined) throw new UsageError(`name the ${what}`)
  return name
}

function refuseMore(superfluous: readonly string[]): void {
  if (superfluous.length > 0) throw new UsageError(`there is too much: ${superfluous.join(' ')}`)
}
