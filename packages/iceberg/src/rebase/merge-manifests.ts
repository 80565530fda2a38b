import type { ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { resolveEntries } from '../manifest/resolve-entries.ts'
import { makeManifest, schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { invariant } from '../spec/invariant.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NewManifest } from './attach-append.ts'
import type { OwnManifest } from './own-manifests.ts'
import type { MergePolicy } from './rebase-properties.ts'

/** Entries that one commit rewrites at most. */
export const MERGED_ENTRIES_MAX = 10_000
/** A manifest joins a merge when it is at most so many times as large as all newer ones of the merge together. */
const GROWTH_MAX = 2

/**
 * Whether a manifest may hold a live file. One that holds deleted entries alone belongs to the list of its own snapshot
 * and to no later one.
 */
export function mayHoldLiveFiles({ addedFilesCount, existingFilesCount }: ManifestFile): boolean {
  return addedFilesCount !== 0 || existingFilesCount !== 0
}

/**
 * The manifests that the next list of a table had better hold as one, newest first; none when there are few. They are
 * data manifests of one spec below the target size, as many as the policy waits for. Each file is moved a few times only
 * on its way to a manifest of the target size, because a manifest waits until the newer ones weigh as much.
 */
export function planManifestMerge(
  metadata: TableMetadata,
  manifests: readonly ManifestFile[],
  policy: MergePolicy,
): readonly ManifestFile[] {
  for (const candidates of candidatesBySpec(metadata, manifests, policy).values()) {
    if (candidates.length < policy.manifestCountMin) continue
    const run = longestRun(candidates, policy)
    if (run.length > 1) return run
  }
  return []
}

function candidatesBySpec(
  metadata: TableMetadata,
  manifests: readonly ManifestFile[],
  { targetSizeBytes }: MergePolicy,
): Map<number, ManifestFile[]> {
  const bySpec = new Map<number, ManifestFile[]>()
  const specIds = mergeableSpecs(metadata)
  for (const manifest of manifests) {
    if (!specIds.has(manifest.partitionSpecId) || !isCandidate(metadata, manifest)) continue
    const isFull =
      Number(manifest.manifestLengthBytes) >= targetSizeBytes ||
      2 * liveCount(manifest) > MERGED_ENTRIES_MAX
    if (isFull) continue
    const candidates = bySpec.get(manifest.partitionSpecId)
    if (candidates === undefined) bySpec.set(manifest.partitionSpecId, [manifest])
    else candidates.push(manifest)
  }
  return bySpec
}

/** Writers store partition values of type fixed in two ways, and those of unknown transforms in unknown types. */
function mergeableSpecs(metadata: TableMetadata): ReadonlySet<number> {
  const schemas = schemasNewestFirst(metadata)
  const specs = metadata.partitionSpecs.filter(
    (spec) =>
      spec.fields.every(({ transform }) => transform.kind !== 'unknown-transform') &&
      partitionType(spec, schemas).fields.every(({ type }) => type.kind !== 'fixed'),
  )
  return new Set(specs.map(({ specId }) => specId))
}

function isCandidate({ formatVersion }: TableMetadata, manifest: ManifestFile): boolean {
  const { content, keyMetadata, addedFilesCount, existingFilesCount, firstRowId } = manifest
  return (
    content === 'data' &&
    keyMetadata === undefined &&
    addedFilesCount !== undefined &&
    existingFilesCount !== undefined &&
    // Its rows get their ids with the next list; until then there is nothing to write down.
    (formatVersion < 3 || firstRowId !== undefined)
  )
}

/** Of the runs of neighbours that may become one manifest, the longest; the newest of them when there are several. */
function longestRun(
  candidates: readonly ManifestFile[],
  { targetSizeBytes }: MergePolicy,
): readonly ManifestFile[] {
  let longest: ManifestFile[] = []
  let run: ManifestFile[] = []
  let sizeBytes = 0
  let entryCount = 0
  for (const manifest of candidates) {
    const nextSizeBytes = Number(manifest.manifestLengthBytes)
    const fits =
      nextSizeBytes <= GROWTH_MAX * sizeBytes &&
      sizeBytes + nextSizeBytes <= targetSizeBytes &&
      entryCount + liveCount(manifest) <= MERGED_ENTRIES_MAX
    if (!fits) {
      run = []
      sizeBytes = 0
      entryCount = 0
    }
    run.push(manifest)
    sizeBytes += nextSizeBytes
    entryCount += liveCount(manifest)
    if (run.length > longest.length) longest = run
  }
  return longest
}

function liveCount({ addedFilesCount = 0, existingFilesCount = 0 }: ManifestFile): number {
  return addedFilesCount + existingFilesCount
}

export interface ManifestMerge {
  readonly metadata: TableMetadata
  /** All of one spec, see `planManifestMerge`. */
  readonly inputs: readonly OwnManifest[]
  /** The snapshot in whose list the merged manifest is the first time. */
  readonly snapshotId: bigint
  readonly sequenceNumber: bigint
  readonly location: string
}

/**
 * One manifest with the live files of the inputs as existing entries, their numbers and row ids written out. No list
 * loses a file by naming it instead of them; lists that name them stay as they are. Spec: Manifests.
 */
export function mergeManifests(merge: ManifestMerge): NewManifest {
  const { metadata, inputs, location, snapshotId, sequenceNumber } = merge
  const entries = inputs.flatMap(({ manifest, content }) =>
    resolveEntries(manifest, content.entries).flatMap((entry): ManifestEntry[] =>
      entry.status === 'deleted' ? [] : [{ ...entry, status: 'existing' }],
    ),
  )
  const specId = inputs[0]?.manifest.partitionSpecId
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId)
  invariant(spec !== undefined, `a merge of manifests of spec ${specId}, which the table lacks`)
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const made = makeManifest({
    metadata,
    spec,
    partition,
    content: 'data',
    entries,
    location,
    snapshotId,
    sequenceNumber,
  })
  const content = { formatVersion: metadata.formatVersion, entries }
  return { ...made, manifest: withRowIds(merge, made.manifest, entries), content }
}

/** All its rows have ids of their own, so it takes none: naming the lowest keeps the list from giving it new ones. */
function withRowIds(
  { metadata }: ManifestMerge,
  manifest: ManifestFile,
  entries: readonly ManifestEntry[],
): ManifestFile {
  if (metadata.formatVersion < 3) return manifest
  const ids = entries.flatMap(({ dataFile }) => dataFile.firstRowId ?? [])
  invariant(ids.length === entries.length, `a merge into ${manifest.manifestPath} without row ids`)
  return { ...manifest, firstRowId: ids.reduce((low, id) => (id < low ? id : low), ids[0] ?? 0n) }
}

/** The list with the merged manifest in the place of its inputs: where the first of them was. */
export function replaceManifests(
  manifests: readonly ManifestFile[],
  inputs: readonly ManifestFile[],
  merged: ManifestFile,
): readonly ManifestFile[] {
  const gone = new Set(inputs)
  return manifests.flatMap((manifest) => {
    if (manifest === inputs[0]) return [merged]
    return gone.has(manifest) ? [] : [manifest]
  })
}
