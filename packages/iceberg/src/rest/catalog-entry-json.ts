import { int, list, long, object, optional, stringMap, text, timestampMs } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'

interface EntryPointer {
  readonly uuid: string
  readonly metadataLocation: string
  readonly location: string
  readonly lastUpdatedMs: number
}

/** What a catalog keeps of a table, and what its metadata says of earlier files. */
export interface TableEntry extends EntryPointer {
  readonly kind: 'table'
  readonly earlierLocations: readonly string[]
}

/** What a catalog keeps of a view, and enough of its metadata to make it again. */
export interface ViewEntry extends EntryPointer {
  readonly kind: 'view'
  /** A request of createView without name and location: current version, its schema and properties. */
  readonly recipe: JsonObject
  /** JSON text that is equal for views that mean the same: queries, where they look for names, and columns. */
  readonly meaning: string
}

export type CatalogEntry = TableEntry | ViewEntry

/**
 * The pointer in an answer to load a table or view. Reads only what it needs of the metadata, so a table that breaks
 * the format elsewhere still has a pointer. Throws InvalidInputError naming the member.
 */
export function decodeCatalogEntry(kind: CatalogEntry['kind'], body: string): CatalogEntry {
  const raw = object(parseJson(body), 'response')
  const metadataLocation = text(raw['metadata-location'], 'metadata-location')
  const metadata = object(raw['metadata'], 'metadata')
  return kind === 'table'
    ? decodeTableEntry(metadata, metadataLocation)
    : decodeViewEntry(metadata, metadataLocation)
}

function decodeTableEntry(raw: JsonObject, metadataLocation: string): TableEntry {
  return {
    kind: 'table',
    uuid: text(raw['table-uuid'], 'metadata.table-uuid'),
    metadataLocation,
    location: text(raw['location'], 'metadata.location'),
    lastUpdatedMs: timestampMs(raw['last-updated-ms'], 'metadata.last-updated-ms'),
    earlierLocations: optional(raw['metadata-log'], 'metadata.metadata-log', decodeLog) ?? [],
  }
}

function decodeLog(json: JsonValue | undefined, path: string): string[] {
  return list(json, path, (item, itemPath) =>
    text(object(item, itemPath)['metadata-file'], `${itemPath}.metadata-file`),
  )
}

function decodeViewEntry(raw: JsonObject, metadataLocation: string): ViewEntry {
  const id = int(raw['current-version-id'], 'metadata.current-version-id')
  const version = pick(raw['versions'], 'metadata.versions', { member: 'version-id', id })
  const schemaId = int(version['schema-id'], 'metadata.versions.schema-id')
  const schema = pick(raw['schemas'], 'metadata.schemas', { member: 'schema-id', id: schemaId })
  return {
    kind: 'view',
    uuid: text(raw['view-uuid'], 'metadata.view-uuid'),
    metadataLocation,
    location: text(raw['location'], 'metadata.location'),
    lastUpdatedMs: timestampMs(version['timestamp-ms'], 'metadata.versions.timestamp-ms'),
    recipe: {
      schema,
      'view-version': version,
      properties: optional(raw['properties'], 'metadata.properties', stringMap) ?? {},
    },
    meaning: meaningOf(version, schema),
  }
}

function pick(
  json: JsonValue | undefined,
  path: string,
  { member, id }: { readonly member: string; readonly id: number },
): JsonObject {
  const items = list(json, path, object)
  const found = items.find((item) => long(item[member], `${path}.${member}`) === BigInt(id))
  if (found === undefined) throw new InvalidInputError(`expected one with ${member} ${id}`, path)
  return found
}

function meaningOf(version: JsonObject, schema: JsonObject): string {
  const representations = list(version['representations'], 'representations', object)
  return printJson([
    representations.map(({ type, sql, dialect }) => [type ?? null, dialect ?? null, sql ?? null]),
    version['default-catalog'] ?? null,
    version['default-namespace'] ?? null,
    list(schema['fields'], 'fields', object).map(({ name, type }) => [name ?? null, type ?? null]),
  ])
}
