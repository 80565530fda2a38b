import { applyCommit } from '@timelake/iceberg/commit/apply-commit'
import { createsTable } from '@timelake/iceberg/commit/check-requirements'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import { decodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { decodeCreateTableRequest } from '@timelake/iceberg/rest/create-table-json'
import { CommitFailedError, InvalidInputError } from '@timelake/iceberg/spec/errors'
import { JsonSyntaxError, parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import {
  decodeTableMetadata,
  encodeTableMetadata,
} from '@timelake/iceberg/spec/table-metadata-json'
import { FORMAT_VERSION_MAX, type TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { ROOT, TABLE_UUID } from './generate-updates.ts'

/** The message of an answer that began well and is no JSON. */
export const BROKEN_OFF = 'answer broken off'

/** What one side said: the metadata when it accepted, else its message. */
export interface Answer {
  readonly status: number
  readonly metadata?: JsonObject
  readonly message: string
}

/** One side of the comparison, for one table. Requests hold ROOT and TABLE_UUID in the place of its own. */
export interface Contestant {
  create(request: JsonObject): Promise<Answer>
  commit(request: JsonObject): Promise<Answer>
  /** Takes over the other side's metadata; false where that is impossible. */
  adopt(metadata: JsonObject): boolean
}

/** The pure functions, without a server. */
export function inProcessContestant(tableUuid: string): Contestant {
  let metadata: TableMetadata | undefined
  const answer = (apply: () => TableMetadata): Answer => {
    try {
      metadata = apply()
      return {
        status: 200,
        metadata: parseJson(encodeTableMetadata(metadata)) as JsonObject,
        message: '',
      }
    } catch (error) {
      return {
        status: statusOf(error),
        message: error instanceof Error ? error.message : String(error),
      }
    }
  }
  const decoded = (request: JsonObject) =>
    parseJson(printJson(request).replaceAll(TABLE_UUID, tableUuid))
  return {
    create: async (request) =>
      answer(() =>
        newTableMetadata(decodeCreateTableRequest(decoded(request)), {
          tableUuid,
          location: ROOT,
          nowMs: Date.now(),
        }),
      ),
    commit: async (request) =>
      answer(() => {
        const commit = decodeCommitRequest(decoded(request))
        if (metadata === undefined && !createsTable(commit)) throw new Error('no such table')
        return applyCommit(metadata, commit, {
          nowMs: Date.now(),
          baseMetadataLocation: `${ROOT}/metadata/previous.metadata.json`,
        })
      }),
    adopt: (other) => {
      if (Number(other['format-version']) > FORMAT_VERSION_MAX) return false
      metadata = { ...decodeTableMetadata(printJson(other)), tableUuid }
      return true
    },
  }
}

/** A table of a catalog behind HTTP. `locationRoot`: the location that is asked for; the catalog's own without it. */
export function httpContestant(target: HttpTarget): Contestant {
  const { tablesUri, name } = target
  let root = target.locationRoot
  let uuid = '00000000-0000-4000-8000-00000000abcd'
  const send = async (uri: string, request: JsonObject): Promise<Answer> => {
    const sent = printJson(request)
      .replaceAll(TABLE_UUID, uuid)
      .replaceAll(ROOT, root ?? ROOT)
    const body = root === undefined ? sent.replace(`"location":"${ROOT}",`, '') : sent
    const answer = await post(uri, body)
    if (answer.metadata === undefined) return answer
    uuid = String(answer.metadata['table-uuid'])
    root ??= String(answer.metadata['location'])
    return {
      ...answer,
      metadata: parseJson(printJson(answer.metadata).replaceAll(root, ROOT)) as JsonObject,
    }
  }
  return {
    create: (request) => send(tablesUri, request),
    commit: (request) => send(`${tablesUri}/${name}`, request),
    adopt: () => false,
  }
}

export interface HttpTarget {
  /** `…/namespaces/<namespace>/tables` */
  readonly tablesUri: string
  readonly name: string
  readonly locationRoot?: string
}

function statusOf(error: unknown): number {
  if (error instanceof CommitFailedError) return 409
  return error instanceof InvalidInputError ? 400 : 500
}

async function post(uri: string, body: string): Promise<Answer> {
  const response = await fetch(uri, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.includes('json') ? parsed(text) : undefined
  if (json === undefined) {
    // The reference breaks off in the middle of an answer that it cannot encode.
    return response.ok
      ? { status: 500, message: BROKEN_OFF }
      : { status: response.status, message: text }
  }
  const error = json['error'] as JsonObject | undefined
  if (error !== undefined) return { status: response.status, message: String(error['message']) }
  return { status: response.status, metadata: json['metadata'] as JsonObject, message: '' }
}

function parsed(text: string): JsonObject | undefined {
  try {
    return parseJson(text) as JsonObject
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}
