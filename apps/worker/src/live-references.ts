import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { listWarehouseTables } from '@timelake/database/find-tables'
import type { SqlSession } from '@timelake/database/sql-session'
import type { TableRow } from '@timelake/database/table-row'
import { listWarehouses } from '@timelake/database/warehouses'
import {
  reachesInto,
  tableReach,
  type TableReach,
} from '@timelake/iceberg/maintenance/reachable-files'
import { readTableMetadata, type ReadIfPresent } from '@timelake/timelake/read-table-metadata'

/** Some live table's metadata cannot be read, so nobody knows what may be deleted. */
export class UnknownReferencesError extends Error {
  override readonly name = 'UnknownReferencesError'
}

export interface LiveReferencesOptions {
  readonly database: SqlSession
  /** How the files of a warehouse are read. */
  readonly readerOf: (warehouseId: string) => Promise<ReadIfPresent>
}

/** Finds which folders the metadata of live tables has to do with. */
export interface LiveReferences {
  /** Those of the folders that a live table of any warehouse uses, with the name of one that does. */
  usersOf(folders: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>
}

const ROWS_PER_PAGE = 500
/** Metadata files whose reach is remembered; a file never changes, so that stays right. */
const REMEMBERED_MAX = 100_000

/**
 * Reads the metadata file of every live table once; its manifests are not read. A table whose metadata file is gone can
 * be read by nobody and uses nothing beyond its location. Throws UnknownReferencesError when that of a table cannot be
 * read; other errors: those of the database, the signal's reason.
 */
export function liveReferences({ database, readerOf }: LiveReferencesOptions): LiveReferences {
  const remembered = new Map<string, TableReach>()
  const reachOf = async (row: TableRow, signal: AbortSignal): Promise<TableReach> => {
    const key = `${row.warehouseId} ${row.metadataLocation}`
    const known = remembered.get(key)
    if (known !== undefined) return known
    const read = await readerOf(row.warehouseId)
    const metadata = await readTableMetadata(read, row.metadataLocation, signal)
    if (metadata === undefined) return { roots: [row.location], fileFolders: [] }
    const reach = tableReach(metadata, tableRoots(metadata))
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    remembered.set(key, reach)
    return reach
  }
  return {
    async usersOf(folders, signal) {
      const users = new Map<string, string>()
      for await (const row of liveTables(database)) {
        signal.throwIfAborted()
        const reach = await reachOf(row, signal).catch((cause: unknown) => {
          throw new UnknownReferencesError(`cannot tell which files table ${nameOf(row)} uses`, {
            cause,
          })
        })
        for (const folder of folders) {
          if (!users.has(folder) && reachesInto(reach, folder)) users.set(folder, nameOf(row))
        }
      }
      return users
    },
  }
}

async function* liveTables(database: SqlSession): AsyncIterable<TableRow> {
  for (const { id: warehouseId } of await listWarehouses(database)) {
    let page: readonly TableRow[] = []
    do {
      const afterId = page.at(-1)?.id
      page = await listWarehouseTables(database, { warehouseId, afterId, limit: ROWS_PER_PAGE })
      yield* page
    } while (page.length === ROWS_PER_PAGE)
  }
}

function nameOf({ levels, name }: TableRow): string {
  return [...levels, name].join('.')
}
