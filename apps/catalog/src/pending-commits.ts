import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import { LRUCache } from 'lru-cache'
import { entriesMax } from './entries-max.ts'
import type { TableCommit } from './catalog/table-commit.ts'
import { type TableIdentifier, identifierKey } from './catalog/table-identifier.ts'

/** A snapshot that a commit adds to a table, or wants to. */
export interface WantedSnapshot {
  readonly warehouseId: string
  readonly identifier: TableIdentifier
  readonly snapshotId: bigint
}

/** Refusals that are remembered, the newest ones. */
const REFUSALS_MAX = 1_000

/**
 * Snapshots whose commits wait or run in this process, and those whose commits failed here lately: for callers who lost
 * the answer. What landed is in the database.
 */
export class PendingCommits {
  readonly #counts = new Map<string, number>()
  readonly #refusals = new LRUCache<string, Error>(entriesMax(REFUSALS_MAX))

  /** Runs the commit that adds these snapshots. */
  async during<T>(wanted: readonly WantedSnapshot[], commit: () => Promise<T>): Promise<T> {
    const keys = wanted.map(keyOf)
    for (const key of keys) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    try {
      return await commit()
    } catch (error) {
      if (error instanceof Error) for (const key of keys) this.#refusals.set(key, error)
      throw error
    } finally {
      for (const key of keys) this.#release(key)
    }
  }

  isPending(wanted: WantedSnapshot): boolean {
    return this.#counts.has(keyOf(wanted))
  }

  /** What the last commit that wanted to add the snapshot ended with, if that was an error. */
  failure(wanted: WantedSnapshot): Error | undefined {
    return this.#refusals.get(keyOf(wanted))
  }

  #release(key: string): void {
    const count = (this.#counts.get(key) ?? 0) - 1
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}

/** The snapshots that commits want to add. */
export function wantedSnapshots(
  warehouseId: string,
  commits: readonly TableCommit[],
): readonly WantedSnapshot[] {
  return commits.flatMap(({ identifier, requests }) =>
    requests.flatMap(snapshotsAdded).map((snapshotId) => ({ warehouseId, identifier, snapshotId })),
  )
}

function keyOf({ warehouseId, identifier, snapshotId }: WantedSnapshot): string {
  return `${snapshotId} ${identifierKey(warehouseId, identifier)}`
}
