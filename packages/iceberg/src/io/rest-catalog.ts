import type { CommitRequest } from '../commit/table-update.ts'
import { encodeCommitRequest } from '../rest/commit-json.ts'
import { decodeCatalogSettings } from '../rest/config-json.ts'
import { decodeError } from '../rest/error-json.ts'
import { decodeLoadTableResult, type LoadTableResult } from '../rest/load-table-json.ts'
import { identifierText, type TableIdentifier } from '../rest/table-identifier.ts'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import {
  CatalogRefusedError,
  CatalogUnavailableError,
  CommitStateUnknownError,
  NoSuchTableError,
} from './rest-catalog-errors.ts'

/** What `fetch` does; a catalog in the same process offers the same without a socket. */
export type SendRequest = (request: Request) => Promise<Response>

export interface RestCatalogOptions {
  /** Without `/v1`, for example `http://127.0.0.1:8181`. */
  readonly baseUri: string
  readonly warehouse?: string
  readonly token?: string
  readonly send: SendRequest
}

export interface CommitOptions {
  /** The same for every repeat of one commit, so that a repeat gets the first one's answer. */
  readonly idempotencyKey: string
  readonly signal?: AbortSignal
}

/** The few calls of the REST protocol that our own jobs make. */
export interface RestCatalog {
  /** Errors: NoSuchTableError, CatalogRefusedError, CatalogUnavailableError, the signal's reason. */
  loadTable(table: TableIdentifier, signal?: AbortSignal): Promise<LoadTableResult>
  /**
   * Commits and answers with the table as it is then. Errors: CommitFailedError (nothing applied, load again),
   * CommitStateUnknownError, NoSuchTableError, CatalogRefusedError (nothing applied, never will be).
   */
  commitTable(
    table: TableIdentifier,
    request: CommitRequest,
    options: CommitOptions,
  ): Promise<LoadTableResult>
}

/** A client; the catalog's prefix is asked for with the first call. Spec: REST catalog. */
export function createRestCatalog(options: RestCatalogOptions): RestCatalog {
  let prefix: Promise<string> | undefined
  const tableUri = async (table: TableIdentifier): Promise<string> => {
    prefix ??= readPrefix(options)
    const before = prefix
    // A failed look-up is tried again by the next call.
    before.catch(() => (prefix = undefined))
    const namespace = encodeURIComponent(table.namespace.join('\u001f'))
    const name = encodeURIComponent(table.name)
    return `${options.baseUri}/v1/${await before}namespaces/${namespace}/tables/${name}`
  }
  return {
    async loadTable(table, signal) {
      const request = new Request(await tableUri(table), {
        headers: headersOf(options),
        ...withSignal(signal),
      })
      return decodeAnswer(await readAnswer(options, request), table)
    },
    async commitTable(table, commit, { idempotencyKey, signal }) {
      const request = new Request(await tableUri(table), {
        method: 'POST',
        headers: {
          ...headersOf(options),
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: printJson(encodeCommitRequest(commit)),
        ...withSignal(signal),
      })
      return decodeCommitAnswer(await commitAnswer(options, request), table)
    },
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

function headersOf({ token }: RestCatalogOptions): Record<string, string> {
  const authorization: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` }
  return { accept: 'application/json', ...authorization }
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

async function readPrefix(options: RestCatalogOptions): Promise<string> {
  const { baseUri, warehouse } = options
  const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
  const request = new Request(`${baseUri}/v1/config${query}`, { headers: headersOf(options) })
  const answer = await readAnswer(options, request)
  if (answer.status !== 200) throw refusal(answer, 'read the configuration of the catalog')
  const { defaults, overrides } = decodeCatalogSettings(parseJson(answer.body))
  const prefix = overrides['prefix'] ?? defaults['prefix']
  // It is part of a path already, so it is not encoded again.
  return prefix === undefined || prefix === '' ? '' : `${prefix}/`
}

/** Any answer; CatalogUnavailableError when there was none or the server could not give one. */
async function readAnswer(options: RestCatalogOptions, request: Request): Promise<Answer> {
  let answer: Answer
  try {
    const response = await options.send(request)
    answer = { status: response.status, body: await response.text() }
  } catch (cause) {
    request.signal.throwIfAborted()
    throw new CatalogUnavailableError('the catalog cannot be reached', { cause })
  }
  if (answer.status < 500 && answer.status !== 429) return answer
  throw new CatalogUnavailableError(`the catalog answered ${answer.status}: ${messageOf(answer)}`)
}

/** Any answer that is no doubt; CommitStateUnknownError otherwise. An abort leaves doubt as well. */
async function commitAnswer(options: RestCatalogOptions, request: Request): Promise<Answer> {
  request.signal.throwIfAborted()
  let answer: Answer
  try {
    const response = await options.send(request)
    answer = { status: response.status, body: await response.text() }
  } catch (cause) {
    throw new CommitStateUnknownError('no answer to the commit', { cause })
  }
  if (answer.status < 500) return answer
  throw new CommitStateUnknownError(
    `the commit was answered ${answer.status}: ${messageOf(answer)}`,
  )
}

function decodeCommitAnswer(answer: Answer, table: TableIdentifier): LoadTableResult {
  if (answer.status === 409) throw new CommitFailedError(messageOf(answer))
  try {
    return decodeAnswer(answer, table)
  } catch (cause) {
    if (!(cause instanceof InvalidInputError)) throw cause
    throw new CommitStateUnknownError('the answer to the commit cannot be read', { cause })
  }
}

function decodeAnswer(answer: Answer, table: TableIdentifier): LoadTableResult {
  if (answer.status === 200) return decodeLoadTableResult(answer.body)
  const name = identifierText(table.namespace, table.name)
  if (answer.status === 404) throw new NoSuchTableError(`no table ${name}: ${messageOf(answer)}`)
  throw refusal(answer, `use table ${name}`)
}

function refusal(answer: Answer, what: string): CatalogRefusedError {
  const text = `cannot ${what}: the catalog answered ${answer.status}: ${messageOf(answer)}`
  return new CatalogRefusedError(answer.status, text)
}

/** The message of the error envelope, or the beginning of whatever the answer is. */
function messageOf({ body }: Answer): string {
  let json: JsonValue = null
  try {
    json = parseJson(body)
  } catch {
    // A gateway's page; its text is all there is.
  }
  return decodeError(json)?.message ?? body.slice(0, 200)
}
