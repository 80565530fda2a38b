import type { Filled } from '../spec/decode.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { DataFile, ManifestEntry, ResolvedEntry } from './data-file.ts'
import type { ManifestFile } from './manifest-file.ts'

/**
 * The entries with everything that they inherit from the manifest's entry in the list: snapshot id, sequence numbers
 * and, in v3, first row ids. Numbers are inherited by added entries, and by all entries of a manifest of sequence number 0
 * (written for v1). Row ids run over the live entries without one, in file order. Throws CorruptFileError when an existing or deleted entry
 * has no data sequence number to go by. Spec: Sequence Number Inheritance, First Row ID Inheritance.
 */
export function resolveEntries(
  manifest: ManifestFile,
  entries: readonly ManifestEntry[],
): ResolvedEntry[] {
  const resolved: ResolvedEntry[] = []
  let nextRowId = manifest.content === 'data' ? manifest.firstRowId : undefined
  for (const entry of entries) {
    const needsRowId =
      nextRowId !== undefined &&
      entry.status !== 'deleted' &&
      entry.dataFile.firstRowId === undefined
    resolved.push(resolveEntry(manifest, entry, needsRowId ? nextRowId : undefined))
    if (needsRowId && nextRowId !== undefined) nextRowId += entry.dataFile.recordCount
  }
  return resolved
}

function resolveEntry(
  manifest: ManifestFile,
  entry: ManifestEntry,
  firstRowId: bigint | undefined,
): ResolvedEntry {
  const inherits = entry.status === 'added' || manifest.sequenceNumber === 0n
  const sequenceNumber = entry.sequenceNumber ?? (inherits ? manifest.sequenceNumber : undefined)
  if (sequenceNumber === undefined) {
    throw new CorruptFileError(
      `cannot read manifest ${manifest.manifestPath}: expected a sequence number for the ` +
        `${entry.status} entry ${entry.dataFile.filePath}, got none`,
    )
  }
  return {
    status: entry.status,
    snapshotId: entry.snapshotId ?? manifest.addedSnapshotId,
    sequenceNumber,
    // Entries from before field 4 existed keep only the data sequence number; then both are the same.
    fileSequenceNumber:
      entry.fileSequenceNumber ?? (inherits ? manifest.sequenceNumber : sequenceNumber),
    dataFile:
      firstRowId === undefined ? entry.dataFile : withFirstRowId(entry.dataFile, firstRowId),
  }
}

function withFirstRowId(dataFile: DataFile, firstRowId: bigint): DataFile {
  const copy: Filled<DataFile> = { ...dataFile }
  copy.firstRowId = firstRowId
  return copy
}
