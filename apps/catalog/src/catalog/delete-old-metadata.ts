import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'

interface MetadataVersions {
  readonly previous: LoadedMetadata
  readonly current: LoadedMetadata
}

/**
 * Deletes, later and at best effort, the metadata files that fell out of the log with a commit, when the table asks for it
 * (`write.metadata.delete-after-commit.enabled`). Only files below the table's location, which no other table shares:
 * what a registered file claims about other places is never acted on. Clients that delete first are fine.
 */
export function deleteOldMetadata(
  catalog: Catalog,
  { store }: Warehouse,
  versions: MetadataVersions,
): void {
  const files = droppedMetadataFiles(versions)
  if (files.length === 0) return
  catalog.background.start('delete old metadata files', async () => {
    for (const file of files) await store.delete(file)
  })
}

/** Normalized, because another writer's log may spell one file in several ways. */
function droppedMetadataFiles({ previous, current }: MetadataVersions): string[] {
  const setting = current.metadata.properties['write.metadata.delete-after-commit.enabled']
  if (setting?.toLowerCase() !== 'true') return []
  const kept = new Set([...loggedFiles(current), normalizeLocation(current.location)])
  return loggedFiles(previous)
    .filter((file) => !kept.has(file))
    .filter((file) => isLocationBelow(current.metadata.location, file))
    .filter((file) => file.endsWith('.metadata.json'))
}

function loggedFiles({ metadata }: LoadedMetadata): string[] {
  return metadata.metadataLog.map(({ metadataFile }) => normalizeLocation(metadataFile))
}
