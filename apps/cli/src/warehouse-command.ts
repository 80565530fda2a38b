import { parseArgs } from 'node:util'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { orUsageError, UsageError } from './usage-error.ts'

/** Where credentials come from; never from the command line, which other users of the machine can read. */
export type CredentialsSource = 'env' | 'stdin' | 'none'

/** What is asked of warehouses, past all checks of form. */
export type WarehouseCommand = {
  readonly kind: 'warehouse'
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
} & WarehouseAction

export type WarehouseAction =
  | { readonly action: 'list' }
  | { readonly action: 'show' | 'test'; readonly name: string }
  | { readonly action: 'delete'; readonly name: string; readonly isForced: boolean }
  | ({ readonly action: 'create' | 'update'; readonly name: string } & WarehouseBody)

export interface WarehouseBody {
  /** Members of the request, without credentials. */
  readonly body: JsonObject
  /** Undefined: say nothing of them. */
  readonly credentials: CredentialsSource | undefined
}

const CLIENT_OPTIONS = { uri: { type: 'string' }, json: { type: 'boolean' } } as const

const BODY_OPTIONS = {
  ...CLIENT_OPTIONS,
  endpoint: { type: 'string' },
  region: { type: 'string' },
  'path-style': { type: 'string' },
  'role-arn': { type: 'string' },
  'client-role-arn': { type: 'string' },
  'external-id': { type: 'string' },
  'sts-endpoint': { type: 'string' },
  credentials: { type: 'string' },
  allow: { type: 'string', multiple: true },
  default: { type: 'string', multiple: true },
  override: { type: 'string', multiple: true },
  location: { type: 'string' },
} as const

/** `timelake warehouse …`. Throws UsageError. */
export function parseWarehouse(args: readonly string[]): WarehouseCommand {
  const [action, ...rest] = args
  switch (action) {
    case 'list':
    case 'show':
    case 'test':
    case 'delete':
      return parseNamed(action, rest)
    case 'create':
    case 'update':
      return parseBody(action, rest)
    default:
      throw new UsageError(
        'say what to do: timelake warehouse list, show, create, update, test or delete',
      )
  }
}

function parseNamed(
  action: 'list' | 'show' | 'test' | 'delete',
  args: readonly string[],
): WarehouseCommand {
  const options = { ...CLIENT_OPTIONS, force: { type: 'boolean' } } as const
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: [...args], options, allowPositionals: true }),
  )
  if (values.force === true && action !== 'delete') throw new UsageError('--force is for delete')
  const request = requestOf(values)
  if (action === 'list') {
    if (positionals.length > 0) throw new UsageError('list takes no name')
    return { ...request, action }
  }
  const name = onlyName(positionals, 1)[0]
  if (action !== 'delete') return { ...request, action, name }
  return { ...request, action, name, isForced: values.force ?? false }
}

type BodyValues = ReturnType<typeof parseBodyArgs>['values']

function parseBodyArgs(args: readonly string[]) {
  return orUsageError(() =>
    parseArgs({ args: [...args], options: BODY_OPTIONS, allowPositionals: true }),
  )
}

function parseBody(action: 'create' | 'update', args: readonly string[]): WarehouseCommand {
  const { values, positionals } = parseBodyArgs(args)
  const isNew = action === 'create'
  const [name, place] = onlyName(positionals, isNew ? 2 : 1)
  if (isNew && values.location !== undefined) throw new UsageError('name the location once')
  const location = isNew ? place : values.location
  const storage = storageOf(values, isNew ? location : undefined)
  return {
    ...requestOf(values),
    action,
    name,
    credentials: credentialsSource(values.credentials),
    body: {
      ...(location === undefined ? {} : { location }),
      ...(storage === undefined ? {} : { storage }),
      ...(values.allow === undefined ? {} : { 'allowed-locations': values.allow }),
      ...(values.default === undefined ? {} : { defaults: propertiesOf(values.default) }),
      ...(values.override === undefined ? {} : { overrides: propertiesOf(values.override) }),
    },
  }
}

/** The storage that the options describe; undefined when they say nothing of it and `location` is no new place. */
function storageOf(values: BodyValues, location: string | undefined): JsonObject | undefined {
  const members = {
    endpoint: values.endpoint,
    region: values.region,
    'path-style': switchOf(values['path-style']),
    'role-arn': values['role-arn'],
    'client-role-arn': values['client-role-arn'],
    'external-id': values['external-id'],
    'sts-endpoint': values['sts-endpoint'],
  }
  const isS3 = Object.values(members).some((value) => value !== undefined)
  if (location === undefined && !isS3) return undefined
  if (location !== undefined && !/^s3[an]?:/.test(location)) {
    if (isS3) throw new UsageError('--endpoint, --region and the like are for locations in s3://')
    return { type: 'file' }
  }
  return { type: 's3', ...members, region: members.region ?? 'us-east-1' }
}

function switchOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text === 'yes' || text === 'no') return text === 'yes'
  throw new UsageError(`--path-style is yes or no, not ${text}`)
}

function credentialsSource(text: string | undefined): CredentialsSource | undefined {
  if (text === undefined || text === 'env' || text === 'stdin' || text === 'none') return text
  // What was written may be a key: it is not repeated.
  throw new UsageError('--credentials is env, stdin or none: keys never go on the command line')
}

function propertiesOf(pairs: readonly string[]): JsonObject {
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1) throw new UsageError('write properties as key=value')
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(entries)
}

function onlyName(positionals: readonly string[], count: 1 | 2): [string, string | undefined] {
  const [name, location] = positionals
  if (name === undefined) throw new UsageError('name a warehouse')
  if (count === 2 && location === undefined) {
    throw new UsageError(`say where ${name} is to lie, for example s3://lake/${name}`)
  }
  const superfluous = positionals.slice(count)
  if (superfluous.length > 0) throw new UsageError(`there is too much: ${superfluous.join(' ')}`)
  return [name, location]
}

function requestOf({ uri, json }: { uri?: string | undefined; json?: boolean | undefined }): {
  kind: 'warehouse'
  isJson: boolean
  uri?: string
} {
  return { kind: 'warehouse', isJson: json ?? false, ...(uri === undefined ? {} : { uri }) }
}
