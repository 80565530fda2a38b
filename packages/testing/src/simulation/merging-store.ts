import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { readManifest } from '@timelake/iceberg/manifest/read-manifest'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import { writeManifestList } from '@timelake/iceberg/manifest/write-manifest-list'
import { mergeManifests, replaceManifests } from '@timelake/iceberg/rebase/merge-manifests'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { joinBytes } from '@timelake/storage/object-bytes'
import type { ObjectStore } from '@timelake/storage/object-store'

/** A list that a catalog writes for a snapshot of a client: its id is in the name. */
const LIST_NAME = /^(.*)\/metadata\/snap-(\d+)-1-[0-9a-f-]{36}\.avro$/

/**
 * The store of a catalog that makes a mistake which the simulation must find: in the list of a snapshot it merges the snapshot's
 * own manifest with another one. Java deletes the manifests that it wrote and that its snapshot does not list, and whoever
 * reads what the snapshot added finds nothing.
 */
export function mergingStore(store: ObjectStore, objects: Map<string, Uint8Array>): ObjectStore {
  return {
    ...store,
    putIfAbsent: (location, bytes) =>
      store.putIfAbsent(location, merged(objects, location, joinBytes(bytes)) ?? bytes),
  }
}

function merged(
  objects: Map<string, Uint8Array>,
  location: string,
  bytes: Uint8Array,
): Uint8Array | undefined {
  const [, table = '', id] = LIST_NAME.exec(location) ?? []
  if (id === undefined) return undefined
  const snapshotId = BigInt(id)
  const manifests = readManifestList(bytes, location)
  const own = manifests.find((one) => one.addedSnapshotId === snapshotId)
  const other = manifests.find((one) => one !== own && objects.has(one.manifestPath))
  if (own === undefined || other === undefined || !objects.has(own.manifestPath)) return undefined
  const metadata = firstMetadata(objects, table)
  const read = (manifest: ManifestFile) => ({
    manifest,
    content: {
      formatVersion: metadata.formatVersion,
      entries: readManifest(objects.get(manifest.manifestPath) ?? new Uint8Array(), { manifest })
        .entries,
    },
  })
  const made = mergeManifests({
    metadata,
    inputs: [read(own), read(other)],
    snapshotId,
    sequenceNumber: own.sequenceNumber,
    location: own.manifestPath.replace(/\.avro$/, '-merged.avro'),
  })
  objects.set(made.location, made.bytes)
  return writeManifestList({
    formatVersion: metadata.formatVersion,
    snapshotId,
    sequenceNumber: own.sequenceNumber,
    manifests: replaceManifests(manifests, [own, other], made.manifest),
    ...(metadata.formatVersion === 3 ? { firstRowId: 0n } : {}),
  })
}

/** Schema, specs and format version of a table of the simulated world never change. */
function firstMetadata(objects: ReadonlyMap<string, Uint8Array>, table: string) {
  for (const [location, bytes] of objects) {
    if (location.startsWith(`${table}/metadata/`) && location.endsWith('.metadata.json')) {
      return decodeTableMetadata(bytes)
    }
  }
  throw new Error(`no metadata file of ${table}`)
}
