import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import type { Decode, Filled } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeSchema, encodeSchema } from '../spec/schema-json.ts'
import type { Schema } from '../spec/schema.ts'
import { decodeViewVersion, encodeViewVersion } from '../view/view-version-json.ts'
import type { ViewVersion } from '../view/view-metadata.ts'
import type { ViewCommitRequest } from '../view/view-update.ts'
import { checkName } from './name-rules.ts'
import { decodeTableIdentifier, encodeTableIdentifier } from './table-identifier.ts'
import type { TableIdentifier } from './table-identifier.ts'
import { decodeViewRequirement, decodeViewUpdate, encodeViewUpdate } from './view-update-json.ts'

/** Spec: REST catalog, CreateViewRequest. */
export interface CreateViewRequest {
  readonly name: string
  readonly location?: string
  readonly schema: Schema
  readonly viewVersion: ViewVersion
  readonly properties: Readonly<Record<string, string>>
}

/** Spec: REST catalog, RegisterViewRequest. */
export interface RegisterViewRequest {
  readonly name: string
  readonly metadataLocation: string
}

/** A commit as it arrives: the identifier repeats the path of the request, or is missing. */
export type NamedViewCommitRequest = ViewCommitRequest & { readonly identifier?: TableIdentifier }

/** Reads a create request. Missing properties are none. Throws InvalidInputError naming the member. */
export function decodeCreateViewRequest(json: JsonValue): CreateViewRequest {
  const raw = object(json, 'request')
  const name = text(raw['name'], 'name')
  checkName(name, 'name')
  const request: Filled<CreateViewRequest> = {
    name,
    schema: decodeSchema(raw['schema'], 'schema'),
    viewVersion: decodeViewVersion(raw['view-version'], 'view-version'),
    properties: optional(raw['properties'], 'properties', stringMap) ?? {},
  }
  const location = optional(raw['location'], 'location', text)
  if (location !== undefined) request.location = location
  return request
}

/** The JSON form of a create request. Inverse of decodeCreateViewRequest. */
export function encodeCreateViewRequest(request: CreateViewRequest): JsonObject {
  return {
    name: request.name,
    location: request.location,
    schema: encodeSchema(request.schema),
    'view-version': encodeViewVersion(request.viewVersion),
    properties: request.properties,
  }
}

/**
 * Reads a commit. Missing or null `requirements` and `updates` are empty lists. Throws InvalidInputError naming the
 * member, also for an unknown requirement or update: then nothing may be applied. Spec: CommitViewRequest.
 */
export function decodeCommitViewRequest(json: JsonValue): NamedViewCommitRequest {
  const raw = object(json, 'request')
  const identifier = optional(raw['identifier'], 'identifier', decodeTableIdentifier)
  const request = {
    requirements:
      optional(raw['requirements'], 'requirements', listOf(decodeViewRequirement)) ?? [],
    updates: optional(raw['updates'], 'updates', listOf(decodeViewUpdate)) ?? [],
  }
  return identifier === undefined ? request : { ...request, identifier }
}

/** The JSON form of a commit. Inverse of decodeCommitViewRequest. */
export function encodeCommitViewRequest(request: NamedViewCommitRequest): JsonObject {
  const { identifier, requirements, updates } = request
  return {
    identifier: identifier === undefined ? undefined : encodeTableIdentifier(identifier),
    requirements: requirements.map(({ type, uuid }) => ({ type, uuid })),
    updates: updates.map(encodeViewUpdate),
  }
}

/** Reads a register request. Throws InvalidInputError naming the member. */
export function decodeRegisterViewRequest(json: JsonValue): RegisterViewRequest {
  const raw = object(json, 'request')
  const name = text(raw['name'], 'name')
  checkName(name, 'name')
  return { name, metadataLocation: text(raw['metadata-location'], 'metadata-location') }
}

/** The JSON form of a register request. */
export function encodeRegisterViewRequest(request: RegisterViewRequest): JsonObject {
  return { name: request.name, 'metadata-location': request.metadataLocation }
}

function listOf<T>(decodeItem: Decode<T>): Decode<T[]> {
  return (value, path) => list(value, path, decodeItem)
}
