import { int, list, object, optional, text } from '@timelake/iceberg/spec/decode'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'

const PROPERTY = 'schema.name-mapping.default'

/**
 * The ids of top-level columns by the names that files without field ids give them, as the table's properties say; undefined
 * when they do not. Throws InvalidInputError for a property that is no name mapping. Spec: Column Projection, Name Mapping.
 */
export function readNameMapping(
  properties: Readonly<Record<string, string>>,
): ReadonlyMap<string, number> | undefined {
  const mapping = properties[PROPERTY]
  if (mapping === undefined) return undefined
  return new Map(list(parseJson(mapping), PROPERTY, namesOfField).flat())
}

function namesOfField(json: JsonValue | undefined, path: string): [string, number][] {
  const raw = object(json, path)
  const id = optional(raw['field-id'], `${path}.field-id`, int)
  if (id === undefined) return []
  return list(raw['names'], `${path}.names`, text).map((name) => [name, id])
}
