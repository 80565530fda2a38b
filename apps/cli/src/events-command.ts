import { parseArgs } from 'node:util'
import { orUsageError, UsageError } from './usage-error.ts'

/** Which events are wanted, past all checks of form; what the values mean is for the server to check. */
export interface EventsCommand {
  readonly kind: 'events'
  /** Goes on until it is interrupted. */
  readonly isFollowing: boolean
  readonly isJson: boolean
  /** Default: the oldest event that is kept; for followers, what comes from now on. */
  readonly after: string
  /** Parameters of the server's route; each may come several times. */
  readonly filter: readonly (readonly [name: string, value: string])[]
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
  readonly warehouse?: string
}

const OPTIONS = {
  uri: { type: 'string' },
  json: { type: 'boolean' },
  warehouse: { type: 'string' },
  follow: { type: 'boolean', short: 'f' },
  after: { type: 'string' },
  table: { type: 'string', multiple: true },
  namespace: { type: 'string', multiple: true },
  kind: { type: 'string', multiple: true },
} as const

/** `timelake events …`. Throws UsageError. */
export function parseEvents(args: readonly string[]): EventsCommand {
  const { values: options } = orUsageError(() =>
    parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }),
  )
  const { uri, warehouse, after, table, namespace, kind } = options
  const isFollowing = options.follow ?? false
  if (after === '') throw new UsageError('--after needs a cursor, start or now')
  return {
    kind: 'events',
    isFollowing,
    isJson: options.json ?? false,
    after: after ?? (isFollowing ? 'now' : 'start'),
    filter: Object.entries({ table, namespace, kind }).flatMap(([name, values = []]) =>
      values.map((value) => [name, value] as const),
    ),
    ...(uri === undefined ? {} : { uri }),
    ...(warehouse === undefined ? {} : { warehouse }),
  }
}
