import type { ManifestFile } from '../manifest/manifest-file.ts'
import type { ScanFilter } from './scan-filter.ts'

/** The manifests that a scan has to open. */
export interface SelectedManifests {
  readonly data: readonly ManifestFile[]
  readonly deletes: readonly ManifestFile[]
}

export interface SelectManifestsInput {
  /** Of the snapshots of a scan, in list order; one that several lists name counts once. */
  readonly manifests: readonly ManifestFile[]
  readonly filter: ScanFilter
  /** Of an incremental scan: see ScanSource. */
  readonly addedIn?: ReadonlySet<bigint>
}

/**
 * The manifests that may hold a file that the filter cannot rule out, by what the manifest list tells of them, and the delete
 * manifests that may matter for those. Absent counts and summaries mean "perhaps". Spec: Scan Planning.
 */
export function selectManifests({
  manifests,
  filter,
  addedIn,
}: SelectManifestsInput): SelectedManifests {
  const distinct = [...new Map(manifests.map((each) => [each.manifestPath, each])).values()]
  const relevant = distinct.filter(
    (manifest) =>
      hasLiveFiles(manifest) &&
      filter.specFilters.get(manifest.partitionSpecId)?.mightMatchManifest(manifest.partitions) !==
        false,
  )
  const data = relevant.filter((manifest) => manifest.content === 'data')
  if (addedIn !== undefined) {
    return { data: data.filter((manifest) => isAddedIn(manifest, addedIn)), deletes: [] }
  }
  if (data.length === 0) return { data, deletes: [] }
  const oldest = data.reduce(
    (least, { minSequenceNumber }) => (minSequenceNumber < least ? minSequenceNumber : least),
    data[0]?.minSequenceNumber ?? 0n,
  )
  const deletes = relevant.filter(
    (manifest) => manifest.content === 'deletes' && manifest.sequenceNumber >= oldest,
  )
  return { data, deletes }
}

function hasLiveFiles(manifest: ManifestFile): boolean {
  return manifest.addedFilesCount !== 0 || manifest.existingFilesCount !== 0
}

function isAddedIn(manifest: ManifestFile, addedIn: ReadonlySet<bigint>): boolean {
  return manifest.addedFilesCount !== 0 && addedIn.has(manifest.addedSnapshotId)
}
