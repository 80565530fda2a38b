import type { MetadataLogEntry, TableMetadata } from '../spec/table-metadata.ts'
import { HISTORY_LIMITS, wholeNumber } from './history-properties.ts'

export interface PreviousFile {
  readonly base: TableMetadata
  readonly baseMetadataLocation: string
  /** Those of the table after the commit. */
  readonly properties: ReadonlyMap<string, string>
  /** The time of the commit. */
  readonly nowMs: number
}

/**
 * The metadata log with the file of `base` appended. It keeps the newest `write.metadata.previous-versions-max` entries
 * (at least one), without those that were replaced longer ago than `timelake.metadata.previous-versions-max-age-ms`, when
 * that is above 0. The file of `base` always stays. Times never go backwards.
 */
export function appendPreviousFile(previous: PreviousFile): readonly MetadataLogEntry[] {
  const { base, properties, nowMs } = previous
  const log = base.metadataLog
  const entry = {
    timestampMs: Math.max(base.lastUpdatedMs, log.at(-1)?.timestampMs ?? 0),
    metadataFile: previous.baseMetadataLocation,
  }
  const { previousVersionCountMax, previousVersionAgeMsMax } = HISTORY_LIMITS
  const read = (limit: typeof previousVersionCountMax | typeof previousVersionAgeMsMax): number =>
    wholeNumber(properties.get(limit.property), limit)
  const countMax = Math.max(1, read(previousVersionCountMax))
  const ageMsMax = read(previousVersionAgeMsMax)
  const all = [...log.slice(Math.max(0, log.length - countMax + 1)), entry]
  return ageMsMax > 0 ? withoutOld(all, nowMs - ageMsMax) : all
}

/** An entry says when its file was written; the next one says when it was replaced. */
function withoutOld(
  log: readonly MetadataLogEntry[],
  sinceMs: number,
): readonly MetadataLogEntry[] {
  const first = log.findIndex(
    (_, position) => (log[position + 1]?.timestampMs ?? Infinity) >= sinceMs,
  )
  return log.slice(first)
}
