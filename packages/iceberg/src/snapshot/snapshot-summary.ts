import type { DataFile } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionKey } from '../manifest/partition-type.ts'
import type { Snapshot } from '../spec/snapshot.ts'

/** Data files of one partition spec that a snapshot adds and removes. */
export interface FileChanges {
  readonly added: readonly DataFile[]
  readonly removed: readonly DataFile[]
}

interface Tally {
  readonly files: bigint
  readonly records: bigint
  readonly sizeBytes: bigint
}

/**
 * The summary members that follow from the changed data files: what was added and deleted, how many partitions changed,
 * and the totals. A total goes on from the parent's; where the parent lacks one, files and records are counted
 * from its manifests, and what cannot be known is left out. Values are decimal text; zero changes are not written, as
 * other engines do. Spec: Snapshots, Optional Snapshot Summary Fields.
 */
export function summarizeChanges(
  changes: FileChanges,
  parent: Snapshot | undefined,
  parentManifests: readonly ManifestFile[],
): Record<string, string> {
  const added = tally(changes.added)
  const removed = tally(changes.removed)
  const partitions = new Set(
    [...changes.added, ...changes.removed].map((file) => partitionKey(file.partition)),
  )
  return {
    ...nonZero('added-data-files', added.files),
    ...nonZero('deleted-data-files', removed.files),
    ...nonZero('added-records', added.records),
    ...nonZero('deleted-records', removed.records),
    ...nonZero('added-files-size', added.sizeBytes),
    ...nonZero('removed-files-size', removed.sizeBytes),
    'changed-partition-count': String(partitions.size),
    ...totals({ added, removed }, parentTotals(parent, parentManifests)),
  }
}

function tally(files: readonly DataFile[]): Tally {
  let records = 0n
  let sizeBytes = 0n
  for (const file of files) {
    records += file.recordCount
    sizeBytes += file.fileSizeBytes
  }
  return { files: BigInt(files.length), records, sizeBytes }
}

function nonZero(key: string, value: bigint): Record<string, string> {
  return value === 0n ? {} : { [key]: String(value) }
}

type Totals = Readonly<Record<string, bigint | undefined>>

const TOTAL_KEYS = [
  'total-records',
  'total-files-size',
  'total-data-files',
  'total-delete-files',
  'total-position-deletes',
  'total-equality-deletes',
] as const

function parentTotals(parent: Snapshot | undefined, manifests: readonly ManifestFile[]): Totals {
  if (parent === undefined) return Object.fromEntries(TOTAL_KEYS.map((key) => [key, 0n]))
  const data = manifests.filter((manifest) => manifest.content === 'data')
  const deletes = manifests.filter((manifest) => manifest.content === 'deletes')
  const hasDeletes = deletes.length > 0
  const counted: Totals = {
    'total-data-files': sumOrUnknown(data, liveFiles),
    'total-records': hasDeletes ? undefined : sumOrUnknown(data, liveRows),
    'total-delete-files': sumOrUnknown(deletes, liveFiles),
    'total-position-deletes': hasDeletes ? undefined : 0n,
    'total-equality-deletes': hasDeletes ? undefined : 0n,
  }
  return Object.fromEntries(
    TOTAL_KEYS.map((key) => [key, decimal(parent.summary?.[key]) ?? counted[key]]),
  )
}

function decimal(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined
}

function liveFiles(manifest: ManifestFile): bigint | undefined {
  const { addedFilesCount, existingFilesCount } = manifest
  if (addedFilesCount === undefined || existingFilesCount === undefined) return undefined
  return BigInt(addedFilesCount) + BigInt(existingFilesCount)
}

function liveRows(manifest: ManifestFile): bigint | undefined {
  const { addedRowsCount, existingRowsCount } = manifest
  if (addedRowsCount === undefined || existingRowsCount === undefined) return undefined
  return addedRowsCount + existingRowsCount
}

function sumOrUnknown(
  manifests: readonly ManifestFile[],
  count: (manifest: ManifestFile) => bigint | undefined,
): bigint | undefined {
  let sum = 0n
  for (const manifest of manifests) {
    const value = count(manifest)
    if (value === undefined) return undefined
    sum += value
  }
  return sum
}

function totals(change: { added: Tally; removed: Tally }, parent: Totals): Record<string, string> {
  const { added, removed } = change
  const deltas: Readonly<Record<string, bigint>> = {
    'total-records': added.records - removed.records,
    'total-files-size': added.sizeBytes - removed.sizeBytes,
    'total-data-files': added.files - removed.files,
  }
  const result: Record<string, string> = {}
  for (const key of TOTAL_KEYS) {
    const before = parent[key]
    const after = before === undefined ? undefined : before + (deltas[key] ?? 0n)
    if (after !== undefined && after >= 0n) result[key] = String(after)
  }
  return result
}
