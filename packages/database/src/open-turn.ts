import type { StatementResult } from './pglite-connection.ts'

/** What a turn holder may send: everything goes to the one session behind it. */
export interface OpenTurn {
  execute(text: string, params: readonly unknown[]): Promise<StatementResult>
  script(text: string): Promise<StatementResult>
}
