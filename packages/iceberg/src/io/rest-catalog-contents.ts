import { decodeCatalogEntry, type CatalogEntry } from '../rest/catalog-entry-json.ts'
import { decodeNamespacePage } from '../rest/listing-json.ts'
import { identifierText, namespaceText, type TableIdentifier } from '../rest/table-identifier.ts'
import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson } from '../spec/json.ts'
import { namespaceSegment, refusal, type CatalogConnection } from './rest-catalog-connection.ts'

export type EntryKind = CatalogEntry['kind']

/**
 * What a catalog holds. Absent things are undefined; other errors of every call: CatalogRefusedError,
 * CatalogUnavailableError, InvalidInputError for an answer that cannot be read.
 */
export interface CatalogContents {
  /** Whether the catalog announces an operation, such as `GET /v1/{prefix}/namespaces/{namespace}/views`. */
  serves(endpoint: string): Promise<boolean>
  /** Full names of the children, or of the top level, a page at a time. */
  listNamespaces(parent: readonly string[]): AsyncIterable<readonly string[][]>
  findNamespace(levels: readonly string[]): Promise<Record<string, string> | undefined>
  /** Names in a namespace, a page at a time; none when there is no such namespace. */
  listNames(kind: EntryKind, levels: readonly string[]): AsyncIterable<readonly string[]>
  findEntry(kind: EntryKind, identifier: TableIdentifier): Promise<CatalogEntry | undefined>
}

/** Names asked for in one page; a catalog may give fewer. */
const PAGE_SIZE = 1_000
/** More pages than this of one listing are a catalog that goes in circles. */
const PAGES_MAX = 100_000

/** The listings and pointers of a catalog. */
export function readCatalogContents(connection: CatalogConnection): CatalogContents {
  return {
    async serves(endpoint) {
      const { endpoints } = await connection.routes()
      return endpoints === undefined ? DEFAULT_ENDPOINTS.has(endpoint) : endpoints.has(endpoint)
    },
    async *listNamespaces(parent) {
      const routes = await connection.routes()
      const query = parent.length === 0 ? {} : { parent: namespaceSegment(parent, routes) }
      for await (const body of pages(connection, 'namespaces', query)) {
        yield decodeNamespacePage(parseJson(body)).items.map((levels) => [...levels])
      }
    },
    findNamespace: (levels) => findNamespace(connection, levels),
    async *listNames(kind, levels) {
      const namespace = namespaceSegment(levels, await connection.routes())
      for await (const body of pages(connection, `namespaces/${namespace}/${kind}s`, {})) {
        yield decodeNames(body)
      }
    },
    findEntry: (kind, identifier) => findEntry(connection, kind, identifier),
  }
}

/** What a catalog serves that announces nothing. Only reading and registering are asked about. */
const DEFAULT_ENDPOINTS = new Set([
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'POST /v1/{prefix}/namespaces/{namespace}/register',
])

async function* pages(
  connection: CatalogConnection,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncIterable<string> {
  const seen = new Set<string>()
  let token: string | undefined = ''
  while (token !== undefined) {
    if (seen.has(token) || seen.size >= PAGES_MAX)
      throw new InvalidInputError(
        `the catalog repeats the page ${JSON.stringify(token)} of ${path}`,
      )
    seen.add(token)
    const page = { pageToken: encodeURIComponent(token), pageSize: String(PAGE_SIZE), ...query }
    // The values are encoded already: the separator of a parent must arrive as it was announced.
    const text = Object.entries(page).map(([name, value]) => `${name}=${value}`)
    const answer = await connection.read(await connection.request(`${path}?${text.join('&')}`))
    if (answer.status === 404) return
    if (answer.status !== 200) throw refusal(answer, `list ${path}`)
    yield answer.body
    token = nextToken(answer.body)
  }
}

function nextToken(body: string): string | undefined {
  const raw = object(parseJson(body), 'response')
  const token = optional(raw['next-page-token'], 'next-page-token', text)
  return token === '' ? undefined : token
}

// One name that we could not hold ourselves must not hide the others.
function decodeNames(body: string): string[] {
  const raw = object(parseJson(body), 'response')
  return list(raw['identifiers'], 'identifiers', (item, path) =>
    text(object(item, path)['name'], `${path}.name`),
  )
}

async function findNamespace(
  connection: CatalogConnection,
  levels: readonly string[],
): Promise<Record<string, string> | undefined> {
  const namespace = namespaceSegment(levels, await connection.routes())
  const answer = await connection.read(await connection.request(`namespaces/${namespace}`))
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw refusal(answer, `read namespace ${namespaceText(levels)}`)
  const raw = object(parseJson(answer.body), 'response')
  return optional(raw['properties'], 'properties', stringMap) ?? {}
}

async function findEntry(
  connection: CatalogConnection,
  kind: EntryKind,
  { namespace, name }: TableIdentifier,
): Promise<CatalogEntry | undefined> {
  const segment = namespaceSegment(namespace, await connection.routes())
  // Only the pointer is wanted, so the catalog may leave out what no branch or tag needs.
  const query = kind === 'table' ? '?snapshots=refs' : ''
  const path = `namespaces/${segment}/${kind}s/${encodeURIComponent(name)}${query}`
  const answer = await connection.read(await connection.request(path))
  if (answer.status === 404) return undefined
  if (answer.status !== 200)
    throw refusal(answer, `load ${kind} ${identifierText(namespace, name)}`)
  return decodeCatalogEntry(kind, answer.body)
}
