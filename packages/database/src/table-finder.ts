/*
 * Looking many tables up at once: look-ups that wait at the same moment share one query. Each answer is from a query that
 * began after its look-up was asked for, so it sees every commit that was acknowledged before, in whatever process.
 * Errors: those of the session; look-ups that shared a query share its failure.
 */
import { findTable } from './find-tables.ts'
import type { SqlSession } from './sql-session.ts'
import { areStorableLevels, isStorableName, joinLevels } from './stored-name.ts'
import {
  JOIN_NAMESPACE,
  TABLE_COLUMNS,
  type TableRecord,
  type TableRow,
  tableRowOf,
} from './table-row.ts'

export interface TableKey {
  readonly warehouseId: string
  readonly levels: readonly string[]
  readonly name: string
}

/** Queries under way at once: a second one, so that nobody waits for one that hangs. */
const QUERIES_MAX = 2

/** Look-ups that one query takes at most. */
const KEYS_PER_QUERY_MAX = 256

interface Waiting {
  readonly key: TableKey
  resolve(row: TableRow | undefined): void
  reject(error: unknown): void
}

/** Finds tables and views by name like findTable does, many with one query. */
export class TableFinder {
  readonly #session: SqlSession
  #waiting: Waiting[] = []
  #queryCount = 0

  constructor(session: SqlSession) {
    this.#session = session
  }

  /** The table or view of exactly this name: there is at most one. */
  find(key: TableKey): Promise<TableRow | undefined> {
    if (!areStorableLevels(key.levels) || !isStorableName(key.name)) {
      return Promise.resolve(undefined)
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject })
      if (this.#queryCount < QUERIES_MAX) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#queryCount += 1
    // What is asked for in the same turn of the event loop goes together.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, KEYS_PER_QUERY_MAX)
      await answer(this.#session, batch)
    }
    this.#queryCount -= 1
  }
}

// Each key by itself, which `limit` makes sure of: by index, however many namespaces there are.
const FIND_MANY = `
select i.place, found.*
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as i(warehouse_id, levels, name, place)
cross join lateral (
  select ${TABLE_COLUMNS} from catalog_table t ${JOIN_NAMESPACE}
  where t.name = i.name and t.namespace_id =
    (select id from namespace where warehouse_id = i.warehouse_id and levels = i.levels)
  limit 1
) as found`

async function answer(session: SqlSession, batch: readonly Waiting[]): Promise<void> {
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

/** The tables of these keys, in their order; undefined where there is none. */
async function findMany(
  session: SqlSession,
  keys: readonly TableKey[],
): Promise<readonly (TableRow | undefined)[]> {
  const [first] = keys
  // Alone, the simple statement is the faster one.
  if (first !== undefined && keys.length === 1) return [await findTable(session, first)]
  const records = await session.query<TableRecord & { readonly place: bigint }>(FIND_MANY, [
    keys.map(({ warehouseId }) => warehouseId),
    keys.map(({ levels }) => joinLevels(levels)),
    keys.map(({ name }) => name),
  ])
  const rows = new Map(records.map((record) => [record.place, tableRowOf(record)]))
  return keys.map((_, index) => rows.get(BigInt(index + 1)))
}
