import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import type { Database, SqlSession } from '@timelake/database/sql-session'

export type FaultyRow = Record<string, unknown>

/** What a test lets go wrong between the catalog and its database. */
export interface DatabaseFaults {
  /** Nothing gets through, and the catalog knows it. */
  isDown?: boolean
  /** `before`: changes do not arrive. `after`: they are applied and the answer is lost. Neither looks different. */
  lose?: 'before' | 'after'
  /** Called when a change was lost, for example to let the next one through. */
  onLost?: () => void
  /** Around every statement that changes something. */
  statement?: (run: () => Promise<FaultyRow[]>) => Promise<FaultyRow[]>
}

const CHANGES_SOMETHING = /(update|insert into|delete from) (catalog_table|namespace|warehouse)\b/

/** The database behind faults, which may change at any time. A transaction is lost as a whole. */
export function faultyDatabase(database: Database, faultsNow: () => DatabaseFaults): Database {
  function lost(): DatabaseUnavailableError {
    faultsNow().onLost?.()
    return new DatabaseUnavailableError('connection lost')
  }

  function checkUp(): void {
    if (faultsNow().isDown) throw new DatabaseUnavailableError('down', { isUnsent: true })
  }

  async function query<Row>(
    inner: SqlSession,
    text: string,
    params?: readonly unknown[],
  ): Promise<Row[]> {
    const run = () => inner.query<Row>(text, params)
    if (!CHANGES_SOMETHING.test(text)) return run()
    const { lose, statement } = faultsNow()
    if (lose === 'before') throw lost()
    // `as`: the fault passes through the rows that it gets.
    return statement === undefined
      ? run()
      : ((await statement(run as () => Promise<FaultyRow[]>)) as Row[])
  }

  return {
    async query<Row>(text: string, params?: readonly unknown[]) {
      checkUp()
      const rows = await query<Row>(database, text, params)
      if (CHANGES_SOMETHING.test(text) && faultsNow().lose === 'after') throw lost()
      return rows
    },
    async transaction(run) {
      checkUp()
      let isChange = false
      const value = await database.transaction((session) =>
        run({
          query: (text, params) => {
            isChange ||= CHANGES_SOMETHING.test(text)
            return query(session, text, params)
          },
          runScript: (text) => session.runScript(text),
        }),
      )
      if (isChange && faultsNow().lose === 'after') throw lost()
      return value
    },
    runScript: (text) => database.runScript(text),
    close: () => database.close(),
  }
}
