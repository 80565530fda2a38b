import type { BackgroundTasks } from '../background-tasks.ts'
import { Slots } from '../slots.ts'

/** Plans that one process works on at the same time while their callers poll; the others wait. */
const RUNS_MAX = 4

interface Run {
  /** Never rejects. */
  readonly ended: Promise<void>
  readonly abort: AbortController
}

/** Plans that this process works on while their callers poll. */
export class PlanRuns {
  readonly #background: BackgroundTasks
  readonly #running = new Map<string, Run>()
  readonly #slots = new Slots(RUNS_MAX)

  constructor(background: BackgroundTasks) {
    this.#background = background
  }

  /** Starts the work unless it goes on already; its outcome is where `run` leaves it. */
  start(uuid: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#running.has(uuid)) return
    const abort = new AbortController()
    const { signal } = abort
    const done = this.#slots
      .run(async () => {
        if (!signal.aborted) await run(signal)
      })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      .finally(() => this.#running.delete(uuid))
    this.#running.set(uuid, { ended: done.catch(() => {}), abort })
    this.#background.start('plan a scan', () => done)
  }

  /** Resolves when the work has ended, at once when there is none. */
  async ended(uuid: string): Promise<void> {
    await this.#running.get(uuid)?.ended
  }

  /** Ends the work at its next step, and what it holds is free. */
  cancel(uuid: string): void {
    this.#running.get(uuid)?.abort.abort()
  }

  /** Ends all of it: another process goes on when it is asked. */
  stop(): void {
    for (const { abort } of this.#running.values()) abort.abort()
  }

  get count(): number {
    return this.#running.size
  }
}
