import { parseArgs } from 'node:util'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { orUsageError, UsageError } from './usage-error.ts'

/** What is asked of dropped tables, past all checks of form. */
export type DroppedCommand = {
  readonly kind: 'dropped'
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
} & (
  | { readonly action: 'list'; readonly warehouse?: string }
  | { readonly action: 'purge' | 'keep'; readonly id: string }
  | { readonly action: 'undrop'; readonly id: string; readonly body: JsonObject }
)

const OPTIONS = {
  uri: { type: 'string' },
  json: { type: 'boolean' },
  warehouse: { type: 'string' },
  namespace: { type: 'string' },
  name: { type: 'string' },
} as const

/** `timelake dropped …`. Throws UsageError. */
export function parseDropped(args: readonly string[]): DroppedCommand {
  const [action, ...rest] = args
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: rest, options: OPTIONS, allowPositionals: true }),
  )
  const { uri, json, warehouse, namespace, name } = values
  const request = {
    kind: 'dropped',
    isJson: json ?? false,
    ...(uri === undefined ? {} : { uri }),
  } as const
  if (action !== 'undrop' && (namespace !== undefined || name !== undefined)) {
    throw new UsageError('--namespace and --name are for undrop')
  }
  switch (action) {
    case 'list':
      if (positionals.length > 0) throw new UsageError('list takes no id')
      return { ...request, action, ...(warehouse === undefined ? {} : { warehouse }) }
    case 'purge':
    case 'keep':
      return { ...request, action, id: onlyId(positionals) }
    case 'undrop': {
      const target = {
        ...(namespace === undefined ? {} : { namespace: namespace.split('.') }),
        ...(name === undefined ? {} : { name }),
      }
      return { ...request, action, id: onlyId(positionals), body: target }
    }
    default:
      throw new UsageError('say what to do: timelake dropped list, undrop, purge or keep')
  }
}

function onlyId(positionals: readonly string[]): string {
  const [id, ...superfluous] = positionals
  if (id === undefined) throw new UsageError('name the id that `timelake dropped list` shows')
  if (superfluous.length > 0) throw new UsageError(`there is too much: ${superfluous.join(' ')}`)
  return id
}
