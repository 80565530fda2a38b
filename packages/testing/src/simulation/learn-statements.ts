import type { Database } from '@timelake/database/sql-session'

/** What stops a call once its statements are known. */
class LearnedError extends Error {
  override readonly name = 'LearnedError'
}

/** A statement as it was sent. */
export interface SentStatement {
  readonly text: string
  readonly params: readonly unknown[]
}

/**
 * The first `count` statements that a function of `packages/database` sends; those before the last are answered with no
 * rows. So the model knows a statement by the function that uses it, and nobody copies SQL.
 */
export async function learnStatements(
  call: (database: Database) => Promise<unknown>,
  count = 1,
): Promise<readonly SentStatement[]> {
  const sent: SentStatement[] = []
  const query = <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
    sent.push({ text, params })
    return sent.length < count ? Promise.resolve([]) : Promise.reject(new LearnedError())
  }
  const runScript = (): Promise<void> => Promise.reject(new LearnedError())
  const session = { query, runScript }
  const database = {
    ...session,
    transaction: <T>(run: (inner: typeof session) => Promise<T>) => run(session),
  }
  try {
    await call({ ...database, close: () => Promise.resolve() })
  } catch (error) {
    if (!(error instanceof LearnedError)) throw error
  }
  return sent
}
