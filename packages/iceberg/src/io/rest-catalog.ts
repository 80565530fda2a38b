import type { CommitRequest } from '../commit/table-update.ts'
import { encodeCommitRequest } from '../rest/commit-json.ts'
import { decodeLoadTableResult, type LoadTableResult } from '../rest/load-table-json.ts'
import { identifierText, type TableIdentifier } from '../rest/table-identifier.ts'
import { CommitFailedError, InvalidInputError } from '../spec/errors.ts'
import { printJson } from '../spec/json.ts'
import {
  connectCatalog,
  messageOf,
  namespaceSegment,
  refusal,
  type Answer,
  type CatalogConnection,
  type ConnectionOptions,
} from './rest-catalog-connection.ts'
import { CommitStateUnknownError, NoSuchTableError } from './rest-catalog-errors.ts'

/** What `fetch` does; a catalog in the same process offers the same without a socket. */
export type SendRequest = ConnectionOptions['send']

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
export function createRestCatalog(options: ConnectionOptions): RestCatalog {
  const connection = connectCatalog(options)
  return {
    async loadTable(table, signal) {
      const request = await connection.request(await tablePath(connection, table), { signal })
      return decodeAnswer(await connection.read(request), table)
    },
    async commitTable(table, commit, { idempotencyKey, signal }) {
      const request = await connection.request(await tablePath(connection, table), {
        method: 'POST',
        headers: { 'idempotency-key': idempotencyKey },
        body: printJson(encodeCommitRequest(commit)),
        signal,
      })
      return decodeCommitAnswer(await commitAnswer(options, request), table)
    },
  }
}

async function tablePath(connection: CatalogConnection, table: TableIdentifier): Promise<string> {
  const namespace = namespaceSegment(table.namespace, await connection.routes())
  return `namespaces/${namespace}/tables/${encodeURIComponent(table.name)}`
}

/** Any answer that is no doubt; CommitStateUnknownError otherwise. An abort leaves doubt as well. */
async function commitAnswer(options: ConnectionOptions, request: Request): Promise<Answer> {
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
