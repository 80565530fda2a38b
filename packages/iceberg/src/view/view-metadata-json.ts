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
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { stripTrailingSlashes } from '../spec/location.ts'
import { decodeSchema, encodeSchema } from '../spec/schema-json.ts'
import { VIEW_FORMAT_VERSION, type ViewHistoryEntry, type ViewMetadata } from './view-metadata.ts'
import { decodeViewVersion, encodeViewVersion } from './view-version-json.ts'

const METADATA_MEMBERS = new Set([
  'view-uuid',
  'format-version',
  'location',
  'properties',
  'schemas',
  'current-version-id',
  'versions',
  'version-log',
])
const HISTORY_MEMBERS = new Set(['timestamp-ms', 'version-id'])

/**
 * Reads the plain (not gzipped) content of a view metadata file. Throws InvalidInputError when it is not UTF-8 or not
 * JSON, and as decodeViewMetadataJson does.
 */
export function decodeViewMetadata(content: string | Uint8Array): ViewMetadata {
  return decodeViewMetadataJson(parseJson(typeof content === 'string' ? content : utf8(content)))
}

/** The content of a view metadata file. Inverse of decodeViewMetadata. */
export function encodeViewMetadata(metadata: ViewMetadata): string {
  return printJson({
    ...metadata.extra,
    'view-uuid': metadata.viewUuid,
    'format-version': BigInt(metadata.formatVersion),
    location: metadata.location,
    properties: metadata.properties,
    schemas: metadata.schemas.map(encodeSchema),
    'current-version-id': BigInt(metadata.currentVersionId),
    versions: metadata.versions.map(encodeViewVersion),
    'version-log': metadata.versionLog.map(encodeHistoryEntry),
  })
}

/**
 * Reads the parsed JSON of a view metadata file; `path` is what errors put before the member. Members that are not
 * known are kept. Throws InvalidInputError naming the member: another format version, a missing or impossible member,
 * a repeated id, a current version that is not listed or whose schema is not. Spec: View spec, View Metadata.
 */
export function decodeViewMetadataJson(json: JsonValue | undefined, path = ''): ViewMetadata {
  const raw = object(json, path === '' ? 'metadata' : path)
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const formatVersion = int(raw['format-version'], at('format-version'))
  if (formatVersion !== VIEW_FORMAT_VERSION) {
    throw new InvalidInputError(
      `cannot read view format version ${formatVersion}: expected ${VIEW_FORMAT_VERSION}`,
      at('format-version'),
    )
  }
  const metadata: Filled<ViewMetadata> = {
    viewUuid: text(raw['view-uuid'], at('view-uuid')),
    formatVersion,
    location: stripTrailingSlashes(text(raw['location'], at('location'))),
    properties: optional(raw['properties'], at('properties'), stringMap) ?? {},
    schemas: list(raw['schemas'], at('schemas'), decodeSchema),
    currentVersionId: int(raw['current-version-id'], at('current-version-id')),
    versions: list(raw['versions'], at('versions'), decodeViewVersion),
    versionLog: list(raw['version-log'], at('version-log'), decodeHistoryEntry),
  }
  const extra = extraMembers(raw, METADATA_MEMBERS)
  if (extra !== undefined) metadata.extra = extra
  checkIds(metadata, at)
  return metadata
}

function checkIds(metadata: ViewMetadata, at: (name: string) => string): void {
  const { schemas, versions, currentVersionId } = metadata
  const schemaIds = distinct(
    schemas.map(({ schemaId }) => schemaId),
    at('schemas'),
  )
  distinct(
    versions.map(({ versionId }) => versionId),
    at('versions'),
  )
  const current = versions.find(({ versionId }) => versionId === currentVersionId)
  if (current === undefined) {
    const text = `${currentVersionId} is not one of the versions`
    throw new InvalidInputError(text, at('current-version-id'))
  }
  if (schemaIds.has(current.schemaId)) return
  throw new InvalidInputError(
    `schema ${current.schemaId} of the current version does not exist`,
    at('schemas'),
  )
}

function distinct(ids: readonly number[], path: string): ReadonlySet<number> {
  const set = new Set(ids)
  if (set.size === ids.length) return set
  throw new InvalidInputError(`an id occurs twice: ${ids.join(', ')}`, path)
}

function decodeHistoryEntry(json: JsonValue | undefined, path: string): ViewHistoryEntry {
  const raw = object(json, path)
  const entry: Filled<ViewHistoryEntry> = {
    timestampMs: timestampMs(raw['timestamp-ms'], `${path}.timestamp-ms`),
    versionId: int(raw['version-id'], `${path}.version-id`),
  }
  const extra = extraMembers(raw, HISTORY_MEMBERS)
  if (extra !== undefined) entry.extra = extra
  return entry
}

function encodeHistoryEntry({ timestampMs: atMs, versionId, extra }: ViewHistoryEntry): JsonObject {
  return { ...extra, 'timestamp-ms': BigInt(atMs), 'version-id': BigInt(versionId) }
}

function utf8(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw new InvalidInputError('view metadata is not UTF-8', undefined, { cause })
  }
}
