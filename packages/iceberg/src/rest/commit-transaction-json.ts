import type { CommitRequest } from '../commit/table-update.ts'
import { list, object } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeCommitRequest, encodeCommitRequest, type NamedCommitRequest } from './commit-json.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One member of `table-changes`. */
export interface TableChange {
  readonly identifier: TableIdentifier
  readonly request: CommitRequest
  /** As it was sent. */
  readonly json: JsonObject
}

/** How many changes one transaction may have: each is a metadata file and a locked row. */
export const TABLE_CHANGES_MAX = 256

/**
 * Reads the changes of a transaction in their order. A table may have several. Throws InvalidInputError naming the member,
 * also when there are no changes, more than TABLE_CHANGES_MAX, or one without its table's name.
 * Spec: CommitTransactionRequest.
 */
export function decodeCommitTransactionRequest(json: JsonValue): TableChange[] {
  const raw = object(json, 'request')
  const changes = list(raw['table-changes'], 'table-changes', decodeTableChange)
  if (changes.length === 0 || changes.length > TABLE_CHANGES_MAX) {
    const text = `expected 1 to ${TABLE_CHANGES_MAX} changes, got ${changes.length}`
    throw new InvalidInputError(text, 'table-changes')
  }
  return changes
}

/** The JSON form of a transaction. Inverse of decodeCommitTransactionRequest. */
export function encodeCommitTransactionRequest(
  changes: readonly (NamedCommitRequest & { readonly identifier: TableIdentifier })[],
): JsonObject {
  return { 'table-changes': changes.map(encodeCommitRequest) }
}

function decodeTableChange(value: JsonValue | undefined, path: string): TableChange {
  const json = object(value, path)
  const { identifier, ...request } = decodeCommitRequest(json, path)
  if (identifier === undefined) {
    throw new InvalidInputError('expected the table to change', `${path}.identifier`)
  }
  return { identifier, request, json }
}
