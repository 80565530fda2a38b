import { InvalidInputError } from '../spec/errors.ts'
import type { ViewHistoryEntry, ViewVersion } from './view-metadata.ts'

const HISTORY_SIZE = 'version.history.num-entries'
const HISTORY_SIZE_DEFAULT = 10

/**
 * The versions that stay, in their order: the current one and the newest by id, `version.history.num-entries` (10)
 * together, and never fewer than what this commit added. Throws InvalidInputError when the property is no positive whole number.
 */
export function retainedVersions(
  versions: readonly ViewVersion[],
  commit: {
    readonly currentVersionId: number
    readonly addedVersionIds: ReadonlySet<number>
    readonly properties: Readonly<Record<string, string>>
  },
): readonly ViewVersion[] {
  const { currentVersionId, addedVersionIds } = commit
  const neededCount = new Set([...addedVersionIds, currentVersionId]).size
  const keptCount = Math.max(neededCount, historySize(commit.properties))
  if (versions.length <= keptCount) return versions
  const newestFirst = versions
    .map(({ versionId }) => versionId)
    .filter((id) => id !== currentVersionId)
    .sort((left, right) => right - left)
  const kept = new Set([currentVersionId, ...newestFirst.slice(0, keptCount - 1)])
  return versions.filter(({ versionId }) => kept.has(versionId))
}

/** The log behind its last entry for a version that is gone, so that it never has a gap. */
export function retainedLog(
  log: readonly ViewHistoryEntry[],
  versions: readonly ViewVersion[],
): readonly ViewHistoryEntry[] {
  const known = new Set(versions.map(({ versionId }) => versionId))
  const lastGap = log.findLastIndex(({ versionId }) => !known.has(versionId))
  return log.slice(lastGap + 1)
}

function historySize(properties: Readonly<Record<string, string>>): number {
  const text = properties[HISTORY_SIZE]
  if (text === undefined) return HISTORY_SIZE_DEFAULT
  if (/^[1-9]\d{0,8}$/.test(text.trim())) return Number(text)
  throw new InvalidInputError(`${HISTORY_SIZE} must be positive but was ${text}`)
}
