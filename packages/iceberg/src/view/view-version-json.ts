import {
  extraMembers,
  int,
  list,
  object,
  optional,
  stringMap,
  text,
  timestampMs,
} from '../spec/decode.ts'
import type { Filled } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { SqlRepresentation, ViewRepresentation, ViewVersion } from './view-metadata.ts'

const VERSION_MEMBERS = new Set([
  'version-id',
  'schema-id',
  'timestamp-ms',
  'summary',
  'representations',
  'default-catalog',
  'default-namespace',
])
const SQL_MEMBERS = new Set(['type', 'sql', 'dialect'])
const TYPE_MEMBER = new Set(['type'])

/**
 * Reads a version of a view. Unknown members and representations of unknown types are kept. Throws InvalidInputError
 * naming the member; the rules among versions are not checked here. Spec: View spec, Versions.
 */
export function decodeViewVersion(json: JsonValue | undefined, path: string): ViewVersion {
  const raw = object(json, path)
  const at = (name: string): string => `${path}.${name}`
  const version: Filled<ViewVersion> = {
    versionId: int(raw['version-id'], at('version-id')),
    schemaId: int(raw['schema-id'], at('schema-id')),
    timestampMs: timestampMs(raw['timestamp-ms'], at('timestamp-ms')),
    summary: stringMap(raw['summary'], at('summary')),
    representations: list(raw['representations'], at('representations'), decodeRepresentation),
    defaultNamespace: list(raw['default-namespace'], at('default-namespace'), text),
  }
  const defaultCatalog = optional(raw['default-catalog'], at('default-catalog'), text)
  if (defaultCatalog !== undefined) version.defaultCatalog = defaultCatalog
  const extra = extraMembers(raw, VERSION_MEMBERS)
  if (extra !== undefined) version.extra = extra
  return version
}

/** The JSON form of a version. Inverse of decodeViewVersion. */
export function encodeViewVersion(version: ViewVersion): JsonObject {
  return {
    ...version.extra,
    'version-id': BigInt(version.versionId),
    'timestamp-ms': BigInt(version.timestampMs),
    'schema-id': BigInt(version.schemaId),
    summary: version.summary,
    'default-catalog': version.defaultCatalog,
    'default-namespace': version.defaultNamespace,
    representations: version.representations.map(encodeRepresentation),
  }
}

function decodeRepresentation(json: JsonValue | undefined, path: string): ViewRepresentation {
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`)
  if (type.toLowerCase() !== 'sql') {
    return { kind: 'other', type, members: extraMembers(raw, TYPE_MEMBER) ?? {} }
  }
  const sql: Filled<SqlRepresentation> = {
    kind: 'sql',
    sql: text(raw['sql'], `${path}.sql`),
    dialect: text(raw['dialect'], `${path}.dialect`),
  }
  const extra = extraMembers(raw, SQL_MEMBERS)
  if (extra !== undefined) sql.extra = extra
  return sql
}

function encodeRepresentation(representation: ViewRepresentation): JsonObject {
  switch (representation.kind) {
    case 'sql': {
      const { sql, dialect, extra } = representation
      return { ...extra, type: 'sql', sql, dialect }
    }
    case 'other':
      return { ...representation.members, type: representation.type }
  }
}
