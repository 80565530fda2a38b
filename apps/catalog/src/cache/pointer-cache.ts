import { LRUCache } from 'lru-cache'
import { identifierKey, type TableIdentifier } from '../catalog/table-identifier.ts'

/** What the cache needs to know of a row. */
export interface Pointer extends TableIdentifier {
  readonly warehouseId: string
}

/** Finds the catalog row of a table by its identifier. */
export interface TablePointers<Row extends Pointer> {
  find(warehouseId: string, identifier: TableIdentifier): Row | undefined | Promise<Row | undefined>
  /** The row as a mutation of this process left it. */
  remember(row: Row): void
  /** The name may now mean something else: the next `find` asks the database. */
  forget(warehouseId: string, identifier: TableIdentifier): void
}

export type FindRow<Row> = (
  warehouseId: string,
  identifier: TableIdentifier,
) => Promise<Row | undefined>

/** Asks the database every time: for processes that share their database with others. */
export function readThroughPointers<Row extends Pointer>(
  findRow: FindRow<Row>,
): TablePointers<Row> {
  return { find: findRow, remember: () => {}, forget: () => {} }
}

/**
 * Keeps rows, and the knowledge that a name has no table, in memory. Exact only while this process is the one that
 * changes the database and every mutation calls `remember` or `forget` before it is acknowledged. A look-up that was
 * under way when its name changed is not kept, and later callers do not join it.
 */
export function exactPointers<Row extends Pointer>(
  findRow: FindRow<Row>,
  options: { readonly entriesMax: number },
): TablePointers<Row> {
  const rows = new LRUCache<string, { readonly row: Row | undefined }>({ max: options.entriesMax })
  const reads = new Map<string, Promise<Row | undefined>>()

  async function read(key: string, warehouseId: string, identifier: TableIdentifier) {
    const mine: Promise<Row | undefined> = findRow(warehouseId, identifier)
      .then((row) => {
        if (reads.get(key) === mine) rows.set(key, { row })
        return row
      })
      .finally(() => {
        if (reads.get(key) === mine) reads.delete(key)
      })
    reads.set(key, mine)
    return mine
  }

  return {
    find(warehouseId, identifier) {
      const key = identifierKey(warehouseId, identifier)
      const known = rows.get(key)
      if (known !== undefined) return known.row
      return reads.get(key) ?? read(key, warehouseId, identifier)
    },
    remember(row) {
      const key = identifierKey(row.warehouseId, row)
      reads.delete(key)
      rows.set(key, { row })
    },
    forget(warehouseId, identifier) {
      const key = identifierKey(warehouseId, identifier)
      reads.delete(key)
      rows.delete(key)
    },
  }
}
