import { parseArgs } from 'node:util'
import {
  parseAccounts,
  parseAudit,
  parseGrants,
  type AccountsCommand,
  type AuditCommand,
  type GrantsCommand,
} from './access-command.ts'
import { parseDropped, type DroppedCommand } from './dropped-command.ts'
import { parseEvents, type EventsCommand } from './events-command.ts'
import { orUsageError, UsageError } from './usage-error.ts'
import { parseWarehouse, type WarehouseCommand } from './warehouse-command.ts'
import { parseWebhooks, type WebhooksCommand } from './webhooks-command.ts'

/** What the user asked for, past all checks of form. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'serve' }
  | { readonly kind: 'worker' }
  | ({ readonly kind: 'info' } & TableRequest)
  | ({ readonly kind: 'maintain'; readonly isDryRun: boolean } & TableRequest)
  | {
      readonly kind: 'recover'
      readonly isDryRun: boolean
      readonly isForced: boolean
      readonly unnamedInto?: string
      /** The warehouse of a row that is there already; absent: the one of the settings. */
      readonly warehouse?: string
    }
  | ({ readonly kind: 'migrate' } & MigrateRequest)
  | WarehouseCommand
  | DroppedCommand
  | EventsCommand
  | WebhooksCommand
  | AccountsCommand
  | GrantsCommand
  | AuditCommand

interface TableRequest {
  readonly table: TableName
  readonly isJson: boolean
  /** Overrides TIMELAKE_URI. */
  readonly uri?: string
  /** The warehouse to look in; absent: the server's default. */
  readonly warehouse?: string
}

/** From which catalog to which, and what may be changed there. */
export interface MigrateRequest {
  readonly sourceUri: string
  readonly sourceWarehouse?: string
  /** Overrides TIMELAKE_URI. */
  readonly targetUri?: string
  readonly targetWarehouse?: string
  /** With everything below them; none: all. */
  readonly namespaces: readonly (readonly string[])[]
  readonly reportPath?: string
  readonly isDryRun: boolean
  /** Moves a table of the target that is behind. */
  readonly isOverwriting: boolean
  /** Moves it even when it has commits that the source lacks. */
  readonly isDiscarding: boolean
  /** Looks at the source again when all is copied. */
  readonly isCheckingFreeze: boolean
  /** Tables at the same time. */
  readonly concurrency: number
}

/** A table as people write it: `namespace.table`, deeper namespaces with more dots. */
export interface TableName {
  readonly levels: readonly string[]
  readonly name: string
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
    case 'worker':
      return parseBare(word, rest)
    case 'info':
      return parseInfo(rest)
    case 'maintain':
      return parseMaintain(rest)
    case 'recover':
      return parseRecover(rest)
    case 'migrate':
      return parseMigrate(rest)
    case 'warehouse':
      return parseWarehouse(rest)
    case 'dropped':
      return parseDropped(rest)
    case 'events':
      return parseEvents(rest)
    case 'webhooks':
      return parseWebhooks(rest)
    case 'accounts':
      return parseAccounts(rest)
    case 'grants':
      return parseGrants(rest)
    case 'audit':
      return parseAudit(rest)
    default:
      throw new UsageError(`there is no command ${word}: see timelake help`)
  }
}

function parseBare(kind: 'serve' | 'worker', args: readonly string[]): Command {
  orUsageError(() => parseArgs({ args: [...args], options: {}, allowPositionals: false }))
  return { kind }
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
    warehouse: { type: 'string' },
  } as const
  const { values } = orUsageError(() =>
    parseArgs({ args: [...args], options, allowPositionals: false }),
  )
  const { 'unnamed-into': unnamedInto, warehouse } = values
  if (unnamedInto === '') throw new UsageError('--unnamed-into needs the name of a namespace')
  return {
    kind: 'recover',
    isDryRun: values['dry-run'] ?? false,
    isForced: values.force ?? false,
    ...(unnamedInto === undefined ? {} : { unnamedInto }),
    ...(warehouse === undefined ? {} : { warehouse }),
  }
}

const MIGRATE_OPTIONS = {
  from: { type: 'string' },
  'from-warehouse': { type: 'string' },
  to: { type: 'string' },
  'to-warehouse': { type: 'string' },
  namespace: { type: 'string', multiple: true },
  report: { type: 'string' },
  'dry-run': { type: 'boolean' },
  overwrite: { type: 'boolean' },
  'discard-target': { type: 'boolean' },
  'freeze-check': { type: 'boolean' },
  concurrency: { type: 'string' },
} as const

const MIGRATE_CONCURRENCY = 8
const MIGRATE_CONCURRENCY_MAX = 64

function parseMigrate(args: readonly string[]): Command {
  const { values } = orUsageError(() =>
    parseArgs({ args: [...args], options: MIGRATE_OPTIONS, allowPositionals: false }),
  )
  const { from, to, report, namespace = [] } = values
  if (from === undefined) throw new UsageError('--from needs the address of a catalog')
  const isOverwriting = values.overwrite ?? false
  const isDiscarding = values['discard-target'] ?? false
  if (isDiscarding && !isOverwriting) throw new UsageError('--discard-target needs --overwrite')
  const { 'from-warehouse': sourceWarehouse, 'to-warehouse': targetWarehouse } = values
  return {
    kind: 'migrate',
    sourceUri: catalogUri('--from', from),
    ...(sourceWarehouse === undefined ? {} : { sourceWarehouse }),
    ...(to === undefined ? {} : { targetUri: catalogUri('--to', to) }),
    ...(targetWarehouse === undefined ? {} : { targetWarehouse }),
    namespaces: namespace.map(parseNamespaceName),
    ...(report === undefined ? {} : { reportPath: report }),
    isDryRun: values['dry-run'] ?? false,
    isOverwriting,
    isDiscarding,
    isCheckingFreeze: values['freeze-check'] ?? false,
    concurrency: parseConcurrency(values.concurrency),
  }
}

// Names and passwords in an address would be seen by every user of the machine.
function catalogUri(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${option} needs an address like http://host:8181`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(
      `${option} must not hold a password: use TIMELAKE_MIGRATE_FROM_TOKEN or TIMELAKE_MIGRATE_TO_TOKEN`,
    )
  return text
}

function parseNamespaceName(text: string): string[] {
  const levels = text.split('.')
  if (levels.includes('')) throw new UsageError(`${text} is not a namespace: write a.b`)
  return levels
}

function parseConcurrency(text: string | undefined): number {
  if (text === undefined) return MIGRATE_CONCURRENCY
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count >= 1 && count <= MIGRATE_CONCURRENCY_MAX) return count
  throw new UsageError(`--concurrency needs a number from 1 to ${MIGRATE_CONCURRENCY_MAX}`)
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
