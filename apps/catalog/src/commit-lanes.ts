import { CommitQueueFullError, NotAppliedError } from './catalog/catalog-errors.ts'

/**
 * Runs the mutations of one table one after another, in the order in which they came; different tables do not wait
 * for each other. Correctness across processes rests on the compare-and-swap, not on these queues.
 */
export class CommitLanes {
  readonly #depthMax: number
  readonly #lanes = new Map<string, { depth: number; tail: Promise<unknown> }>()
  #isStopped = false

  constructor(options: { readonly depthMax: number }) {
    this.#depthMax = options.depthMax
  }

  /**
   * Runs the task when all earlier ones of the lane have ended, whatever their outcome. Throws
   * CommitQueueFullError when `depthMax` tasks wait or run already, NotAppliedError after `drain` was called.
   */
  run<T>(lane: string, task: () => Promise<T>): Promise<T> {
    if (this.#isStopped) return Promise.reject(new NotAppliedError('the server is stopping'))
    const state = this.#lanes.get(lane) ?? { depth: 0, tail: Promise.resolve() }
    if (state.depth >= this.#depthMax) {
      const text = `cannot queue a commit: ${state.depth} commits wait for this table already`
      return Promise.reject(new CommitQueueFullError(text))
    }
    this.#lanes.set(lane, state)
    state.depth += 1
    const result = state.tail.then(task)
    state.tail = result.then(ignore, ignore).then(() => this.#leave(lane, state))
    return result
  }

  /** Tasks that run or wait. */
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

  #leave(lane: string, state: { depth: number }): void {
    state.depth -= 1
    if (state.depth === 0) this.#lanes.delete(lane)
  }
}

function ignore(): void {}
