import { decodeTableMetadataJson } from '../spec/decode-table-metadata.ts'
import { list, object, optional, stringMap, text } from '../spec/decode.ts'
import type { Filled } from '../spec/decode.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonValue } from '../spec/json-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'

/** Credentials for the locations below a prefix. Spec: REST catalog, StorageCredential. */
export interface StorageCredential {
  readonly prefix: string
  readonly config: Readonly<Record<string, string>>
}

/** What clients that have requests signed by the catalog send along. Spec: REST catalog, RemoteSigningConfig. */
export interface RemoteSigningConfig {
  /** For the body of every request to sign. */
  readonly properties: Readonly<Record<string, string>>
}

/** The answer to load, create, register and commit. Spec: REST catalog, LoadTableResult. */
export interface LoadTableResult {
  /** Absent for staged creates only. */
  readonly metadataLocation?: string
  readonly metadata: TableMetadata
  readonly config: Readonly<Record<string, string>>
  readonly storageCredentials: readonly StorageCredential[]
}

/** How the caller reaches the table: the parts of an answer that are not the same for everybody. */
export interface LoadTableAccess {
  readonly config: Readonly<Record<string, string>>
  readonly storageCredentials?: readonly StorageCredential[]
  readonly remoteSigningConfig?: RemoteSigningConfig
}

/** The parts of an answer around metadata that is already text. */
export interface LoadTableResultParts extends LoadTableAccess {
  readonly metadataLocation: string | undefined
  readonly metadataText: string
}

/** Reads the answer to load, create, register or commit. Throws InvalidInputError naming the member. */
export function decodeLoadTableResult(body: string): LoadTableResult {
  const raw = object(parseJson(body), 'response')
  const result: Filled<LoadTableResult> = {
    metadata: decodeTableMetadataJson(raw['metadata'], 'metadata'),
    config: optional(raw['config'], 'config', stringMap) ?? {},
    storageCredentials:
      optional(raw['storage-credentials'], 'storage-credentials', decodeCredentials) ?? [],
  }
  const metadataLocation = optional(raw['metadata-location'], 'metadata-location', text)
  if (metadataLocation !== undefined) result.metadataLocation = metadataLocation
  return result
}

/**
 * The text of the answer around the text of the metadata, which is not parsed or copied by members. A missing
 * location is written as null (staged creates).
 */
export function loadTableResultText(parts: LoadTableResultParts): string {
  const { metadataLocation, metadataText } = parts
  return `${loadTableResultHead(metadataLocation)}${metadataText}${loadTableResultTail(parts)}`
}

/** The text of the answer before that of the metadata. */
export function loadTableResultHead(metadataLocation: string | undefined): string {
  return `{"metadata-location":${printJson(metadataLocation ?? null)},"metadata":`
}

/** The text of the answer after that of the metadata. */
export function loadTableResultTail(access: LoadTableAccess): string {
  const { config, storageCredentials = [], remoteSigningConfig } = access
  const members = [`"config":${printJson(config)}`]
  if (storageCredentials.length > 0) {
    const credentials = storageCredentials.map(encodeStorageCredential)
    members.push(`"storage-credentials":${printJson(credentials)}`)
  }
  if (remoteSigningConfig !== undefined) {
    const { properties } = remoteSigningConfig
    members.push(`"remote-signing-config":${printJson({ properties })}`)
  }
  return `,${members.join(',')}}`
}

/** The answer to a request for credentials alone. Spec: REST catalog, LoadCredentialsResponse. */
export function encodeLoadCredentialsResult(credentials: readonly StorageCredential[]): JsonValue {
  return { 'storage-credentials': credentials.map(encodeStorageCredential) }
}

/** The JSON of one credential. Spec: REST catalog, StorageCredential. */
/** One of the entries of `storage-credentials`. */
export function encodeStorageCredential({ prefix, config }: StorageCredential): JsonValue {
  return { prefix, config }
}

function decodeCredentials(json: JsonValue | undefined, path: string): StorageCredential[] {
  return list(json, path, (item, itemPath) => {
    const raw = object(item, itemPath)
    return {
      prefix: text(raw['prefix'], `${itemPath}.prefix`),
      config: stringMap(raw['config'], `${itemPath}.config`),
    }
  })
}
