import type { CommitRequest } from '../commit/table-update.ts'
import { list, object, optional } from '../spec/decode.ts'
import type { Decode } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeTableIdentifier, encodeTableIdentifier } from './table-identifier.ts'
import type { TableIdentifier } from './table-identifier.ts'
import { decodeTableRequirement, encodeTableRequirement } from './table-requirement-json.ts'
import { decodeTableUpdate, encodeTableUpdate } from './table-update-json.ts'

/** A commit as it arrives: the identifier repeats the path of the request, or is missing. */
export type NamedCommitRequest = CommitRequest & { readonly identifier?: TableIdentifier }

/**
 * Reads a commit. Missing or null `requirements` and `updates` are empty lists. Throws InvalidInputError naming the
 * member, also for an unknown requirement or update: then nothing may be applied. Spec: CommitTableRequest.
 */
export function decodeCommitRequest(json: JsonValue, path = ''): NamedCommitRequest {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const raw = object(json, path === '' ? 'request' : path)
  const identifier = optional(raw['identifier'], at('identifier'), decodeTableIdentifier)
  const request = {
    requirements:
      optional(raw['requirements'], at('requirements'), listOf(decodeTableRequirement)) ?? [],
    updates: optional(raw['updates'], at('updates'), listOf(decodeTableUpdate)) ?? [],
  }
  return identifier === undefined ? request : { ...request, identifier }
}

/** The JSON form of a commit. Inverse of decodeCommitRequest. */
export function encodeCommitRequest(request: NamedCommitRequest): JsonObject {
  return {
    identifier:
      request.identifier === undefined ? undefined : encodeTableIdentifier(request.identifier),
    requirements: request.requirements.map(encodeTableRequirement),
    updates: request.updates.map(encodeTableUpdate),
  }
}

function listOf<T>(decodeItem: Decode<T>): Decode<T[]> {
  return (value, path) => list(value, path, decodeItem)
}
