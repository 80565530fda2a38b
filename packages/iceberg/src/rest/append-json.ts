import { int, list, object, optional, refuse, stringMap, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { isJsonArray } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { MAIN_BRANCH } from '../spec/snapshot.ts'

/** Files of one request. */
export const APPEND_FILES_MAX = 10_000
const BATCH_ID_BYTES_MAX = 256
const SUMMARY_MEMBERS_MAX = 32
const SUMMARY_BYTES_MAX = 8_192

/** A file that the server finds out everything about itself. */
export interface NamedFile {
  readonly location: string
  /** Its partition values in the form of the single values of JSON; absent where the file's own bounds tell. */
  readonly partition?: JsonValue
}

/** One call of the append route of Timelake's own protocol. */
export interface AppendRequest {
  readonly batchId: string
  readonly branch: string
  /** Of all the files; the table's default spec without it. */
  readonly specId?: number
  /** Descriptions of data files, see decodeNewDataFile: they need the table. */
  readonly described: readonly JsonValue[]
  readonly named: readonly NamedFile[]
  readonly summary: Readonly<Record<string, string>>
}

/**
 * Reads an append: a batch id, a branch, descriptions of data files (`data-files`) or locations of Parquet files (`paths`), or
 * both, and members for the snapshot summary. Throws InvalidInputError naming the member; members that it does not know
 * are passed over.
 */
export function decodeAppendRequest(json: JsonValue): AppendRequest {
  const raw = object(json, 'request')
  const described = optional(raw['data-files'], 'data-files', rawItems) ?? []
  const named =
    optional(raw['paths'], 'paths', (value, path) => list(value, path, decodeNamedFile)) ?? []
  checkFileCount(described.length + named.length)
  const specId = optional(raw['spec-id'], 'spec-id', int)
  return {
    batchId: decodeBatchId(raw['batch-id'], 'batch-id'),
    branch: optional(raw['branch'], 'branch', text) ?? MAIN_BRANCH,
    ...(specId === undefined ? {} : { specId }),
    described,
    named,
    summary: optional(raw['summary'], 'summary', decodeSummary) ?? {},
  }
}

function rawItems(json: JsonValue | undefined, path: string): JsonValue[] {
  return list(json, path, (item) => item ?? null)
}

function decodeNamedFile(json: JsonValue | undefined, path: string): NamedFile {
  if (typeof json === 'string') return { location: json }
  const raw = object(json, path)
  const { partition } = raw
  const location = text(raw['file-path'], `${path}.file-path`)
  if (partition === undefined || partition === null) return { location }
  return isJsonArray(partition)
    ? { location, partition }
    : refuse('list', partition, `${path}.partition`)
}

function checkFileCount(count: number): void {
  if (count === 0) {
    throw new InvalidInputError('expected at least one file in data-files or paths, got none')
  }
  if (count > APPEND_FILES_MAX) {
    throw new InvalidInputError(`expected at most ${APPEND_FILES_MAX} files, got ${count}`)
  }
}

/** An id of a batch: any text of one line, up to 256 bytes. Throws InvalidInputError. */
export function decodeBatchId(json: JsonValue | undefined, path: string): string {
  const id = text(json, path)
  const sizeBytes = Buffer.byteLength(id)
  if (sizeBytes === 0 || sizeBytes > BATCH_ID_BYTES_MAX) {
    throw new InvalidInputError(`expected 1 to ${BATCH_ID_BYTES_MAX} bytes, got ${sizeBytes}`, path)
  }
  if (/[\u0000-\u001f\u007f]/.test(id) || /\p{Surrogate}/u.test(id)) {
    throw new InvalidInputError('expected well-formed text without control characters', path)
  }
  return id
}

// What the server computes, and what would make other programs take the snapshot for something else.
const RESERVED_MEMBERS = new Set([
  'operation',
  'changed-partition-count',
  'entries-processed',
  'published-wap-id',
  'source-snapshot-id',
  'wap.id',
])
const RESERVED_PREFIXES = ['added-', 'deleted-', 'removed-', 'total-', 'manifests-', 'timelake.']

function decodeSummary(json: JsonValue | undefined, path: string): Record<string, string> {
  const summary = stringMap(json, path)
  const names = Object.keys(summary)
  for (const name of names) {
    const isReserved =
      RESERVED_MEMBERS.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix))
    if (isReserved) throw new InvalidInputError('it is reserved', `${path}.${name}`)
  }
  const sizeBytes = Buffer.byteLength(Object.entries(summary).flat().join(''))
  if (names.length <= SUMMARY_MEMBERS_MAX && sizeBytes <= SUMMARY_BYTES_MAX) return summary
  throw new InvalidInputError(
    `expected at most ${SUMMARY_MEMBERS_MAX} members of ${SUMMARY_BYTES_MAX} bytes together, ` +
      `got ${names.length} of ${sizeBytes}`,
    path,
  )
}

/** The answer to an append. */
export interface AppendResult {
  /** `landed-before`: the batch was in the table; nothing was added. */
  readonly outcome: 'added' | 'landed-before'
  readonly batchId: string
  /** The snapshot that brought the batch in; it may be expired by now. */
  readonly snapshotId: bigint
  /** Absent when the snapshot is not in the table any more. */
  readonly sequenceNumber?: bigint
  /** Of the table as it is now. */
  readonly metadataLocation: string
  /** Of `landed-before`: whether the batch landed with the same files. Otherwise the files of this request are nobody's. */
  readonly isSameFiles?: boolean
}

/** The JSON form of an answer. */
export function encodeAppendResult(result: AppendResult): JsonObject {
  return {
    outcome: result.outcome,
    'batch-id': result.batchId,
    'snapshot-id': result.snapshotId,
    'sequence-number': result.sequenceNumber,
    'metadata-location': result.metadataLocation,
    'same-files': result.isSameFiles,
  }
}
