import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import {
  askAdmin,
  type AdminRequest,
  type AdminWarehouse,
  type WarehouseFindings,
} from './admin-client.ts'
import type { InputContext } from './command-context.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import type { CredentialsSource, WarehouseBody, WarehouseCommand } from './warehouse-command.ts'

const WAREHOUSES = '/admin/v1/warehouses'

type Ask = (request: AdminRequest) => Promise<JsonValue>

/**
 * Shows and changes the warehouses of a running server. `create` tries the store afterwards. Errors: CommandError; the exit
 * code is `failed` when a store fails a check.
 */
export async function warehouse(
  command: WarehouseCommand,
  context: InputContext,
): Promise<ExitCode> {
  const { settings, print, send } = context
  const { uri = settings.uri } = command
  const ask: Ask = (request) => askAdmin({ uri, token: settings.token, send }, request)
  const show = (answer: JsonValue, lines: readonly string[]): void =>
    print(command.isJson ? printJson(answer) : lines.join('\n'))
  switch (command.action) {
    case 'list': {
      const all = await listWarehouses(ask)
      show(all, all.length === 0 ? ['no warehouses'] : all.map((each) => shortLine(each)))
      return EXIT_CODES.done
    }
    case 'show': {
      const answer = await ask({ method: 'GET', path: pathOf(command.name) })
      show(answer, describe(asWarehouse(answer)))
      return EXIT_CODES.done
    }
    case 'create': {
      const body = { name: command.name, ...(await bodyOf(command, context)) }
      const answer = await ask({ method: 'POST', path: WAREHOUSES, body })
      show(answer, describe(asWarehouse(answer)))
      return testStore(ask, command.name, command.isJson ? () => undefined : show)
    }
    case 'update': {
      const body = await bodyOf(command, context)
      const answer = await ask({ method: 'PATCH', path: pathOf(command.name), body })
      show(answer, describe(asWarehouse(answer)))
      return EXIT_CODES.done
    }
    case 'test':
      return testStore(ask, command.name, show)
    case 'delete': {
      const query = command.isForced ? '?force=true' : ''
      await ask({ method: 'DELETE', path: `${pathOf(command.name)}${query}` })
      if (!command.isJson)
        print(`warehouse ${command.name} is forgotten; its files were not touched`)
      return EXIT_CODES.done
    }
  }
}

function pathOf(name: string): string {
  return `${WAREHOUSES}/${encodeURIComponent(name)}`
}

async function listWarehouses(ask: Ask): Promise<(JsonObject & AdminWarehouse)[]> {
  const all: (JsonObject & AdminWarehouse)[] = []
  for (let token: string | null = ''; token !== null;) {
    const query = new URLSearchParams({ pageToken: token }).toString()
    // `as`: the description from which the types are made is tested against the routes.
    const page = (await ask({ method: 'GET', path: `${WAREHOUSES}?${query}` })) as unknown as {
      warehouses: (JsonObject & AdminWarehouse)[]
      'next-page-token': string | null
    }
    all.push(...page.warehouses)
    token = page['next-page-token']
  }
  return all
}

async function bodyOf(
  { body, credentials }: WarehouseBody,
  context: InputContext,
): Promise<JsonObject> {
  if (credentials === undefined) return body
  return { ...body, credentials: await readCredentials(credentials, context) }
}

async function readCredentials(
  source: CredentialsSource,
  { settings, readInput }: InputContext,
): Promise<JsonValue> {
  switch (source) {
    case 'none':
      return null
    case 'env': {
      const { s3AccessKeyId, s3SecretAccessKey } = settings
      if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined) {
        throw new CommandError(
          EXIT_CODES.wrongUsage,
          'set TIMELAKE_S3_ACCESS_KEY_ID and TIMELAKE_S3_SECRET_ACCESS_KEY',
        )
      }
      return { 'access-key-id': s3AccessKeyId, 'secret-access-key': s3SecretAccessKey }
    }
    case 'stdin':
      return parseCredentials(await readInput())
  }
}

function parseCredentials(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch {
    // The parser's error may quote the text, which is a secret.
    throw new CommandError(
      EXIT_CODES.wrongUsage,
      'standard input is not JSON: write {"access-key-id":"…","secret-access-key":"…"}',
    )
  }
}

async function testStore(
  ask: Ask,
  name: string,
  show: (answer: JsonValue, lines: readonly string[]) => void,
): Promise<ExitCode> {
  const answer = await ask({ method: 'POST', path: `${pathOf(name)}/test` })
  // `as`: as above.
  const { ok, findings } = answer as unknown as WarehouseFindings
  const lines = findings.map(({ check, ok: isFine, detail }) =>
    isFine ? `  ok      ${check}` : `  FAILED  ${check}: ${detail}`,
  )
  show(answer, [`the store of ${name} ${ok ? 'does what it must' : 'fails'}`, ...lines])
  return ok ? EXIT_CODES.done : EXIT_CODES.failed
}

function asWarehouse(answer: JsonValue): AdminWarehouse {
  // `as`: as above.
  return answer as unknown as AdminWarehouse
}

function shortLine({ name, location, storage }: AdminWarehouse): string {
  return `${name}  ${location}  ${storage.endpoint ?? storage.type}`
}

function describe(warehouse: AdminWarehouse): string[] {
  const { storage, credentials } = warehouse
  const store = Object.entries(storage).map(([key, value]) => `${key}=${String(value)}`)
  return [
    `${warehouse.name}  (id ${warehouse.id}, version ${warehouse.version})`,
    `  location        ${warehouse.location}`,
    `  storage         ${store.join(', ')}`,
    `  credentials     ${describeKeys(credentials)}`,
    ...warehouse['allowed-locations'].map((location) => `  allowed         ${location}`),
    ...describeProperties('default ', warehouse.defaults),
    ...describeProperties('override', warehouse.overrides),
  ]
}

function describeKeys(credentials: AdminWarehouse['credentials']): string {
  if (credentials === null) return 'none: the identity of the server is used'
  const end = credentials['access-key-id-end']
  const which = end === null ? 'set' : `set, access key id ends with ${end}`
  return credentials['opens-here']
    ? which
    : `${which}, but this server has another TIMELAKE_SECRET_KEY`
}

function describeProperties(what: string, properties: Readonly<Record<string, string>>): string[] {
  return Object.entries(properties).map(([key, value]) => `  ${what}        ${key}=${value}`)
}
