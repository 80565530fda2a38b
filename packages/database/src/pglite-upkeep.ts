import { StatementError } from './database-errors.ts'
import type { OpenTurn } from './open-turn.ts'

const STATEMENTS_BETWEEN_LOOKS = 1000
const LOG_BYTES_MAX = 32 * 1024 * 1024
const DEAD_ROWS_MIN = 500
const TABLES_PER_LOOK_MAX = 5

/**
 * PGlite runs no background processes: without this the write-ahead log grows for ever and dead rows are never
 * removed. Counts statements, and every so many asks for a look, which checkpoints a long log and vacuums tables with
 * many dead rows.
 */
export class PgliteUpkeep {
  #statements = 0

  /** True when it is time for `look`. */
  countStatement(): boolean {
    this.#statements += 1
    return this.#statements % STATEMENTS_BETWEEN_LOOKS === 0
  }

  async look(turn: OpenTurn): Promise<void> {
    try {
      await checkpointLongLog(turn)
      await vacuumWornTables(turn)
    } catch (error) {
      // A table that was dropped meanwhile: the next look finds what is left. A failed database tells its users itself.
      if (!(error instanceof StatementError)) throw error
    }
  }
}

async function checkpointLongLog(turn: OpenTurn): Promise<void> {
  const { rows } = await turn.execute(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > $1 from pg_control_checkpoint()',
    [LOG_BYTES_MAX],
  )
  if (rows[0]?.[0] === 't') await turn.script('CHECKPOINT')
}

async function vacuumWornTables(turn: OpenTurn): Promise<void> {
  // A session counts for itself and reports at most once a second; what it has not reported cannot be seen below.
  await turn.execute('select pg_stat_force_next_flush()', [])
  const { rows } = await turn.execute(
    `select format('%I.%I', schemaname, relname) from pg_stat_user_tables
     where n_dead_tup > $1 + n_live_tup / 5 order by n_dead_tup desc limit $2`,
    [DEAD_ROWS_MIN, TABLES_PER_LOOK_MAX],
  )
  for (const [table] of rows) await turn.script(`VACUUM (ANALYZE) ${table}`)
}
