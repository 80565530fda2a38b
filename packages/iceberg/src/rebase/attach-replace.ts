import type { ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { RebaseBase } from './find-rebase-base.ts'
import { mayHoldLiveFiles } from './merge-manifests.ts'
import type { OwnManifest } from './own-manifests.ts'
import { refuseRebase, type RebaseRefusal, shown } from './rebase-shape.ts'

export interface ReplaceToAttach {
  readonly metadata: TableMetadata
  readonly base: RebaseBase
  readonly own: readonly OwnManifest[]
  /** The manifests of the parent that the rewrite replaces. */
  readonly dropped: readonly ManifestFile[]
  readonly parentManifests: readonly ManifestFile[]
  readonly headManifests: readonly ManifestFile[]
  /** That it gets; 0 in v1. */
  readonly sequenceNumber: bigint
}

export interface AttachedReplace {
  readonly outcome: 'attached'
  /** Its own manifests, without first row ids. */
  readonly manifests: readonly ManifestFile[]
  /** Those of the head that stay. */
  readonly kept: readonly ManifestFile[]
}

/**
 * A rewrite attached to a head that differs from its parent by appends alone: its manifests take the place of the same
 * manifests as before, so exactly its inputs leave the table, and the numbers in its entries stay. Refuses anything else
 * between, and inputs whose manifests are not listed any more.
 */
export function attachReplace(replace: ReplaceToAttach): AttachedReplace | RebaseRefusal {
  const problem =
    betweenProblem(replace) ??
    missingInput(replace) ??
    lineageProblem(replace) ??
    ownProblem(replace)
  if (problem !== undefined) return refuseRebase(problem)
  const dropped = new Set(replace.dropped.map(({ manifestPath }) => manifestPath))
  return {
    outcome: 'attached',
    manifests: replace.own.map((one) => relisted(one, replace.sequenceNumber)),
    kept: replace.headManifests.filter(
      (manifest) => mayHoldLiveFiles(manifest) && !dropped.has(manifest.manifestPath),
    ),
  }
}

function betweenProblem({
  base,
  parentManifests,
  headManifests,
}: ReplaceToAttach): string | undefined {
  const other = base.between.find(({ summary }) => summary?.['operation'] !== 'append')
  if (other !== undefined) {
    const operation = shown(other.summary?.['operation'] ?? 'none')
    return `expected appends alone meanwhile, found snapshot ${other.snapshotId} (${operation})`
  }
  const known = new Set(parentManifests.map(({ manifestPath }) => manifestPath))
  const deletes = headManifests.find(
    ({ content, manifestPath }) => content === 'deletes' && !known.has(manifestPath),
  )
  return deletes === undefined
    ? undefined
    : `expected no deletes meanwhile, found manifest ${shown(deletes.manifestPath)}`
}

function missingInput({ dropped, headManifests }: ReplaceToAttach): string | undefined {
  const listed = new Set(headManifests.map(({ manifestPath }) => manifestPath))
  const missing = dropped.find(
    (manifest) => mayHoldLiveFiles(manifest) && !listed.has(manifest.manifestPath),
  )
  return missing === undefined
    ? undefined
    : `manifest ${shown(missing.manifestPath)} with its inputs is not in the table any more`
}

/** Before its first v3 snapshot a table has no row ids; two writers may have given its rows different ones. */
function lineageProblem({ metadata, base }: ReplaceToAttach): string | undefined {
  if (metadata.formatVersion < 3 || base.parent?.firstRowId !== undefined) return undefined
  return 'its parent is from before the table had row ids'
}

function ownProblem({ metadata, own }: ReplaceToAttach): string | undefined {
  const specIds = new Set(metadata.partitionSpecs.map(({ specId }) => specId))
  for (const { manifest, content } of own) {
    if (!specIds.has(manifest.partitionSpecId)) {
      return `there is no partition spec ${manifest.partitionSpecId}`
    }
    if (content.formatVersion < 2 && metadata.formatVersion > 1) {
      return `manifest ${shown(manifest.manifestPath)} was written for v1`
    }
    const numbered = content.entries.find(
      ({ status, dataFile }) => status === 'added' && dataFile.firstRowId !== undefined,
    )
    if (numbered !== undefined) {
      return `file ${shown(numbered.dataFile.filePath)} has row ids of its own`
    }
  }
  return undefined
}

function relisted({ manifest, content }: OwnManifest, sequenceNumber: bigint): ManifestFile {
  const { firstRowId: _firstRowId, ...kept } = manifest
  let minSequenceNumber = sequenceNumber
  for (const entry of content.entries) {
    const number = isLive(entry) ? entry.sequenceNumber : undefined
    if (number !== undefined && number < minSequenceNumber) minSequenceNumber = number
  }
  return { ...kept, sequenceNumber, minSequenceNumber }
}

function isLive({ status }: ManifestEntry): boolean {
  return status !== 'deleted'
}
