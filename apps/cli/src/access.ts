import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { components } from '../../../openapi/admin.generated.ts'
import type { AccountsCommand, AuditCommand, GrantsCommand } from './access-command.ts'
import { askAdmin, type AdminRequest } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printTime } from './print-quantities.ts'

type Schemas = components['schemas']
type Account = Schemas['AccountSummary']
type AccountWithGrants = Schemas['AdminAccount']
type Grant = Schemas['AdminGrant']
type Entry = Schemas['AuditEntry']

const ACCOUNTS = '/admin/v1/accounts'
const GRANTS = '/admin/v1/grants'

/** What `TIMELAKE_AUTHENTICATION=auto` makes of a first account. */
const OPEN_HINT = [
  'This server lets in everybody. With an account it will ask who sends a request, from its next start on:',
  'set TIMELAKE_TOKEN for yourself before, or grant an account the role admin; TIMELAKE_AUTHENTICATION=off keeps it open.',
]

interface Said {
  readonly isJson: boolean
  readonly uri?: string
}

/** Shows and changes who may ask a running server. Errors: CommandError. */
export async function accounts(
  command: AccountsCommand,
  context: CommandContext,
): Promise<ExitCode> {
  const { ask, show } = talk(command, context)
  const nowMs = context.nowMs()
  switch (command.action) {
    case 'list': {
      const answer = await ask({ method: 'GET', path: ACCOUNTS })
      const { accounts: all } = as<{ accounts: Account[] }>(answer)
      return show(answer, all.length === 0 ? ['no accounts'] : all.map(accountLine))
    }
    case 'show': {
      const answer = await ask({ method: 'GET', path: pathOf(command.name) })
      return show(answer, describe(as<AccountWithGrants>(answer), nowMs))
    }
    case 'create': {
      const answer = await ask({ method: 'POST', path: ACCOUNTS, body: command.body })
      const made = as<Account & { secret?: string }>(answer)
      const lines = [accountLine(made), ...secretLines(made.name, made.secret)]
      // Whoever may do this without proving who it is talks to an open server.
      return show(answer, context.settings.token === undefined ? [...lines, ...OPEN_HINT] : lines)
    }
    case 'rotate': {
      const path = `${pathOf(command.name)}/secret`
      const answer = await ask({ method: 'POST', path, body: command.body })
      const { secret, ...made } = as<Schemas['AccountCredentials']>(answer)
      const until = `the one before is valid until ${printTime(made['old-secret-until-ms'], nowMs)}`
      return show(answer, [...secretLines(command.name, secret), until])
    }
    case 'disable':
    case 'enable': {
      const body = { disabled: command.action === 'disable' }
      const answer = await ask({ method: 'PATCH', path: pathOf(command.name), body })
      return show(answer, describe(as<AccountWithGrants>(answer), nowMs))
    }
    case 'delete':
      await ask({ method: 'DELETE', path: pathOf(command.name) })
      return done(command, context, `account ${command.name} is forgotten`)
  }
}

/** Shows and changes what accounts may do. Errors: CommandError. */
export async function grants(command: GrantsCommand, context: CommandContext): Promise<ExitCode> {
  const { ask, show } = talk(command, context)
  switch (command.action) {
    case 'list': {
      const { account, warehouse } = command
      const path = GRANTS + queryOf({ account, warehouse })
      const answer = await ask({ method: 'GET', path })
      const { grants: all } = as<{ grants: Grant[] }>(answer)
      return show(answer, all.length === 0 ? ['no grants'] : all.map(grantLine))
    }
    case 'add': {
      const answer = await ask({ method: 'POST', path: GRANTS, body: command.body })
      return show(answer, [grantLine(as<Grant>(answer))])
    }
    case 'remove':
      await ask({ method: 'DELETE', path: `${GRANTS}/${encodeURIComponent(command.id)}` })
      return done(command, context, `grant ${command.id} is taken back`)
  }
}

/** Shows the newest entries of the audit log. Errors: CommandError. */
export async function audit(command: AuditCommand, context: CommandContext): Promise<ExitCode> {
  const { ask, show } = talk(command, context)
  const answer = await ask({ method: 'GET', path: `/admin/v1/audit${queryOf(command.query)}` })
  const { entries } = as<{ entries: Entry[] }>(answer)
  const lines = entries.map((entry) => entryLine(entry, context.nowMs()))
  return show(answer, lines.length === 0 ? ['no entries'] : lines)
}

function talk({ uri, isJson }: Said, { settings, print, send }: CommandContext) {
  const client = { uri: uri ?? settings.uri, token: settings.token, send }
  return {
    ask: (request: AdminRequest) => askAdmin(client, request),
    show(answer: JsonValue, lines: readonly string[]): ExitCode {
      print(isJson ? printJson(answer) : lines.join('\n'))
      return EXIT_CODES.done
    },
  }
}

function done({ isJson }: Said, { print }: CommandContext, sentence: string): ExitCode {
  if (!isJson) print(sentence)
  return EXIT_CODES.done
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const text = new URLSearchParams(Object.fromEntries(given)).toString()
  return text === '' ? '' : `?${text}`
}

function pathOf(name: string): string {
  return `${ACCOUNTS}/${encodeURIComponent(name)}`
}

// `as`: the description from which the types are made is tested against the routes.
function as<T>(answer: JsonValue): T {
  return answer as unknown as T
}

function accountLine({ name, kind, subject, issuer, disabled }: Account): string {
  const whose = subject === null ? '' : `  ${subject} at ${issuer ?? ''}`
  return `${name}  ${kind}${whose}${disabled ? '  disabled' : ''}`
}

function secretLines(name: string, secret: string | undefined): string[] {
  if (secret === undefined) return []
  return [`  client id                ${name}`, `  secret (shown this once)  ${secret}`]
}

function describe(account: AccountWithGrants, nowMs: number): string[] {
  const at = (ms: bigint | null): string => (ms === null ? 'never' : printTime(ms, nowMs))
  const secrets = account.secrets.map((secret) => {
    const until = secret['valid-until-ms']
    const end = until === null ? '' : `, valid until ${at(until)}`
    return `  secret  made ${at(secret['created-ms'])}, last used ${at(secret['last-used-ms'])}${end}`
  })
  const about = account.description === '' ? [] : [`  ${account.description}`]
  return [
    accountLine(account),
    ...about,
    ...secrets,
    ...account.grants.map((grant) => `  ${grantLine(grant)}`),
  ]
}

function grantLine({ id, account, role, warehouse, namespace }: Grant): string {
  const place = warehouse === null ? 'everywhere' : [warehouse, ...namespace].join('.')
  return `${id}  ${account}  ${role}  ${place}`
}

function entryLine(entry: Entry, nowMs: number): string {
  const { warehouse, namespace, object, detail, action, outcome, status } = entry
  const target = [warehouse, ...(namespace ?? []), object].filter((part) => part !== null).join('.')
  const who = entry['caller-name'] || entry['caller-kind']
  const words = [
    printTime(entry['at-ms'], nowMs),
    who,
    action,
    target,
    `${outcome} ${status}`,
    detail,
  ]
  return words.filter((word) => word !== null && word !== '').join('  ')
}
