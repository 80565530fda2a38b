import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import type { NewManifest } from '@timelake/iceberg/rebase/attach-append'
import {
  mayHoldLiveFiles,
  mergeManifests,
  planManifestMerge,
  replaceManifests,
} from '@timelake/iceberg/rebase/merge-manifests'
import type { OwnManifest } from '@timelake/iceberg/rebase/own-manifests'
import { mergePolicyOf } from '@timelake/iceberg/rebase/rebase-properties'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { nextSequenceNumber } from '@timelake/iceberg/snapshot/new-snapshot'
import { joinLocation } from '@timelake/iceberg/spec/location'
import type { Catalog } from './catalog.ts'
import type { GroupDraft } from './group-draft.ts'
import { metadataFolder } from './metadata-location.ts'
import type { Warehouse } from './warehouse.ts'

/** Manifests of one table that are read ahead at one time. */
const MERGE_READS_MAX = 4

/** The list of the present head, and the snapshot that comes next. */
export interface ManifestsToBound {
  readonly warehouse: Warehouse
  readonly draft: GroupDraft
  readonly manifests: readonly ManifestFile[]
  readonly snapshotId: bigint
}

export interface BoundedManifests {
  readonly manifests: readonly ManifestFile[]
  /** To be stored before the list. */
  readonly newManifests: readonly NewManifest[]
}

/**
 * What the next snapshot lists of the head's manifests: the same files, without manifests that hold deleted entries alone,
 * and in fewer manifests when they are many and the table merges them. Never the next snapshot's own ones: Java deletes manifests that its snapshot does not list.
 * Waits for nothing: what is not in memory is read in the background, for a later commit.
 */
export function boundManifests(catalog: Catalog, ask: ManifestsToBound): BoundedManifests {
  const { warehouse, draft, snapshotId } = ask
  const { metadata } = draft
  const policy = mergePolicyOf(metadata.properties)
  const manifests = ask.manifests.filter(mayHoldLiveFiles)
  const same = { manifests, newManifests: [] }
  if (policy === undefined) return same
  const planned = planManifestMerge(metadata, manifests, {
    ...policy,
    targetSizeBytes: Math.min(policy.targetSizeBytes, catalog.manifestContents.mergedBytesMax),
  })
  if (planned.length === 0) return same
  const inputs = planned.flatMap((manifest): OwnManifest[] => {
    const content = catalog.manifestContents.peek(warehouse, { metadata, manifest })
    return content === undefined ? [] : [{ manifest, content }]
  })
  if (inputs.length < planned.length) {
    readAhead(catalog, ask, planned)
    return same
  }
  const name = `${catalog.context.newUuid()}-m0.avro`
  const merged = mergeManifests({
    metadata,
    inputs,
    snapshotId,
    sequenceNumber: nextSequenceNumber(metadata),
    location: joinLocation(metadataFolder(metadata), name),
  })
  keepContents(catalog, ask, [merged])
  return {
    manifests: replaceManifests(manifests, planned, merged.manifest),
    newManifests: [merged],
  }
}

/** Keeps manifests that were written here for when they are merged. */
export function keepContents(
  catalog: Catalog,
  { warehouse, draft: { metadata } }: Pick<ManifestsToBound, 'warehouse' | 'draft'>,
  written: readonly NewManifest[],
): void {
  for (const { manifest, content } of written) {
    catalog.manifestContents.put(warehouse, { metadata, manifest }, content)
  }
}

function readAhead(
  { background, manifestContents }: Catalog,
  { warehouse, draft }: ManifestsToBound,
  planned: readonly ManifestFile[],
): void {
  const { metadata } = draft
  const drafted = new Set(draft.files.map(({ location }) => location))
  const stored = planned.filter(({ manifestPath }) => !drafted.has(manifestPath))
  background.start('read manifests to merge', async () => {
    await mapBounded(stored, MERGE_READS_MAX, async (manifest) => {
      await manifestContents.get(warehouse, { metadata, manifest })
    })
  })
}
