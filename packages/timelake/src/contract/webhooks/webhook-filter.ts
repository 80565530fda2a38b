import { list, object, optional, text } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'

/** Which events a webhook gets. An absent list stands for everything; all lists that are there must agree. */
export interface WebhookFilter<Kind extends string> {
  /** Names of warehouses. */
  readonly warehouses: readonly string[] | undefined
  /** With everything below them. */
  readonly namespaces: readonly (readonly string[])[] | undefined
  /** Tables and views. */
  readonly tables: readonly FilteredTable[] | undefined
  readonly kinds: readonly Kind[] | undefined
}

/** By the id of its row or its UUID, whatever its name, or by the name that it has in the event. */
export type FilteredTable =
  { readonly id: string } | { readonly levels: readonly string[]; readonly name: string }

const ITEMS_MAX = 100
const TEXT_CHARACTERS_MAX = 1_000
const LEVELS_MAX = 100
const MEMBERS = ['warehouses', 'namespaces', 'tables', 'kinds']

/** Throws InvalidInputError that names the member. `kinds` are the kinds of event that there are. */
export function decodeWebhookFilter<Kind extends string>(
  value: JsonValue | undefined,
  path: string,
  kinds: readonly Kind[],
): WebhookFilter<Kind> {
  const json = value === undefined || value === null ? {} : object(value, path)
  const unknown = Object.keys(json).find((member) => !MEMBERS.includes(member))
  if (unknown !== undefined) {
    throw new InvalidInputError(`expected the members ${MEMBERS.join(', ')}`, path)
  }
  const at = (member: string) => `${path}.${member}`
  return {
    warehouses: optional(json['warehouses'], at('warehouses'), shortList(shortText)),
    namespaces: optional(json['namespaces'], at('namespaces'), shortList(decodeLevels)),
    tables: optional(json['tables'], at('tables'), shortList(decodeTable)),
    kinds: optional(json['kinds'], at('kinds'), shortList(oneOf(kinds))),
  }
}

/** The JSON that `decodeWebhookFilter` reads; lists that are absent stay away. */
export function webhookFilterJson(filter: WebhookFilter<string>): JsonObject {
  const { warehouses, namespaces, tables, kinds } = filter
  return {
    ...(warehouses === undefined ? {} : { warehouses: [...warehouses] }),
    ...(namespaces === undefined ? {} : { namespaces: namespaces.map((levels) => [...levels]) }),
    ...(tables === undefined ? {} : { tables: tables.map(tableJson) }),
    ...(kinds === undefined ? {} : { kinds: [...kinds] }),
  }
}

type DecodeItem<T> = (value: JsonValue | undefined, path: string) => T

// An empty list would let nothing pass: whoever means that pauses the webhook.
function shortList<T>(decodeItem: DecodeItem<T>): DecodeItem<T[]> {
  return (value, path) => {
    const items = list(value, path, decodeItem)
    if (items.length > 0 && items.length <= ITEMS_MAX) return items
    throw new InvalidInputError(`expected 1 to ${ITEMS_MAX} entries, found ${items.length}`, path)
  }
}

function shortText(value: JsonValue | undefined, path: string): string {
  const found = text(value, path)
  if (found !== '' && found.length <= TEXT_CHARACTERS_MAX) return found
  throw new InvalidInputError(`expected 1 to ${TEXT_CHARACTERS_MAX} characters`, path)
}

function decodeLevels(value: JsonValue | undefined, path: string): string[] {
  const levels = list(value, path, shortText)
  if (levels.length > 0 && levels.length <= LEVELS_MAX) return levels
  throw new InvalidInputError(`expected 1 to ${LEVELS_MAX} levels, found ${levels.length}`, path)
}

function decodeTable(value: JsonValue | undefined, path: string): FilteredTable {
  const json = object(value, path)
  if (json['id'] !== undefined) return { id: shortText(json['id'], `${path}.id`) }
  const levels = decodeLevels(json['namespace'], `${path}.namespace`)
  return { levels, name: shortText(json['name'], `${path}.name`) }
}

function oneOf<Kind extends string>(kinds: readonly Kind[]): DecodeItem<Kind> {
  return (value, path) => {
    const word = text(value, path)
    const kind = kinds.find((known) => known === word)
    if (kind !== undefined) return kind
    throw new InvalidInputError(`expected one of ${kinds.join(', ')}`, path)
  }
}

function tableJson(table: FilteredTable): JsonObject {
  return 'id' in table ? { id: table.id } : { namespace: [...table.levels], name: table.name }
}
