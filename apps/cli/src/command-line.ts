import { parseArgs } from 'node:util'

/** What the user asked for, past all checks of form. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'serve' }
  | ({ readonly kind: 'info' } & TableRequest)
  | ({ readonly kind: 'maintain'; readonly isDryRun: boolean } & TableRequest)
  | {
      readonly kind: 'recover'
      readonly isDryRun: boolean
      readonly isForced: boolean
      readonly unnamedInto?: string
    }

interface TableRequest {
  readonly table: TableName
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
  /** The warehouse to look in; absent: the server's default. */
  readonly warehouse?: string
}

/** A table as people write it: `namespace.table`, deeper namespaces with more dots. */
export interface TableName {
  readonly levels: readonly string[]
  readonly name: string
}

/** Arguments that make no sense; the message is a sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const TABLE_OPTIONS = {
  uri: { type: 'string' },
  warehouse: { type: 'string' },
  json: { type: 'boolean' },
} as const

/**
 * The command that the arguments (without node and script) ask for. No arguments means help.
 * Throws UsageError for unknown commands and options and for missing or superfluous arguments.
 */
export function parseCommandLine(args: readonly string[]): Command {
  const [word = 'help', ...rest] = args
  if (rest.includes('--help') || rest.includes('-h')) return { kind: 'help' }
  switch (word) {
    case 'help':
    case '--help':
    case '-h':
      return { kind: 'help' }
    case 'version':
    case '--version':
      return { kind: 'version' }
    case 'serve':
      return parseServe(rest)
    case 'info':
      return parseInfo(rest)
    case 'maintain':
      return parseMaintain(rest)
    case 'recover':
      return parseRecover(rest)
    default:
      throw new UsageError(`there is no command ${word}: see timelake help`)
  }
}

function parseServe(args: readonly string[]): Command {
  orUsageError(() => parseArgs({ args: [...args], options: {}, allowPositionals: false }))
  return { kind: 'serve' }
}

function parseInfo(args: readonly string[]): Command {
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: [...args], options: TABLE_OPTIONS, allowPositionals: true }),
  )
  return { kind: 'info', ...tableRequest(values, positionals) }
}

function parseMaintain(args: readonly string[]): Command {
  const options = { ...TABLE_OPTIONS, 'dry-run': { type: 'boolean' } } as const
  const { values, positionals } = orUsageError(() =>
    parseArgs({ args: [...args], options, allowPositionals: true }),
  )
  const isDryRun = values['dry-run'] ?? false
  return { kind: 'maintain', isDryRun, ...tableRequest(values, positionals) }
}

function parseRecover(args: readonly string[]): Command {
  const options = {
    'dry-run': { type: 'boolean' },
    force: { type: 'boolean' },
    'unnamed-into': { type: 'string' },
  } as const
  const { values } = orUsageError(() =>
    parseArgs({ args: [...args], options, allowPositionals: false }),
  )
  const unnamedInto = values['unnamed-into']
  if (unnamedInto === '') throw new UsageError('--unnamed-into needs the name of a namespace')
  return {
    kind: 'recover',
    isDryRun: values['dry-run'] ?? false,
    isForced: values.force ?? false,
    ...(unnamedInto === undefined ? {} : { unnamedInto }),
  }
}

interface TableOptionValues {
  readonly uri?: string | undefined
  readonly warehouse?: string | undefined
  readonly json?: boolean | undefined
}

function tableRequest(values: TableOptionValues, positionals: readonly string[]): TableRequest {
  const [text, ...superfluous] = positionals
  if (text === undefined) throw new UsageError('name a table, for example metrics.cpu')
  if (superfluous.length > 0)
    throw new UsageError(`name one table, not also ${superfluous.join(' ')}`)
  const { uri, warehouse, json = false } = values
  return {
    table: parseTableName(text),
    isJson: json,
    ...(uri === undefined ? {} : { uri }),
    ...(warehouse === undefined ? {} : { warehouse }),
  }
}

function parseTableName(text: string): TableName {
  const parts = text.split('.')
  const name = parts.pop() ?? ''
  if (parts.length === 0 || name === '' || parts.includes('')) {
    throw new UsageError(`${text} is not a table name: write namespace.table`)
  }
  return { levels: parts, name }
}

function orUsageError<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    // parseArgs explains at length after the first sentence how to escape arguments.
    const [sentence = 'the arguments are wrong'] = (cause as Error).message.split('. ')
    throw new UsageError(sentence, { cause })
  }
}
