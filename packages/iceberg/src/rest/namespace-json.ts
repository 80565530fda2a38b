import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { checkStorableText } from './name-rules.ts'
import { decodeNamespace } from './table-identifier.ts'

/** Spec: REST catalog, CreateNamespaceRequest, and the body that create and load answer with. */
export interface NamespaceDescription {
  readonly namespace: readonly string[]
  readonly properties: Readonly<Record<string, string>>
}

/** Spec: REST catalog, UpdateNamespacePropertiesRequest. A key may still be in both; that is the catalog's 422. */
export interface NamespacePropertyChanges {
  readonly removals: readonly string[]
  readonly updates: Readonly<Record<string, string>>
}

/** Spec: REST catalog, UpdateNamespacePropertiesResponse. */
export interface NamespacePropertyOutcome {
  readonly updated: readonly string[]
  readonly removed: readonly string[]
  /** Keys that were to be removed and did not exist. */
  readonly missing: readonly string[]
}

/** Reads a create request or the answer to create and load. Throws InvalidInputError naming the member. */
export function decodeNamespaceDescription(json: JsonValue): NamespaceDescription {
  const raw = object(json, 'request')
  return {
    namespace: decodeNamespace(raw['namespace'], 'namespace'),
    properties: optional(raw['properties'], 'properties', storableMap) ?? {},
  }
}

/** The JSON form of a namespace with its properties. */
export function encodeNamespaceDescription(description: NamespaceDescription): JsonObject {
  return { namespace: description.namespace, properties: description.properties }
}

/** Reads a request to change properties; missing members are empty. Throws InvalidInputError naming the member. */
export function decodeNamespacePropertyChanges(json: JsonValue): NamespacePropertyChanges {
  const raw = object(json, 'request')
  return {
    removals: optional(raw['removals'], 'removals', decodeTexts) ?? [],
    updates: optional(raw['updates'], 'updates', storableMap) ?? {},
  }
}

/** The JSON form of a request to change properties. */
export function encodeNamespacePropertyChanges(changes: NamespacePropertyChanges): JsonObject {
  return { removals: changes.removals, updates: changes.updates }
}

/** Reads the answer to a change of properties. */
export function decodeNamespacePropertyOutcome(json: JsonValue): NamespacePropertyOutcome {
  const raw = object(json, 'response')
  return {
    updated: decodeTexts(raw['updated'], 'updated'),
    removed: decodeTexts(raw['removed'], 'removed'),
    missing: optional(raw['missing'], 'missing', decodeTexts) ?? [],
  }
}

/** The answer to a change of properties; `missing` is always a list because some clients refuse null. */
export function encodeNamespacePropertyOutcome(outcome: NamespacePropertyOutcome): JsonObject {
  return { updated: outcome.updated, removed: outcome.removed, missing: outcome.missing }
}

function storableMap(json: JsonValue | undefined, path: string): Record<string, string> {
  const map = stringMap(json, path)
  for (const [key, value] of Object.entries(map)) {
    checkStorableText(key, path)
    checkStorableText(value, `${path}.${key}`)
  }
  return map
}

function decodeTexts(json: JsonValue | undefined, path: string): string[] {
  const texts = list(json, path, text)
  texts.forEach((item, index) => checkStorableText(item, `${path}[${index}]`))
  return texts
}
