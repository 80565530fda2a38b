import { isLocationBelow } from '@timelake/iceberg/spec/location'

/** Files that are deleted between two looks at whether the table may still be purged. */
export const DELETE_BATCH_MAX = 1_000
/** Files that are deleted at the same time. */
export const DELETES_MAX = 8
/** Left files that an outcome names; all of them are counted. */
const EXAMPLES_MAX = 10

export type PurgedKind = 'data' | 'statistics' | 'manifest' | 'manifest-list' | 'metadata'

/**
 * Why a file was left. `outside`: not below a folder of the table; `shared`: below one that a live table uses too;
 * `encrypted`; `refused`: the store does not serve it.
 */
export type LeftReason = 'outside' | 'shared' | 'encrypted' | 'refused'

export interface PurgeCounts {
  readonly deleted: Readonly<Record<PurgedKind, number>>
  /** Named, but not there: deleted by an earlier run, by somebody else, or named twice. */
  readonly absent: number
  readonly left: Readonly<Record<LeftReason, number>>
  /** Some of the files that were left. */
  readonly leftExamples: readonly string[]
}

export interface DeleteContext {
  /** `refused`: the store does not serve that place. */
  deleteFile(location: string): Promise<'deleted' | 'absent' | 'refused'>
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
   * Deletes the files that are the table's own, in batches, and leaves the others. Errors: PurgeStoppedError, those of
   * the store, the signal's reason; what was deleted by then stays counted.
   */
  deleteAll(kind: PurgedKind, locations: AsyncIterable<string> | Iterable<string>): Promise<void>
  counts(): PurgeCounts
}

/** A deleter for the files below `own`; nothing else is ever deleted by it. */
export function fileDeleter(context: DeleteContext, { own, shared }: DeleteFolders): FileDeleter {
  const deleted = { data: 0, statistics: 0, manifest: 0, 'manifest-list': 0, metadata: 0 }
  const left = { outside: 0, shared: 0, encrypted: 0, refused: 0 }
  const leftExamples: string[] = []
  let absent = 0
  const isBelowAny = (folders: readonly string[], location: string): boolean =>
    folders.some((folder) => isLocationBelow(folder, location))
  const leave = (location: string, reason: LeftReason): void => {
    left[reason] += 1
    if (leftExamples.length < EXAMPLES_MAX) leftExamples.push(location)
  }
  // A folder that holds a shared one is shared too, so own folders hold nothing of others.
  const owns = (location: string): boolean => isBelowAny(own, location)
  const deleteOne = async (kind: PurgedKind, location: string): Promise<void> => {
    if (!owns(location)) return leave(location, isBelowAny(shared, location) ? 'shared' : 'outside')
    context.signal.throwIfAborted()
    const outcome = await context.deleteFile(location)
    if (outcome === 'deleted') deleted[kind] += 1
    else if (outcome === 'absent') absent += 1
    else leave(location, 'refused')
  }
  return {
    owns,
    leave,
    async deleteAll(kind, locations) {
      for await (const batch of batchesOf(locations)) {
        context.signal.throwIfAborted()
        const obstacle = await context.obstacle()
        if (obstacle !== undefined) throw new PurgeStoppedError(obstacle)
        await eachBounded(batch, (location) => deleteOne(kind, location))
      }
    },
    counts: () => ({ deleted: { ...deleted }, absent, left: { ...left }, leftExamples }),
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

/** At most DELETES_MAX at a time; after the first failure none is begun, and those that run are waited for. */
async function eachBounded(
  locations: readonly string[],
  run: (location: string) => Promise<void>,
): Promise<void> {
  const queue = locations.values()
  let failure: { readonly error: unknown } | undefined
  const work = async (): Promise<void> => {
    for (const location of queue) {
      if (failure !== undefined) return
      await run(location).catch((error: unknown) => {
        failure ??= { error }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(DELETES_MAX, locations.length) }, work))
  if (failure !== undefined) throw failure.error
}
