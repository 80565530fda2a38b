import { decodeError } from '@timelake/iceberg/rest/error-json'
import { parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import type { components } from '../../../openapi/admin.generated.ts'
import type { TableName } from './command-line.ts'
import { CommandError, EXIT_CODES } from './exit-code.ts'

type Schemas = components['schemas']
export type AdminTableRow = Schemas['AdminTableRow']
export type AdminTable = Schemas['AdminTable']
export type MaintenanceReport = Schemas['MaintenanceReport']
export type CompactionDryRun = Schemas['CompactionDryRun']
export type CompactionAccepted = Schemas['CompactionAccepted']
export type AdminWarehouse = Schemas['AdminWarehouse']
export type WarehouseFindings = Schemas['WarehouseFindings']
export type DroppedTable = Schemas['DroppedTable']
export type AdminWebhook = Schemas['AdminWebhook']
export type WebhookTrial = Schemas['WebhookTrial']

export interface AdminClientOptions {
  /** Without a path, for example `http://127.0.0.1:8181`. */
  readonly uri: string
  readonly token: string | undefined
  readonly warehouse: string | undefined
  readonly send: (request: Request) => Promise<Response>
}

/**
 * The admin routes of a running server. Errors: CommandError, whose message says what was asked for and what the server
 * answered.
 */
export interface AdminClient {
  /** Throws CommandError when no table has the name. */
  findTable(name: TableName): Promise<AdminTableRow>
  getTable(id: string): Promise<AdminTable>
  getMaintenance(id: string): Promise<MaintenanceReport>
  /** What a compaction would do now; changes nothing. */
  planCompaction(id: string): Promise<CompactionDryRun>
  /** Asks for a compaction and does not wait for it. */
  compact(id: string): Promise<CompactionAccepted>
}

/** A client of the server at the URI. */
export function openAdminClient(options: AdminClientOptions): AdminClient {
  // `as`: the descriptions from which the types are made are tested against the routes.
  const get = async <T>(path: string) => (await askAdmin(options, { method: 'GET', path })) as T
  const post = async <T>(path: string) => (await askAdmin(options, { method: 'POST', path })) as T
  const table = (id: string): string => `/admin/v1/tables/${encodeURIComponent(id)}`
  return {
    findTable: (name) => findTable(options, name, (path) => get<Schemas['AdminTableList']>(path)),
    getTable: (id) => get<AdminTable>(table(id)),
    getMaintenance: (id) => get<MaintenanceReport>(`${table(id)}/maintenance`),
    planCompaction: (id) => post<CompactionDryRun>(`${table(id)}/compact?dry-run=true`),
    compact: (id) => post<CompactionAccepted>(`${table(id)}/compact`),
  }
}

async function findTable(
  { warehouse }: AdminClientOptions,
  name: TableName,
  readPage: (path: string) => Promise<Schemas['AdminTableList']>,
): Promise<AdminTableRow> {
  for (let token: string | null = ''; token !== null;) {
    const query = new URLSearchParams({ pageToken: token })
    if (warehouse !== undefined) query.set('warehouse', warehouse)
    const page = await readPage(`/admin/v1/tables?${query.toString()}`)
    const found = page.tables.find((row) => isNamed(row, name))
    if (found !== undefined) return found
    token = page['next-page-token']
  }
  const text = [...name.levels, name.name].join('.')
  throw new CommandError(EXIT_CODES.failed, `there is no table ${text}`)
}

// A level or a name may hold dots, so the parts are not compared one by one.
function isNamed(row: AdminTableRow, { levels, name }: TableName): boolean {
  return [...row.namespace, row.name].join('.') === [...levels, name].join('.')
}

export interface AdminRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: JsonValue
}

/** The JSON of the answer to one request; null when it has none. Throws CommandError, as the client does. */
export async function askAdmin(
  { uri, token, send }: Pick<AdminClientOptions, 'uri' | 'token' | 'send'>,
  { method, path, body }: AdminRequest,
): Promise<JsonValue> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  const request = new Request(`${uri.replace(/\/+$/, '')}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: printJson(body) }),
  })
  const answer = await receive(request, send, uri)
  if (answer.status < 300) return answer.body === '' ? null : parseJson(answer.body)
  throw new CommandError(
    EXIT_CODES.failed,
    `${method} ${path} was answered ${answer.status}: ${messageOf(answer.body)}`,
  )
}

async function receive(
  request: Request,
  send: AdminClientOptions['send'],
  uri: string,
): Promise<{ status: number; body: string }> {
  try {
    const response = await send(request)
    return { status: response.status, body: await response.text() }
  } catch (cause) {
    const sentence = `no server answers at ${uri}: start one with \`npm start\`, or set TIMELAKE_URI`
    throw new CommandError(EXIT_CODES.failed, sentence, { cause })
  }
}

function messageOf(body: string): string {
  try {
    return decodeError(parseJson(body))?.message ?? body.slice(0, 200)
  } catch {
    // Not ours: a gateway's page, whose beginning says more than our opinion of it.
    return body.slice(0, 200)
  }
}
