import { invariant } from '../spec/invariant.ts'
import type { Snapshot } from '../spec/snapshot.ts'

/** Look-ups answered by walking the list, before an index over all snapshots is worth its price. */
const LOOKUPS_WITHOUT_INDEX_MAX = 4

/**
 * The snapshots of a draft: look-up, addition and removal by id in constant time, order kept.
 * The list of the base is shared until the first addition, an index is built at most once, and removed
 * snapshots are left out in one pass at the end, so a thousand removals cost one walk over the list.
 */
export class SnapshotSet {
  #all: readonly Snapshot[]
  #owned: Snapshot[] | undefined = undefined
  #positions: Map<bigint, number> | undefined = undefined
  #removedPositions = new Set<number>()
  #addedIds = new Set<bigint>()
  #lookupCount = 0

  constructor(snapshots: readonly Snapshot[]) {
    this.#all = snapshots
  }

  /** The snapshot with this id, unless it was removed. */
  find(snapshotId: bigint): Snapshot | undefined {
    if (this.#positions === undefined && this.#lookupCount < LOOKUPS_WITHOUT_INDEX_MAX) {
      this.#lookupCount += 1
      return this.#all.findLast((snapshot) => snapshot.snapshotId === snapshotId)
    }
    const position = this.#index().get(snapshotId)
    return position === undefined ? undefined : this.#all[position]
  }

  /** Whether the snapshot was added to this set and not removed again. */
  wasAdded(snapshotId: bigint): boolean {
    return this.#addedIds.has(snapshotId)
  }

  add(snapshot: Snapshot): void {
    invariant(
      this.find(snapshot.snapshotId) === undefined,
      `snapshot ${snapshot.snapshotId} added twice`,
    )
    if (this.#owned === undefined) {
      this.#owned = [...this.#all]
      this.#all = this.#owned
    }
    this.#positions?.set(snapshot.snapshotId, this.#owned.length)
    this.#owned.push(snapshot)
    this.#addedIds.add(snapshot.snapshotId)
  }

  /** True when there was such a snapshot. */
  remove(snapshotId: bigint): boolean {
    const index = this.#index()
    const position = index.get(snapshotId)
    if (position === undefined) return false
    index.delete(snapshotId)
    this.#removedPositions.add(position)
    this.#addedIds.delete(snapshotId)
    return true
  }

  get hasRemovals(): boolean {
    return this.#removedPositions.size > 0
  }

  /** The snapshots left, in the order of the base followed by the added ones. */
  toList(): readonly Snapshot[] {
    if (!this.hasRemovals) return this.#all
    return this.#all.filter((_, position) => !this.#removedPositions.has(position))
  }

  #index(): Map<bigint, number> {
    this.#positions ??= new Map(
      this.#all.map((snapshot, position) => [snapshot.snapshotId, position]),
    )
    return this.#positions
  }
}
