import type { TableRow } from '@timelake/database/table-row'
import { CommitStateUnknownError, MetadataFileMissingError } from '../catalog/catalog-errors.ts'
import type { StoredOutcome } from '../catalog/mutation-scope.ts'
import type { HttpAnswer } from './exchange.ts'
import { storedAnswer } from './idempotency.ts'

/** How the metadata of a table or view is found again. */
export interface LoadedReplay<Loaded> {
  /** Throws MetadataFileMissingError. */
  get(metadataLocation: string): Promise<Loaded>
  /** The row that the name has now. */
  findRow(): TableRow | undefined | Promise<TableRow | undefined>
  answer(loaded: Loaded): HttpAnswer | Promise<HttpAnswer>
}

/**
 * The answer of a mutation whose outcome is a metadata location: that metadata, or the newest when the file has been deleted
 * since. When neither can be read the answer is "unknown": the caller must not take it for a failure and delete its
 * files.
 */
export async function replayLoaded<Loaded>(
  outcome: StoredOutcome,
  replay: LoadedReplay<Loaded>,
): Promise<HttpAnswer> {
  const { metadataLocation } = outcome
  if (metadataLocation === undefined) return storedAnswer(outcome)
  const loaded = (await readIfThere(replay, metadataLocation)) ?? (await readNewest(replay))
  if (loaded !== undefined) return replay.answer(loaded)
  throw new CommitStateUnknownError('the request was applied, but its result is not there any more')
}

async function readNewest<Loaded>(replay: LoadedReplay<Loaded>): Promise<Loaded | undefined> {
  const row = await replay.findRow()
  return row === undefined ? undefined : readIfThere(replay, row.metadataLocation)
}

async function readIfThere<Loaded>(
  { get }: LoadedReplay<Loaded>,
  metadataLocation: string,
): Promise<Loaded | undefined> {
  try {
    return await get(metadataLocation)
  } catch (error) {
    if (error instanceof MetadataFileMissingError) return undefined
    throw error
  }
}
