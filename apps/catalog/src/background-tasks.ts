import type { Logger } from 'pino'

/**
 * Work that nobody waits for, such as deleting metadata files that fell out of the log. A failure is logged and
 * changes nothing that was acknowledged.
 */
export class BackgroundTasks {
  readonly #log: Logger
  readonly #running = new Set<Promise<void>>()

  constructor(log: Logger) {
    this.#log = log
  }

  start(what: string, task: () => Promise<void>): void {
    const running: Promise<void> = task()
      .catch((error: unknown) => this.#log.warn({ err: error }, `background task failed: ${what}`))
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when everything that was started has ended. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
