import { CommitQueueFullError, NotAppliedError } from './catalog/catalog-errors.ts'

interface Lane {
  depth: number
  /** Resolves when the last of its tasks has ended. */
  tail: Promise<unknown>
}

/**
 * Runs the mutations of one table one after another, in the order in which they came; different tables do not wait
 * for each other. Correctness across processes rests on the compare-and-swap, not on these queues.
 */
export class CommitLanes {
  readonly #depthMax: number
  readonly #lanes = new Map<string, Lane>()
  #isStopped = false

  constructor(options: { readonly depthMax: number }) {
    this.#depthMax = options.depthMax
  }

  /**
   * Runs the task when all earlier ones of the lane have ended, whatever their outcome. Throws
   * CommitQueueFullError when `depthMax` tasks wait or run already, NotAppliedError after `drain` was called.
   */
  run<T>(lane: string, task: () => Promise<T>): Promise<T> {
    return this.runAcross([lane], task)
  }

  /**
   * The same for a task that needs several lanes at once: it runs when it is the first in each of them. It takes its places
   * in one go, before any other task can come between, so tasks wait only for earlier ones and never in a circle,
   * whatever the order of their lanes. A task that is refused has taken no place.
   */
  runAcross<T>(lanes: readonly string[], task: () => Promise<T>): Promise<T> {
    if (this.#isStopped) return Promise.reject(new NotAppliedError('the server is stopping'))
    const names = [...new Set(lanes)]
    const full = names.find((name) => this.#depthOf(name) >= this.#depthMax)
    if (full !== undefined) {
      const text = `cannot queue a commit: ${this.#depthOf(full)} commits wait for this table already`
      return Promise.reject(new CommitQueueFullError(text))
    }
    const places = names.map((name) => this.#enter(name))
    const result = turnOf(places).then(task)
    const ended = result.then(ignore, ignore)
    for (const [at, place] of places.entries()) {
      place.tail = ended.then(() => this.#leave(names[at] ?? '', place))
    }
    return result
  }

  /** Whether a task of this lane would run at once. */
  isFree(lane: string): boolean {
    return this.#depthOf(lane) === 0
  }

  /** Tasks that run or wait; one with several lanes counts in each. */
  get depth(): number {
    let sum = 0
    for (const { depth } of this.#lanes.values()) sum += depth
    return sum
  }

  /** Refuses new tasks and resolves when all accepted ones have ended. */
  async drain(): Promise<void> {
    this.#isStopped = true
    while (this.#lanes.size > 0) {
      await Promise.all([...this.#lanes.values()].map(({ tail }) => tail))
    }
  }

  #depthOf(name: string): number {
    return this.#lanes.get(name)?.depth ?? 0
  }

  #enter(name: string): Lane {
    const lane = this.#lanes.get(name) ?? { depth: 0, tail: Promise.resolve() }
    this.#lanes.set(name, lane)
    lane.depth += 1
    return lane
  }

  #leave(name: string, lane: Lane): void {
    lane.depth -= 1
    if (lane.depth === 0) this.#lanes.delete(name)
  }
}

/** Resolves when everybody in front has left. */
function turnOf(places: readonly Lane[]): Promise<unknown> {
  const [only] = places
  return only !== undefined && places.length === 1
    ? only.tail
    : Promise.all(places.map(({ tail }) => tail))
}

function ignore(): void {}
