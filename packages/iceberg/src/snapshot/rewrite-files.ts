import type { DataFile, ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { partitionKey, partitionType } from '../manifest/partition-type.ts'
import { invariant } from '../spec/invariant.ts'
import type { PartitionSpec } from '../spec/partition-spec.ts'
import type { NewSnapshotFiles } from './new-snapshot.ts'
import { finishSnapshot, schemasNewestFirst, writeManifests } from './new-snapshot.ts'
import type { RewriteRefusal } from './rewrite-refusal.ts'
import { findRewriteRefusal } from './rewrite-refusal.ts'
import type { RewriteFiles, RewriteInput } from './rewrite-request.ts'
import { summarizeChanges } from './snapshot-summary.ts'

export type RewriteOutcome =
  | ({ readonly outcome: 'rewritten' } & NewSnapshotFiles)
  | ({ readonly outcome: 'refused' } & RewriteRefusal)

/**
 * The files of a `replace` snapshot on the given head: outputs are added with the highest data sequence number of the
 * inputs, so that later equality deletes still reach their rows; inputs become deleted entries and the other files of
 * their manifests existing ones, all with explicit numbers. Manifests without inputs keep their list entry; those without
 * live files are left out. Refuses, instead of guessing, when the result would not hold the same rows: see
 * RewriteRefusal. Spec: Snapshots, operation replace; Sequence Number Inheritance.
 */
export function rewriteFiles(rewrite: RewriteFiles): RewriteOutcome {
  const { metadata, parentManifests, specId } = rewrite
  const spec = metadata.partitionSpecs.find((candidate) => candidate.specId === specId)
  const inputs = findInputs(rewrite)
  const refusal = findRewriteRefusal(rewrite, spec, inputs)
  if (refusal !== undefined) return { outcome: 'refused', ...refusal }
  invariant(spec !== undefined, 'a rewrite without a spec is refused')
  checkOutputPartitions(rewrite.outputs, inputs)
  const newManifests = writeNewManifests(rewrite, spec, inputs)
  const touched = new Set(inputs.map(({ manifest }) => manifest))
  const kept = parentManifests.filter(
    (manifest) => !touched.has(manifest) && mayHoldLiveFiles(manifest),
  )
  const removed = inputs.map(({ entry }) => entry.dataFile)
  const files = finishSnapshot({
    metadata,
    parent: rewrite.parent,
    identity: rewrite.identity,
    newManifests,
    keptManifests: kept,
    summary: {
      operation: 'replace',
      ...summarizeChanges({ added: rewrite.outputs, removed }, rewrite.parent, parentManifests),
      'manifests-created': String(newManifests.length),
      'manifests-kept': String(kept.length),
      'manifests-replaced': String(touched.size),
      'entries-processed': String(countEntries(rewrite, touched)),
    },
  })
  return { outcome: 'rewritten', ...files }
}

/** The live entries of the inputs, in list order. */
function findInputs(rewrite: RewriteFiles): RewriteInput[] {
  const wanted = new Set(rewrite.inputPaths)
  const inputs: RewriteInput[] = []
  for (const manifest of rewrite.parentManifests) {
    if (manifest.content !== 'data') continue
    for (const entry of rewrite.entriesByManifest.get(manifest.manifestPath) ?? []) {
      if (entry.status !== 'deleted' && wanted.has(entry.dataFile.filePath)) {
        inputs.push({ manifest, entry })
      }
    }
  }
  return inputs
}

function checkOutputPartitions(
  outputs: readonly DataFile[],
  inputs: readonly RewriteInput[],
): void {
  const known = new Set(inputs.map(({ entry }) => partitionKey(entry.dataFile.partition)))
  for (const output of outputs) {
    invariant(output.content === 'data', `the output ${output.filePath} is no data file`)
    invariant(
      known.has(partitionKey(output.partition)),
      `the output ${output.filePath} is in a partition that no input is in`,
    )
  }
}

function writeNewManifests(
  rewrite: RewriteFiles,
  spec: PartitionSpec,
  inputs: readonly RewriteInput[],
): ReturnType<typeof writeManifests> {
  const { metadata, identity } = rewrite
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const plan = { metadata, identity, spec, partition, content: 'data' } as const
  const added = writeManifests(plan, addedEntries(rewrite, inputs), 0)
  const existing = writeManifests(plan, survivingEntries(rewrite, inputs), added.length)
  // In manifests of their own, deleted entries are left out of the next snapshot without rewriting anything.
  const deleted = writeManifests(
    plan,
    deletedEntries(rewrite, inputs),
    added.length + existing.length,
  )
  return [...added, ...existing, ...deleted]
}

function addedEntries(rewrite: RewriteFiles, inputs: readonly RewriteInput[]): ManifestEntry[] {
  const { snapshotId } = rewrite.identity
  const sequenceNumber = inputs.reduce(
    (highest, { entry }) => (entry.sequenceNumber > highest ? entry.sequenceNumber : highest),
    0n,
  )
  return rewrite.outputs.map((dataFile) => ({
    status: 'added',
    snapshotId,
    sequenceNumber,
    dataFile,
  }))
}

function survivingEntries(rewrite: RewriteFiles, inputs: readonly RewriteInput[]): ManifestEntry[] {
  const replaced = new Set<ManifestEntry>(inputs.map(({ entry }) => entry))
  const survivors: ManifestEntry[] = []
  for (const manifest of new Set(inputs.map((input) => input.manifest))) {
    for (const entry of rewrite.entriesByManifest.get(manifest.manifestPath) ?? []) {
      if (entry.status === 'deleted' || replaced.has(entry)) continue
      survivors.push({ ...entry, status: 'existing' })
    }
  }
  return survivors
}

function deletedEntries(rewrite: RewriteFiles, inputs: readonly RewriteInput[]): ManifestEntry[] {
  const { snapshotId } = rewrite.identity
  return inputs.map(({ entry }) => ({ ...entry, status: 'deleted', snapshotId }))
}

function mayHoldLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}

function countEntries(rewrite: RewriteFiles, touched: ReadonlySet<ManifestFile>): number {
  let count = 0
  for (const manifest of touched) {
    count += rewrite.entriesByManifest.get(manifest.manifestPath)?.length ?? 0
  }
  return count
}
