import { decodeTableMetadataJson } from './decode-table-metadata.ts'
import { encodeEncryptedKey } from './encrypted-key-json.ts'
import { InvalidInputError } from './errors.ts'
import {
  metadataLogTexts,
  snapshotLogTexts,
  snapshotTexts,
  snapshotTextsV1,
} from './history-texts.ts'
import { invariant } from './invariant.ts'
import { parseJson, printJson, printMembers } from './json.ts'
import { encodePartitionFields, encodePartitionSpec } from './partition-spec-json.ts'
import type { PartitionSpec } from './partition-spec.ts'
import { RememberedTexts } from './remembered-texts.ts'
import { encodeSchema } from './schema-json.ts'
import type { Schema } from './schema.ts'
import { shareHistory } from './shared-history.ts'
import { encodeSnapshotRef, NO_SNAPSHOT_ID } from './snapshot-json.ts'
import { encodeSortOrder } from './sort-order-json.ts'
import type { SortOrder } from './sort-order.ts'
import { encodePartitionStatisticsFile, encodeStatisticsFile } from './statistics-json.ts'
import { TextPieces } from './text-pieces.ts'
import type {
  EncryptedKey,
  PartitionStatisticsFile,
  StatisticsFile,
  TableMetadata,
} from './table-metadata.ts'

/**
 * Reads the plain (not gzipped) content of a metadata file, v1 to v3. With an earlier version of the table at hand, what both
 * have in common becomes the same values and is not read again. Throws InvalidInputError when it is not
 * UTF-8 or not JSON, and as decodeTableMetadataJson does.
 */
export function decodeTableMetadata(
  content: string | Uint8Array,
  known?: TableMetadata,
): TableMetadata {
  const text = typeof content === 'string' ? content : utf8(content)
  return decodeSharing(text, known) ?? decodeTableMetadataJson(parseJson(text))
}

/** Undefined when nothing is shared, or something is wrong, which the whole text tells better. */
function decodeSharing(text: string, known: TableMetadata | undefined): TableMetadata | undefined {
  const reduced = known && shareHistory(text, known)
  if (reduced === undefined) return undefined
  try {
    return decodeTableMetadataJson(parseJson(reduced.text), '', reduced)
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined
    throw error
  }
}

/** The content of a metadata file. Inverse of decodeTableMetadata. */
export function encodeTableMetadata(metadata: TableMetadata): string {
  const decoder = new TextDecoder()
  const pieces = encodeTableMetadataPieces(metadata, 'all')
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('')
}

/**
 * The JSON of metadata as clients load it, in UTF-8, in pieces that follow each other: `all`, or `refs`, which leaves out the
 * snapshots that no branch or tag points at, and the statistics of those; everything else is complete. What immutable parts
 * are in it is remembered with them, and long runs of them are pieces that versions of one table share, so that the next
 * version costs only what changed. Nobody may change a piece.
 */
export function encodeTableMetadataPieces(
  metadata: TableMetadata,
  view: 'all' | 'refs',
): readonly Uint8Array[] {
  const shown = view === 'all' ? metadata : withReferencedSnapshots(metadata)
  const pieces = new TextPieces()
  let separator = '{'
  for (const [name, value] of members(shown)) {
    if (value === undefined) continue
    pieces.addText(`${separator}"${name}":`)
    if (typeof value === 'string') pieces.addText(value)
    else value(pieces)
    separator = ','
  }
  const extra = printMembers(shown.extra ?? {})
  if (extra !== '') pieces.addText(`,${extra}`)
  pieces.addText('}')
  return pieces.finish()
}

/** The metadata with only the snapshots that a ref points at, and their statistics. */
function withReferencedSnapshots(metadata: TableMetadata): TableMetadata {
  const shown = new Set(Object.values(metadata.refs).map((ref) => ref.snapshotId))
  const snapshots = metadata.snapshots.filter(({ snapshotId }) => shown.has(snapshotId))
  if (metadata.statistics.length + metadata.partitionStatistics.length === 0)
    return { ...metadata, snapshots }
  const existing = new Set(metadata.snapshots.map(({ snapshotId }) => snapshotId))
  const isShown = ({ snapshotId }: { readonly snapshotId: bigint }): boolean =>
    shown.has(snapshotId) || !existing.has(snapshotId)
  return {
    ...metadata,
    snapshots,
    statistics: metadata.statistics.filter(isShown),
    partitionStatistics: metadata.partitionStatistics.filter(isShown),
  }
}

/** The text of a member, or what adds its list; nothing when it is not written. */
type Member = readonly [name: string, value: string | ((pieces: TextPieces) => void) | undefined]

function members(metadata: TableMetadata): Member[] {
  const isV1 = metadata.formatVersion === 1
  const isV3 = metadata.formatVersion >= 3
  return [
    ['format-version', String(metadata.formatVersion)],
    ['table-uuid', JSON.stringify(metadata.tableUuid)],
    ['location', JSON.stringify(metadata.location)],
    ['last-sequence-number', isV1 ? undefined : metadata.lastSequenceNumber.toString()],
    ['last-updated-ms', String(metadata.lastUpdatedMs)],
    ['last-column-id', String(metadata.lastColumnId)],
    ...(isV1 ? deprecatedMembers(metadata) : []),
    ['current-schema-id', String(metadata.currentSchemaId)],
    ['schemas', listOf(schemaTexts, metadata.schemas)],
    ['default-spec-id', String(metadata.defaultSpecId)],
    ['partition-specs', listOf(specTexts, metadata.partitionSpecs)],
    ['last-partition-id', String(metadata.lastPartitionId)],
    ['default-sort-order-id', String(metadata.defaultSortOrderId)],
    ['sort-orders', listOf(orderTexts, metadata.sortOrders)],
    ['properties', JSON.stringify(metadata.properties)],
    ['current-snapshot-id', currentSnapshotText(metadata)],
    ['next-row-id', isV3 ? (metadata.nextRowId ?? 0n).toString() : undefined],
    [
      'encryption-keys',
      metadata.encryptionKeys.length === 0 ? undefined : listOf(keyTexts, metadata.encryptionKeys),
    ],
    ['refs', refsText(metadata)],
    ['snapshots', listOf(isV1 ? snapshotTextsV1 : snapshotTexts, metadata.snapshots)],
    ['statistics', listOf(statisticsTexts, metadata.statistics)],
    ['partition-statistics', listOf(partitionStatisticsTexts, metadata.partitionStatistics)],
    ['snapshot-log', listOf(snapshotLogTexts, metadata.snapshotLog)],
    ['metadata-log', listOf(metadataLogTexts, metadata.metadataLog)],
  ]
}

function listOf<T extends object>(
  texts: RememberedTexts<T>,
  values: readonly T[],
): (pieces: TextPieces) => void {
  return (pieces) => texts.addList(pieces, values)
}

/** What readers that know no lists look for in v1 files. */
function deprecatedMembers(metadata: TableMetadata): Member[] {
  const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId)
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId)
  invariant(schema !== undefined, `schema ${metadata.currentSchemaId} is not listed`)
  invariant(spec !== undefined, `partition spec ${metadata.defaultSpecId} is not listed`)
  return [
    ['schema', schemaTexts.textOf(schema)],
    ['partition-spec', printJson(encodePartitionFields(spec.fields))],
  ]
}

function currentSnapshotText(metadata: TableMetadata): string {
  if (metadata.currentSnapshotId !== undefined) return metadata.currentSnapshotId.toString()
  return metadata.formatVersion >= 3 ? 'null' : NO_SNAPSHOT_ID.toString()
}

function refsText(metadata: TableMetadata): string {
  const members = Object.entries(metadata.refs).map(
    ([name, ref]) => `${JSON.stringify(name)}:${printJson(encodeSnapshotRef(ref))}`,
  )
  return `{${members.join(',')}}`
}

const schemaTexts = new RememberedTexts((schema: Schema) => printJson(encodeSchema(schema)))
const specTexts = new RememberedTexts((value: PartitionSpec) =>
  printJson(encodePartitionSpec(value)),
)
const orderTexts = new RememberedTexts((value: SortOrder) => printJson(encodeSortOrder(value)))
const statisticsTexts = new RememberedTexts((value: StatisticsFile) =>
  printJson(encodeStatisticsFile(value)),
)
const partitionStatisticsTexts = new RememberedTexts((value: PartitionStatisticsFile) =>
  printJson(encodePartitionStatisticsFile(value)),
)
const keyTexts = new RememberedTexts((value: EncryptedKey) => printJson(encodeEncryptedKey(value)))

function utf8(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw new InvalidInputError('table metadata is not UTF-8', undefined, { cause })
  }
}
