/*
 * Gathers the look-ups that wait at the same moment into one query. One query is under way at a time; what comes
 * meanwhile goes with the next one, so each look-up still begins after it was asked for and sees what was committed by
 * then.
 */
import { findMany, type TableKey } from './find-many.ts'
import { findTable } from './find-tables.ts'
import type { SqlSession } from './sql-session.ts'
import type { TableRow } from './table-row.ts'

interface Waiting {
  readonly key: TableKey
  resolve(row: TableRow | undefined): void
  reject(error: unknown): void
}

/** Look-ups that one query takes at most. */
export const KEYS_PER_QUERY_MAX = 128

/** Runs look-ups like findTable does, many in one round trip. */
export class FindBatcher {
  readonly #session: SqlSession
  #waiting: Waiting[] = []
  #isRunning = false

  constructor(session: SqlSession) {
    this.#session = session
  }

  /** The same answers and errors as findTable. */
  find(key: TableKey): Promise<TableRow | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject })
      if (!this.#isRunning) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // What is asked for in the same turn of the event loop goes together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, KEYS_PER_QUERY_MAX)
      await answer(this.#session, batch)
    }
    this.#isRunning = false
  }
}

async function answer(session: SqlSession, batch: readonly Waiting[]): Promise<void> {
  const [only, ...others] = batch
  if (only !== undefined && others.length === 0) {
    return findTable(session, only.key).then(only.resolve, only.reject)
  }
  try {
    const rows = await findMany(
      session,
      batch.map(({ key }) => key),
    )
    batch.forEach(({ resolve }, index) => resolve(rows[index]))
  } catch (error) {
    for (const { reject } of batch) reject(error)
  }
}
