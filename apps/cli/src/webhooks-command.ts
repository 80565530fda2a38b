import { parseArgs } from 'node:util'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { orUsageError, UsageError } from './usage-error.ts'

/** What is asked of webhooks, past all checks of form. */
export type WebhooksCommand = {
  readonly kind: 'webhooks'
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
} & WebhooksAction

export type WebhooksAction =
  | { readonly action: 'list' }
  | {
      readonly action: 'show' | 'test' | 'pause' | 'resume' | 'rotate' | 'dead-letters' | 'delete'
      readonly name: string
    }
  /** `body` is the request's. */
  | { readonly action: 'create' | 'replay'; readonly name: string; readonly body: JsonObject }

const CLIENT_OPTIONS = { uri: { type: 'string' }, json: { type: 'boolean' } } as const

const OPTIONS = {
  ...CLIENT_OPTIONS,
  warehouse: { type: 'string', multiple: true },
  namespace: { type: 'string', multiple: true },
  table: { type: 'string', multiple: true },
  kind: { type: 'string', multiple: true },
  after: { type: 'string' },
  event: { type: 'string' },
  'dead-letters': { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseOptions>['values']

/** `timelake webhooks …`. Throws UsageError. */
export function parseWebhooks(args: readonly string[]): WebhooksCommand {
  const [action, ...rest] = args
  const { values, positionals } = parseOptions(rest)
  const [name, ...more] = positionals
  const request = {
    kind: 'webhooks',
    isJson: values.json ?? false,
    ...(values.uri === undefined ? {} : { uri: values.uri }),
  } as const
  switch (action) {
    case 'list':
      refuseMore(positionals)
      return { ...request, action }
    case 'show':
    case 'test':
    case 'pause':
    case 'resume':
    case 'rotate':
    case 'dead-letters':
    case 'delete':
      refuseMore(more)
      return { ...request, action, name: named(name) }
    case 'create':
      refuseMore(more.slice(1))
      return {
        ...request,
        action,
        name: named(name),
        body: newWebhook(named(name), more[0], values),
      }
    case 'replay':
      refuseMore(more)
      return { ...request, action, name: named(name), body: replayBody(values) }
    default:
      throw new UsageError(
        'say what to do: timelake webhooks list, show, create, test, pause, resume, rotate, replay, dead-letters or delete',
      )
  }
}

function parseOptions(args: readonly string[]) {
  return orUsageError(() =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true }),
  )
}

function newWebhook(name: string, url: string | undefined, values: Values): JsonObject {
  if (url === undefined) throw new UsageError('say where events are sent to: an https URL')
  const { warehouse: warehouses, namespace: namespaces, table: tables, kind: kinds, after } = values
  const filter = {
    ...(warehouses === undefined ? {} : { warehouses }),
    ...(namespaces === undefined ? {} : { namespaces: namespaces.map(levelsOf) }),
    ...(tables === undefined ? {} : { tables: tables.map(tableOf) }),
    ...(kinds === undefined ? {} : { kinds }),
  }
  return { name, url, filter, ...(after === undefined ? {} : { after }) }
}

function replayBody({ after, event, 'dead-letters': isAll }: Values): JsonObject {
  const bodies: JsonObject[] = [
    ...(after === undefined ? [] : [{ after }]),
    ...(event === undefined ? [] : [{ 'event-id': event }]),
    ...(isAll === true ? [{ 'dead-letters': true }] : []),
  ]
  const [body, ...more] = bodies
  if (body !== undefined && more.length === 0) return body
  throw new UsageError('say what to send again: one of --after, --event and --dead-letters')
}

function levelsOf(text: string): string[] {
  return text.split('.')
}

function tableOf(text: string): JsonObject {
  const namespace = levelsOf(text)
  const name = namespace.pop() ?? ''
  if (namespace.length === 0) throw new UsageError('--table needs namespace.table')
  return { namespace, name }
}

function named(name: string | undefined): string {
  if (name === undefined) throw new UsageError('name the webhook')
  return name
}

function refuseMore(superfluous: readonly string[]): void {
  if (superfluous.length > 0) throw new UsageError(`there is too much: ${superfluous.join(' ')}`)
}
