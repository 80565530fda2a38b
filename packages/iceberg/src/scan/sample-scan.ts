import type { DataFile, ManifestEntry } from '../manifest/data-file.ts'
import { describeManifest } from '../manifest/describe-manifest.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { writeManifest } from '../manifest/write-manifest.ts'
import { newTableMetadata } from '../commit/new-table-metadata.ts'
import { CREATED_AT_MS, SAMPLE_LOCATION, SAMPLE_UUID } from '../commit/sample-table.ts'
import { schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { invariant } from '../spec/invariant.ts'
import type { PartitionField, PartitionSpec } from '../spec/partition-spec.ts'
import type { FormatVersion, TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField } from '../spec/type.ts'
import { decodeScanManifest, type ScanManifest } from './scan-manifest.ts'

/** Tables, manifests and files for the tests of this folder. */

export interface SampleSpec {
  readonly fields: readonly PartitionField[]
}

/** A table with the columns, and with the given specs in the order of their ids; the last one is the default. */
export function scanTable(
  columns: readonly NestedField[],
  specs: readonly SampleSpec[] = [{ fields: [] }],
  formatVersion: FormatVersion = 3,
): TableMetadata {
  const base = newTableMetadata(
    {
      schema: { schemaId: 0, fields: columns, identifierFieldIds: [] },
      properties: { 'format-version': String(formatVersion) },
    },
    { tableUuid: SAMPLE_UUID, location: SAMPLE_LOCATION, nowMs: CREATED_AT_MS },
  )
  const partitionSpecs = specs.map(({ fields }, specId): PartitionSpec => ({ specId, fields }))
  return { ...base, partitionSpecs, defaultSpecId: specs.length - 1 }
}

export interface SampleManifest {
  readonly content?: 'data' | 'deletes'
  readonly specId?: number
  /** Of the manifest. Default 1. */
  readonly sequenceNumber?: bigint
  readonly snapshotId?: bigint
  readonly fieldIds?: readonly number[]
  readonly firstRowId?: bigint
  readonly compression?: 'null' | 'deflate'
}

let manifestCount = 0

/** The bytes of a manifest, and its entry in a list. */
export function sampleManifest(
  table: TableMetadata,
  entries: readonly ManifestEntry[],
  sample: SampleManifest = {},
): { bytes: Uint8Array; manifest: ManifestFile } {
  const { content = 'data', specId = table.defaultSpecId, sequenceNumber = 1n } = sample
  const spec = table.partitionSpecs.find((each) => each.specId === specId)
  const schemas = schemasNewestFirst(table)
  const schema = schemas[0]
  invariant(spec !== undefined && schema !== undefined, `no partition spec ${specId}`)
  const partition = partitionType(spec, schemas)
  const { formatVersion } = table
  const compression = sample.compression ?? 'deflate'
  const bytes = writeManifest({
    formatVersion,
    schema,
    spec,
    content,
    entries,
    partition,
    compression,
  })
  manifestCount += 1
  const described = describeManifest({
    manifestPath: `${SAMPLE_LOCATION}/metadata/m${manifestCount}.avro`,
    lengthBytes: bytes.length,
    spec,
    partition,
    content,
    entries,
    snapshotId: sample.snapshotId ?? 1n,
    sequenceNumber,
  })
  const { firstRowId } = sample
  return { bytes, manifest: firstRowId === undefined ? described : { ...described, firstRowId } }
}

/** A manifest of the entries as planning sees it. */
export function scanOf(
  table: TableMetadata,
  entries: readonly ManifestEntry[],
  sample: SampleManifest = {},
): ScanManifest {
  const { bytes, manifest } = sampleManifest(table, entries, sample)
  const spec = table.partitionSpecs.find(({ specId }) => specId === manifest.partitionSpecId)
  invariant(spec !== undefined, 'the manifest has a spec of the table')
  const partition = partitionType(spec, schemasNewestFirst(table))
  return decodeScanManifest(bytes, { manifest, partition, fieldIds: sample.fieldIds ?? [] })
}

let fileCount = 0

/** An added entry of ten rows; unpartitioned unless told. */
export function added(
  extra: Partial<DataFile> = {},
  numbers: Partial<ManifestEntry> = {},
): ManifestEntry {
  fileCount += 1
  const dataFile: DataFile = {
    content: 'data',
    filePath: `${SAMPLE_LOCATION}/data/f${fileCount}.parquet`,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 10n,
    fileSizeBytes: 1_000n,
    ...extra,
  }
  return { status: 'added', dataFile, ...numbers }
}
