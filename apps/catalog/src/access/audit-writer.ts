import { type AuditEntry, writeAuditEntries } from '@timelake/database/audit-log'
import type { Counter } from 'prom-client'
import type { BackgroundTasks } from '../background-tasks.ts'
import type { CatalogContext } from '../context.ts'
import type { AuditTrail } from './audit.ts'

/** How long entries wait for others, to be written together. */
const WRITE_AFTER_MS = 250
const TRY_AGAIN_AFTER_MS = 1_000
const BATCH_ENTRIES_MAX = 500
/** While the database is away, so many wait for it; further ones are lost. */
const WAITING_ENTRIES_MAX = 20_000

export interface AuditWriterParts {
  readonly context: Pick<CatalogContext, 'database' | 'delay' | 'log'>
  readonly background: BackgroundTasks
  /** Counts the entries that were lost. */
  readonly lost: Pick<Counter, 'inc'>
}

/**
 * Writes the audit log behind the requests, in their order. A request never waits for it and never fails for it; a process
 * that is killed loses what it did not write in the last quarter of a second. When the answer of the database is lost, entries
 * may be written twice.
 */
export class AuditWriter implements AuditTrail {
  readonly #parts: AuditWriterParts
  readonly #waiting: AuditEntry[] = []
  readonly #stopping = new AbortController()
  #isWriting = false

  constructor(parts: AuditWriterParts) {
    this.#parts = parts
  }

  record(entry: AuditEntry): void {
    if (this.#waiting.length >= WAITING_ENTRIES_MAX) {
      this.#parts.lost.inc()
      return
    }
    this.#waiting.push(entry)
    if (this.#isWriting) return
    this.#isWriting = true
    this.#parts.background.start('write the audit log', () => this.#writeAll())
  }

  /** What waits is written at once, if the database takes it; draining the background tasks waits for that. */
  stop(): void {
    this.#stopping.abort()
  }

  async #writeAll(): Promise<void> {
    const { delay } = this.#parts.context
    const { signal } = this.#stopping
    try {
      await delay(WRITE_AFTER_MS, signal)
      while (this.#waiting.length > 0) {
        const isWritten = await this.#writeBatch()
        if (!isWritten && signal.aborted) return this.#loseAll()
        if (!isWritten) await delay(TRY_AGAIN_AFTER_MS, signal)
      }
    } finally {
      this.#isWriting = false
    }
  }

  async #writeBatch(): Promise<boolean> {
    const { database, log } = this.#parts.context
    const batch = this.#waiting.slice(0, BATCH_ENTRIES_MAX)
    try {
      await writeAuditEntries(database, batch)
      this.#waiting.splice(0, batch.length)
      return true
    } catch (error) {
      log.warn({ err: error, waiting: this.#waiting.length }, 'the audit log is not written')
      return false
    }
  }

  #loseAll(): void {
    this.#parts.lost.inc(this.#waiting.length)
    this.#waiting.length = 0
  }
}
