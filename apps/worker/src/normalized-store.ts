import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { ObjectStore } from '@timelake/storage/object-store'
import type { CompactionStore } from '@timelake/timelake/compaction-context'

/** The store under every spelling that writers use for a location, such as `file:/a` and `/a`. */
export function normalizedStore(store: ObjectStore): CompactionStore {
  const n = normalizeLocation
  return {
    get: (location, options) => store.get(n(location), options),
    stat: (location) => store.stat(n(location)),
    putIfAbsent: (location, bytes) => store.putIfAbsent(n(location), bytes),
    putFileIfAbsent: (location, localPath) => store.putFileIfAbsent(n(location), localPath),
    localFile: (location, directory, signal) => store.localFile(n(location), directory, signal),
    delete: (location) => store.delete(n(location)),
  }
}
