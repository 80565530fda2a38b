import { isLocationBelow } from '@timelake/iceberg/spec/location'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { unmergeableColumnReason } from './mergeable-columns.ts'
import type { CompactionInput, LiveDataFile } from './compaction-plan.ts'
import { TABLE_SETTINGS, type CompactionSettings } from './table-settings.ts'

/** The property that moves data files away from `<location>/data`. */
export const DATA_PATH_PROPERTY = 'write.data.path'

/** Why a table must be left as it is, as a sentence that names the offender; undefined when it may be compacted. */
export function compactionObstacle(
  input: CompactionInput,
  settings: CompactionSettings,
): string | undefined {
  const ofTable = tableObstacle(input.metadata, settings) ?? dataPathObstacle(input)
  if (ofTable !== undefined) return ofTable
  const ofFiles = [deleteObstacle(input.deleteFiles), filesObstacle(input)]
  return ofFiles.filter((reason) => reason !== undefined).join('; ') || undefined
}

/** The schema that merged files are written with. Throws nothing: a table without it has no columns. */
export function currentSchema(metadata: TableMetadata): Schema {
  const found = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId)
  return found ?? { schemaId: 0, fields: [], identifierFieldIds: [] }
}

/** What needs no manifest to be read. Exported so that a caller can stop before reading them. */
export function tableObstacle(
  metadata: TableMetadata,
  settings: CompactionSettings,
): string | undefined {
  if (!settings.compactionEnabled) return `${TABLE_SETTINGS.compactionEnabled.property} is false`
  if (metadata.formatVersion > 2) {
    return 'format version 3 tracks every row (row lineage), which merging does not carry yet'
  }
  const isEncrypted =
    metadata.encryptionKeys.length > 0 ||
    metadata.snapshots.some(({ keyId }) => keyId !== undefined)
  if (isEncrypted) return 'the table is encrypted'
  return unmergeableColumnReason(currentSchema(metadata))
}

function dataPathObstacle(input: CompactionInput): string | undefined {
  const path = input.metadata.properties[DATA_PATH_PROPERTY]
  if (!path || input.allowedPrefixes.includes(path) || isInside(path, input.allowedPrefixes)) {
    return undefined
  }
  return `${DATA_PATH_PROPERTY} points outside the table's locations: ${path}`
}

function deleteObstacle(deleteFiles: readonly LiveDataFile[]): string | undefined {
  if (deleteFiles.length === 0) return undefined
  const counts = new Map<string, number>()
  for (const { entry } of deleteFiles) {
    const kind = deleteKind(entry.dataFile)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const found = [...counts].sort().map(([kind, n]) => `${n} ${kind}${n === 1 ? '' : 's'}`)
  return `the snapshot has ${found.join(' and ')}, which merging does not apply yet`
}

function deleteKind({ content, fileFormat }: LiveDataFile['entry']['dataFile']): string {
  if (content === 'equality-deletes') return 'equality delete file'
  return fileFormat.toUpperCase() === 'PUFFIN' ? 'deletion vector' : 'position delete file'
}

function filesObstacle(input: CompactionInput): string | undefined {
  const seen = new Set<string>()
  const strangeSpecs = specsNotToWriteWith(input.metadata)
  for (const file of input.files) {
    const { filePath } = file.entry.dataFile
    const reason = fileObstacle(file, strangeSpecs)
    if (reason !== undefined) return `file ${filePath} ${reason}`
    if (!isInside(filePath, input.allowedPrefixes)) {
      return `file ${filePath} lies outside the table's locations`
    }
    if (seen.has(filePath)) return `file ${filePath} is live twice`
    seen.add(filePath)
  }
  return undefined
}

function fileObstacle(
  file: LiveDataFile,
  strangeSpecs: ReadonlyMap<number, string>,
): string | undefined {
  const { content, fileFormat, keyMetadata } = file.entry.dataFile
  if (content !== 'data') return `holds ${content}`
  if (fileFormat.toUpperCase() !== 'PARQUET') return `is ${fileFormat}, only PARQUET is merged`
  if (keyMetadata !== undefined) return 'is encrypted'
  return strangeSpecs.get(file.specId)
}

/** Specs with a transform that this version does not know must never be written with. Spec: Partition Transforms. */
function specsNotToWriteWith(metadata: TableMetadata): ReadonlyMap<number, string> {
  const reasons = new Map<number, string>()
  for (const { specId, fields } of metadata.partitionSpecs) {
    for (const { transform } of fields) {
      if (transform.kind !== 'unknown-transform') continue
      reasons.set(specId, `is partitioned by the unknown transform ${transform.text}`)
    }
  }
  return reasons
}

function isInside(location: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => isLocationBelow(prefix, location))
}
