/*
 * Reading where tables are after an answer was lost. Errors: those of the session.
 */
import type { Database } from './sql-session.ts'

/** The state of a table that is live, or the last one of a table that was dropped. */
export interface SettledPointer {
  readonly metadataLocation: string
  readonly isDropped: boolean
}

const POINTERS = `
select id, metadata_location, false as is_dropped from catalog_table where id = any($1::text[])
union all
select id, metadata_location, true from dropped_table where id = any($1::text[])`

/**
 * The pointers of these tables by id, all of one moment; ids that never were are absent. Waits until every change of them
 * that is under way has ended, such as one whose connection was lost during its commit.
 */
export async function readPointers(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SettledPointer>> {
  return database.transaction(async (session) => {
    await session.query(
      'select 1 from catalog_table where id = any($1::text[]) order by id for share',
      [ids],
    )
    const rows = await session.query<{
      id: string
      metadata_location: string
      is_dropped: boolean
    }>(POINTERS, [ids])
    return new Map(
      rows.map((row) => [
        row.id,
        { metadataLocation: row.metadata_location, isDropped: row.is_dropped },
      ]),
    )
  })
}
