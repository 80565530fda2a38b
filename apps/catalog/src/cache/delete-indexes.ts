import type { DeleteFileIndex } from '@timelake/iceberg/scan/delete-file-index'
import { LRUCache } from 'lru-cache'

/** Delete files in all indexes that are kept. */
export const INDEXED_DELETES_MAX = 200_000

/**
 * The delete files of scans that are given out page by page, indexed once and not for every page. Kept by what they were made
 * from, which never changes; least recently used ones go first. Callers at the same time share one reading.
 */
export class DeleteIndexes {
  readonly #kept = new LRUCache<string, DeleteFileIndex>({ maxSize: INDEXED_DELETES_MAX })
  readonly #begun = new Map<string, Promise<BuiltIndex>>()

  /** The index that `build` makes, or made before for the same key. Throws what `build` throws. */
  async get(key: string, build: () => Promise<BuiltIndex>): Promise<DeleteFileIndex> {
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const begun = this.#begun.get(key) ?? this.#begin(key, build)
    return (await begun).index
  }

  #begin(key: string, build: () => Promise<BuiltIndex>): Promise<BuiltIndex> {
    const begun = build()
      .then((built) => {
        // One that is larger than all that may be kept is not kept.
        this.#kept.set(key, built.index, { size: Math.max(1, built.deleteFileCount) })
        return built
      })
      .finally(() => this.#begun.delete(key))
    this.#begun.set(key, begun)
    return begun
  }
}

export interface BuiltIndex {
  readonly index: DeleteFileIndex
  readonly deleteFileCount: number
}
