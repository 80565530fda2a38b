import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { readSnapshotManifests, type ReadFile } from '@timelake/iceberg/io/snapshot-files'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { unreadableReason } from './contract/compaction-input.ts'

/** A manifest above this is not read; the outputs are kept then. */
const MANIFEST_BYTES_MAX = 512 * 1024 * 1024

export type UnreferencedOutputs =
  | { readonly outcome: 'known'; readonly unreferenced: readonly string[] }
  | { readonly outcome: 'unknown'; readonly reason: string }

/**
 * Which of the locations no snapshot of the table names: not as manifest list, not as manifest, not as a file in any
 * manifest. Every retained snapshot is looked at, each manifest once. `unknown` when one of them cannot be read: then
 * nothing may be deleted. Errors: those of `read`, CorruptFileError.
 */
export async function unreferencedOutputs(
  read: ReadFile,
  metadata: TableMetadata,
  options: { readonly locations: readonly string[]; readonly signal: AbortSignal },
): Promise<UnreferencedOutputs> {
  const allowedPrefixes = tableRoots(metadata)
  const { signal } = options
  const left = new Map(options.locations.map((location) => [normalizeLocation(location), location]))
  const manifests = new Map<string, ManifestFile>()
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList !== undefined) left.delete(normalizeLocation(snapshot.manifestList))
    const list = await readSnapshotManifests(
      read,
      { metadata, snapshot },
      { allowedPrefixes, signal },
    )
    if (list.outcome !== 'read') return { outcome: 'unknown', reason: unreadableReason(list) }
    for (const manifest of list.manifests) manifests.set(manifest.manifestPath, manifest)
  }
  for (const manifest of manifests.values()) {
    if (left.size === 0) break
    left.delete(normalizeLocation(manifest.manifestPath))
    const bytes = await read(manifest.manifestPath, { sizeBytesMax: MANIFEST_BYTES_MAX, signal })
    const { entries } = readManifest(bytes, { manifest, metrics: 'none' })
    for (const { dataFile } of entries) left.delete(normalizeLocation(dataFile.filePath))
  }
  return { outcome: 'known', unreferenced: [...left.values()] }
}
