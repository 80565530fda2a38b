import { decodeTableMetadataJson } from './decode-table-metadata.ts'
import { encodeEncryptedKey } from './encrypted-key-json.ts'
import { InvalidInputError } from './errors.ts'
import { invariant } from './invariant.ts'
import { parseJson, printJson, printMembers } from './json.ts'
import type { JsonObject } from './json-value.ts'
import { encodePartitionFields, encodePartitionSpec } from './partition-spec-json.ts'
import type { PartitionSpec } from './partition-spec.ts'
import { RememberedTexts } from './remembered-texts.ts'
import { encodeSchema } from './schema-json.ts'
import type { Schema } from './schema.ts'
import { encodeSnapshotRef, NO_SNAPSHOT_ID, snapshotText } from './snapshot-json.ts'
import type { Snapshot } from './snapshot.ts'
import { encodeSortOrder } from './sort-order-json.ts'
import type { SortOrder } from './sort-order.ts'
import { encodePartitionStatisticsFile, encodeStatisticsFile } from './statistics-json.ts'
import type {
  EncryptedKey,
  MetadataLogEntry,
  PartitionStatisticsFile,
  SnapshotLogEntry,
  StatisticsFile,
  TableMetadata,
} from './table-metadata.ts'

/**
 * Reads the plain (not gzipped) content of a metadata file, v1 to v3. Throws InvalidInputError when it is not
 * UTF-8 or not JSON, and as decodeTableMetadataJson does.
 */
export function decodeTableMetadata(content: string | Uint8Array): TableMetadata {
  return decodeTableMetadataJson(parseJson(typeof content === 'string' ? content : utf8(content)))
}

/** The content of a metadata file. Inverse of decodeTableMetadata. */
export function encodeTableMetadata(metadata: TableMetadata): string {
  return encodeTableMetadataView(metadata, 'all')
}

/**
 * The JSON text of metadata as clients load it: `all`, or `refs`, which leaves out the snapshots that no branch or
 * tag points at, and the statistics of those; everything else is complete. The text of every immutable part is
 * remembered with the part, so that the next version of the same table costs only what changed.
 */
export function encodeTableMetadataView(metadata: TableMetadata, view: 'all' | 'refs'): string {
  const shown = view === 'all' ? metadata : withReferencedSnapshots(metadata)
  const pieces: string[] = []
  for (const [name, texts] of memberTexts(shown)) {
    if (texts === undefined) continue
    pieces.push(pieces.length === 0 ? `{"${name}":` : `,"${name}":`)
    if (typeof texts === 'string') pieces.push(texts)
    else pushList(pieces, texts)
  }
  const extra = printMembers(shown.extra ?? {})
  if (extra !== '') pieces.push(',', extra)
  pieces.push('}')
  return pieces.join('')
}

function pushList(pieces: string[], texts: readonly string[]): void {
  pieces.push('[')
  for (const text of texts) pieces.push(text, ',')
  if (texts.length > 0) pieces.pop()
  pieces.push(']')
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

/** The text of a member, or the texts of the runs that make up a list, or nothing when it is not written. */
type MemberText = readonly [name: string, texts: string | readonly string[] | undefined]

function memberTexts(metadata: TableMetadata): MemberText[] {
  const isV1 = metadata.formatVersion === 1
  const isV3 = metadata.formatVersion >= 3
  return [
    ['format-version', String(metadata.formatVersion)],
    ['table-uuid', JSON.stringify(metadata.tableUuid)],
    ['location', JSON.stringify(metadata.location)],
    ['last-sequence-number', isV1 ? undefined : metadata.lastSequenceNumber.toString()],
    ['last-updated-ms', String(metadata.lastUpdatedMs)],
    ['last-column-id', String(metadata.lastColumnId)],
    ...(isV1 ? deprecatedMemberTexts(metadata) : []),
    ['current-schema-id', String(metadata.currentSchemaId)],
    ['schemas', schemaTexts.listTexts(metadata.schemas)],
    ['default-spec-id', String(metadata.defaultSpecId)],
    ['partition-specs', specTexts.listTexts(metadata.partitionSpecs)],
    ['last-partition-id', String(metadata.lastPartitionId)],
    ['default-sort-order-id', String(metadata.defaultSortOrderId)],
    ['sort-orders', orderTexts.listTexts(metadata.sortOrders)],
    ['properties', JSON.stringify(metadata.properties)],
    ['current-snapshot-id', currentSnapshotText(metadata)],
    ['next-row-id', isV3 ? (metadata.nextRowId ?? 0n).toString() : undefined],
    [
      'encryption-keys',
      metadata.encryptionKeys.length === 0
        ? undefined
        : keyTexts.listTexts(metadata.encryptionKeys),
    ],
    ['refs', refsText(metadata)],
    ['snapshots', (isV1 ? snapshotTextsV1 : snapshotTexts).listTexts(metadata.snapshots)],
    ['statistics', statisticsTexts.listTexts(metadata.statistics)],
    ['partition-statistics', partitionStatisticsTexts.listTexts(metadata.partitionStatistics)],
    ['snapshot-log', snapshotLogTexts.listTexts(metadata.snapshotLog)],
    ['metadata-log', metadataLogTexts.listTexts(metadata.metadataLog)],
  ]
}

/** What readers that know no lists look for in v1 files. */
function deprecatedMemberTexts(metadata: TableMetadata): MemberText[] {
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
const snapshotTexts = new RememberedTexts((snapshot: Snapshot) => snapshotText(snapshot))
const snapshotTextsV1 = new RememberedTexts((snapshot: Snapshot) =>
  snapshotText(snapshot, { omitZeroSequence: true }),
)
const statisticsTexts = new RememberedTexts((value: StatisticsFile) =>
  printJson(encodeStatisticsFile(value)),
)
const partitionStatisticsTexts = new RememberedTexts((value: PartitionStatisticsFile) =>
  printJson(encodePartitionStatisticsFile(value)),
)
const keyTexts = new RememberedTexts((value: EncryptedKey) => printJson(encodeEncryptedKey(value)))
const snapshotLogTexts = new RememberedTexts(snapshotLogEntryText)
const metadataLogTexts = new RememberedTexts(metadataLogEntryText)

function snapshotLogEntryText({ timestampMs, snapshotId, extra }: SnapshotLogEntry): string {
  return `{${extraText(extra)}"timestamp-ms":${timestampMs},"snapshot-id":${snapshotId}}`
}

function metadataLogEntryText({ timestampMs, metadataFile, extra }: MetadataLogEntry): string {
  const file = JSON.stringify(metadataFile)
  return `{${extraText(extra)}"timestamp-ms":${timestampMs},"metadata-file":${file}}`
}

function extraText(extra: JsonObject | undefined): string {
  const text = extra === undefined ? '' : printMembers(extra)
  return text === '' ? '' : `${text},`
}

function utf8(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (cause) {
    throw new InvalidInputError('table metadata is not UTF-8', undefined, { cause })
  }
}
