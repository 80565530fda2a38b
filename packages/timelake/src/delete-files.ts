import { isLocationBelow } from '@timelake/iceberg/spec/location'

/** Files that are deleted between two looks at whether the table may still be purged; what S3 takes in one request. */
export const DELETE_BATCH_MAX = 1_000
/** Left files that an outcome names; all of them are counted. */
const EXAMPLES_MAX = 10

export type PurgedKind = 'data' | 'statistics' | 'manifest' | 'manifest-list' | 'metadata'

/**
 * Why a file was left. `outside`: not below a folder of the table; `shared`: below one that a live table uses too;
 * `encrypted`; `refused`: the store does not serve it.
 */
export type LeftReason = 'outside' | 'shared' | 'encrypted' | 'refused'

export interface PurgeCounts {
  /** Files that are not there any more; stores do not tell which of them were gone before. */
  readonly deleted: Readonly<Record<PurgedKind, number>>
  readonly left: Readonly<Record<LeftReason, number>>
  /** Some of the files that were left. */
  readonly leftExamples: readonly string[]
}

/** `refused`: the store does not serve that place. `failed`: it may still be there. */
export type DeletedFile =
  | { readonly outcome: 'gone'; readonly location: string }
  | { readonly outcome: 'refused'; readonly location: string }
  | { readonly outcome: 'failed'; readonly location: string; readonly error: Error }

export interface DeleteContext {
  /** Deletes up to DELETE_BATCH_MAX files; one answer for each. */
  deleteFiles(locations: readonly string[]): Promise<readonly DeletedFile[]>
  /** Why nothing more of the table may be deleted; asked before every batch. */
  obstacle(): Promise<string | undefined>
  readonly signal: AbortSignal
}

export interface DeleteFolders {
  /** Files are deleted only below these. */
  readonly own: readonly string[]
  /** Folders of the table that a live table uses too. */
  readonly shared: readonly string[]
}

/** Something came up that forbids to delete more. The message says what. */
export class PurgeStoppedError extends Error {
  override readonly name = 'PurgeStoppedError'
}

/** Deletes the files of one table, and counts. */
export interface FileDeleter {
  /** Whether the file may be deleted, and so may be read. */
  owns(location: string): boolean
  /** Counts a file that is not to be deleted. */
  leave(location: string, reason: LeftReason): void
  /**
   * Deletes the files that are the table's own, in batches, and leaves the others. Errors: PurgeStoppedError, the signal's
   * reason, an error whose cause is the store's after a batch of which a file was not deleted; what was deleted by then
   * stays counted.
   */
  deleteAll(kind: PurgedKind, locations: AsyncIterable<string> | Iterable<string>): Promise<void>
  counts(): PurgeCounts
}

/** A deleter for the files below `own`; nothing else is ever deleted by it. */
export function fileDeleter(context: DeleteContext, { own, shared }: DeleteFolders): FileDeleter {
  const deleted = { data: 0, statistics: 0, manifest: 0, 'manifest-list': 0, metadata: 0 }
  const left = { outside: 0, shared: 0, encrypted: 0, refused: 0 }
  const leftExamples: string[] = []
  const isBelowAny = (folders: readonly string[], location: string): boolean =>
    folders.some((folder) => isLocationBelow(folder, location))
  const leave = (location: string, reason: LeftReason): void => {
    left[reason] += 1
    if (leftExamples.length < EXAMPLES_MAX) leftExamples.push(location)
  }
  // A folder that holds a shared one is shared too, so own folders hold nothing of others.
  const owns = (location: string): boolean => isBelowAny(own, location)
  const deleteBatch = async (kind: PurgedKind, batch: readonly string[]): Promise<void> => {
    const owned = batch.filter((location) => {
      if (!owns(location)) leave(location, isBelowAny(shared, location) ? 'shared' : 'outside')
      return owns(location)
    })
    if (owned.length === 0) return
    const failures: Error[] = []
    for (const file of await context.deleteFiles(owned)) {
      if (file.outcome === 'failed') failures.push(file.error)
      else if (file.outcome === 'refused') leave(file.location, 'refused')
      else deleted[kind] += 1
    }
    const [first] = failures
    if (first === undefined) return
    throw new Error(`${failures.length} of ${owned.length} files were not deleted`, {
      cause: first,
    })
  }
  return {
    owns,
    leave,
    async deleteAll(kind, locations) {
      for await (const batch of batchesOf(locations)) {
        context.signal.throwIfAborted()
        const obstacle = await context.obstacle()
        if (obstacle !== undefined) throw new PurgeStoppedError(obstacle)
        await deleteBatch(kind, batch)
      }
    },
    counts: () => ({ deleted: { ...deleted }, left: { ...left }, leftExamples }),
  }
}

async function* batchesOf(
  locations: AsyncIterable<string> | Iterable<string>,
): AsyncIterable<readonly string[]> {
  let batch: string[] = []
  for await (const location of locations) {
    batch.push(location)
    if (batch.length < DELETE_BATCH_MAX) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
