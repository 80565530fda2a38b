import type { AvroWriteCodec } from '../avro/write-avro-container.ts'
import { writeAvroContainer } from '../avro/write-avro-container.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { printJson } from '../spec/json.ts'
import { encodePartitionFields } from '../spec/partition-spec-json.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import { encodeSchema } from '../spec/schema-json.ts'
import type { Schema } from '../spec/schema.ts'
import type { FormatVersion } from '../spec/table-metadata.ts'
import type { ManifestEntry } from './data-file.ts'
import { entryWriter } from './entry-writer.ts'
import type { PartitionType } from './partition-type.ts'
import { partitionType } from './partition-type.ts'

export interface ManifestContent {
  readonly formatVersion: FormatVersion
  readonly schema: Schema
  readonly spec: PartitionSpec
  readonly content: 'data' | 'deletes'
  readonly entries: readonly ManifestEntry[]
  /** Default `deflate`, the table default. */
  readonly compression?: AvroWriteCodec
  /** The partition struct, when the schema alone does not know every source column. */
  readonly partition?: PartitionType
}

/**
 * The bytes of a manifest, the same for the same content. Numbers that are absent in an entry are written as null and
 * so inherited. Throws InvalidInputError when an entry cannot be written: deletes in v1, numbers that are missing
 * although nothing can be inherited, content of the other kind, partition values of another type. Spec: Manifests.
 */
export function writeManifest(content: ManifestContent): Uint8Array {
  const { formatVersion, schema, spec } = content
  const partition = content.partition ?? partitionType(spec, [schema])
  const writer = entryWriter(formatVersion, partition)
  for (const entry of content.entries) checkEntry(content, entry)
  return writeAvroContainer({
    schema: writer.schema,
    metadata: keyValues(content),
    codec: content.compression ?? 'deflate',
    records: content.entries,
    writeRecord: (sink, entry) => writer.write(sink, entry),
  })
}

function keyValues(content: ManifestContent): [string, string][] {
  const { formatVersion, schema, spec } = content
  const pairs: [string, string][] = [
    ['schema', printJson(encodeSchema(schema))],
    ['schema-id', String(schema.schemaId)],
    ['partition-spec', printJson(encodePartitionFields(spec.fields))],
    ['partition-spec-id', String(spec.specId)],
    ['format-version', String(formatVersion)],
  ]
  return formatVersion === 1 ? pairs : [...pairs, ['content', content.content]]
}

function checkEntry(content: ManifestContent, entry: ManifestEntry): void {
  const problem = entryProblem(content, entry)
  if (problem === undefined) return
  throw new InvalidInputError(`cannot write ${entry.dataFile.filePath} into a manifest: ${problem}`)
}

function entryProblem(content: ManifestContent, entry: ManifestEntry): string | undefined {
  const { formatVersion } = content
  const isData = entry.dataFile.content === 'data'
  if (isData !== (content.content === 'data')) {
    return `expected ${content.content}, got ${entry.dataFile.content}`
  }
  if (formatVersion === 1) {
    if (!isData) return 'v1 has no delete files'
    return entry.snapshotId === undefined ? 'v1 entries need a snapshot id' : undefined
  }
  if (entry.status === 'added') return undefined
  if (entry.snapshotId === undefined) return `an ${entry.status} entry needs its snapshot id`
  if (entry.sequenceNumber === undefined)
    return `an ${entry.status} entry needs its sequence number`
  if (entry.fileSequenceNumber === undefined)
    return `an ${entry.status} entry needs its file sequence number`
  return undefined
}
