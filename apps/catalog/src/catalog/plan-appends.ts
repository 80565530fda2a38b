import type { LandedBatch } from '@timelake/database/append-batches'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { appendFilesOfSpecs } from '@timelake/iceberg/snapshot/append-files'
import type { NewFile, NewSnapshotFiles } from '@timelake/iceberg/snapshot/new-snapshot'
import { invariant } from '@timelake/iceberg/spec/invariant'
import { joinLocation } from '@timelake/iceberg/spec/location'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { readAppendSettings } from '@timelake/timelake/contract/table-settings'
import { admitAppends } from './admit-appends.ts'
import { readAppendBranch, type AppendBranch } from './append-branch.ts'
import type { AppendIntent, AppendVerdict } from './append-intent.ts'
import type { AppendsAsk } from './appends-ask.ts'
import { appendSummary } from './append-summary.ts'
import { boundManifests } from './bound-manifests.ts'
import type { Catalog } from './catalog.ts'
import { metadataFolder } from './metadata-location.ts'

export interface PlannedAppends {
  /** For `applyCommit` on the metadata of the draft; undefined when no intent adds anything. */
  readonly request: CommitRequest | undefined
  readonly files: readonly NewFile[]
  readonly manifestLists: ReadonlyMap<string, readonly ManifestFile[]>
  /** One for each intent, in their order. */
  readonly verdicts: readonly AppendVerdict[]
  readonly landed: readonly LandedBatch[]
}

/**
 * One snapshot for all the intents: their files in new manifests in front of those of the branch, which are merged when
 * they are many, see `boundManifests`. Stores nothing. Each intent is refused alone, whatever is wrong with it: see
 * `admitAppends` and `readAppendBranch`.
 */
export async function planAppends(catalog: Catalog, ask: AppendsAsk): Promise<PlannedAppends> {
  const { draft, intents, batches, warehouse } = ask
  const [first, ...others] = intents
  invariant(first !== undefined, 'there is something to append')
  invariant(
    others.every((other) => other.branch === first.branch),
    'appends that share a snapshot go to one branch',
  )
  const { metadata } = draft
  const branch = await readAppendBranch(catalog, ask, first.branch)
  const { verdicts, admitted } = admitAppends({ metadata, branch, intents, batches })
  if (branch instanceof Error || admitted.length === 0) {
    return { request: undefined, files: [], manifestLists: new Map(), verdicts, landed: [] }
  }
  const { manifests: headManifests, snapshotId } = branch
  const toBound = { warehouse, draft, manifests: headManifests, snapshotId }
  const bounded = boundManifests(catalog, toBound)
  const made = snapshotOf(catalog, metadata, {
    branch: { ...branch, manifests: bounded.manifests },
    admitted,
  })
  const newManifests = [...made.manifests, ...bounded.newManifests]
  keepContents(catalog, ask, newManifests)
  const { snapshot, manifestList, listedManifests } = made
  return {
    request: requestOf(metadata, branch, snapshot),
    files: [...newManifests, manifestList].map(bare),
    manifestLists: new Map([[manifestList.location, listedManifests]]),
    verdicts,
    landed: landedBatches(catalog, metadata, { branch, admitted }),
  }
}

interface BranchAppends {
  readonly branch: AppendBranch
  /** At least one. */
  readonly admitted: readonly AppendIntent[]
}

function snapshotOf(
  { context }: Catalog,
  metadata: TableMetadata,
  { branch, admitted }: BranchAppends,
): NewSnapshotFiles {
  const folder = metadataFolder(metadata)
  const { head, manifests, snapshotId } = branch
  return appendFilesOfSpecs({
    metadata,
    ...(head === undefined ? {} : { parent: head }),
    parentManifests: manifests,
    filesBySpec: filesBySpec(admitted),
    identity: {
      snapshotId,
      timestampMs: context.nowMs(),
      commitUuid: context.newUuid(),
      fileLocation: (fileName) => joinLocation(folder, fileName),
      summary: appendSummary(admitted),
    },
  })
}

function requestOf(
  { refs }: TableMetadata,
  { name, head, snapshotId }: AppendBranch,
  snapshot: Snapshot,
): CommitRequest {
  const onHead = head === undefined ? {} : { snapshotId: head.snapshotId }
  return {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: name, ...onHead }],
    updates: [
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        refName: name,
        ref: { ...refs[name], type: 'branch', snapshotId },
      },
    ],
  }
}

function filesBySpec(intents: readonly AppendIntent[]): ReadonlyMap<number, readonly DataFile[]> {
  const bySpec = new Map<number, DataFile[]>()
  for (const { specId, files } of intents) {
    const known = bySpec.get(specId)
    if (known === undefined) bySpec.set(specId, [...files])
    else known.push(...files)
  }
  return bySpec
}

function bare({ location, bytes }: NewFile): NewFile {
  return { location, bytes }
}

/** Commits after this one then find the files without reading what is about to be written. */
function keepContents(
  { livePaths, manifestContents }: Catalog,
  { warehouse, draft: { metadata } }: AppendsAsk,
  newManifests: readonly (NewFile & { readonly manifest: ManifestFile })[],
): void {
  for (const { manifest, bytes } of newManifests) {
    const { entries } = manifestContents.putBytes(warehouse, { metadata, manifest }, bytes)
    livePaths.put(warehouse, manifest, entries)
  }
}

function landedBatches(
  { context }: Catalog,
  { properties }: TableMetadata,
  { branch: { snapshotId }, admitted }: BranchAppends,
): LandedBatch[] {
  const expiresAtMs = context.nowMs() + readAppendSettings(properties).rememberBatchesMs
  return admitted.map(({ batchId, requestHash }) => ({
    batchId,
    requestHash,
    snapshotId,
    expiresAtMs,
  }))
}
