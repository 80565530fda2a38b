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

/** The answer to load, create, register and commit. Spec: REST catalog, LoadTableResult. */
export interface LoadTableResult {
  /** Absent for staged creates only. */
  readonly metadataLocation?: string
  readonly metadata: TableMetadata
  readonly config: Readonly<Record<string, string>>
  readonly storageCredentials: readonly StorageCredential[]
}

/** The parts of an answer around metadata that is already text. */
export interface LoadTableResultParts {
  readonly metadataLocation: string | undefined
  readonly metadataText: string
  readonly config: Readonly<Record<string, string>>
  readonly storageCredentials?: readonly StorageCredential[]
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
  const credentials = parts.storageCredentials ?? []
  const members = [
    `"metadata-location":${printJson(parts.metadataLocation ?? null)}`,
    `"metadata":${parts.metadataText}`,
    `"config":${printJson(parts.config)}`,
  ]
  if (credentials.length > 0)
    members.push(`"storage-credentials":${printJson(credentials.map(encodeCredential))}`)
  return `{${members.join(',')}}`
}

function encodeCredential({ prefix, config }: StorageCredential): JsonValue {
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
