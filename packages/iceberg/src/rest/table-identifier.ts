import { list, object, text } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { checkName, checkNamespace } from './name-rules.ts'

/** The full name of a table. Spec: REST catalog, TableIdentifier. */
export interface TableIdentifier {
  readonly namespace: readonly string[]
  readonly name: string
}

/** Reads a table's full name. Throws InvalidInputError naming the member when it breaks the name rules. */
export function decodeTableIdentifier(json: JsonValue | undefined, path: string): TableIdentifier {
  const raw = object(json, path)
  const namespace = decodeNamespace(raw['namespace'], `${path}.namespace`)
  const name = text(raw['name'], `${path}.name`)
  checkName(name, `${path}.name`)
  return { namespace, name }
}

/** The JSON form of a table's full name. */
export function encodeTableIdentifier(identifier: TableIdentifier): JsonObject {
  return { namespace: identifier.namespace, name: identifier.name }
}

/** Reads the levels of a namespace. Throws InvalidInputError when they break the name rules. */
export function decodeNamespace(json: JsonValue | undefined, path: string): string[] {
  const levels = list(json, path, text)
  checkNamespace(levels, path)
  return levels
}

/** A table's name for people and messages, joined with dots: `ns.t`. Ambiguous when a part holds a dot. */
export function identifierText(levels: readonly string[], name: string): string {
  return [...levels, name].join('.')
}

/** A namespace for people and messages, joined with dots: `a.b`. */
export function namespaceText(levels: readonly string[]): string {
  return levels.join('.')
}
