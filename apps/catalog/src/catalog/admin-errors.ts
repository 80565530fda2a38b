import type { WarehouseContents } from '@timelake/database/warehouses'

export class WarehouseExistsError extends Error {
  override readonly name = 'WarehouseExistsError'
  constructor(warehouse: string) {
    super(`Warehouse already exists: ${warehouse}`)
  }
}

/** A warehouse would lie at, above or inside the place of another one in the same store. */
export class WarehouseLocationTakenError extends Error {
  override readonly name = 'WarehouseLocationTakenError'
  constructor(location: string, other: { readonly name: string; readonly location: string }) {
    super(
      `cannot use ${location}: expected a place that is neither inside nor above another warehouse of the same store, ` +
        `found warehouse ${other.name} at ${other.location}`,
    )
  }
}

/** Somebody else changed the warehouse since the caller read it. */
export class WarehouseChangedError extends Error {
  override readonly name = 'WarehouseChangedError'
  constructor(warehouse: string, expectedVersion: bigint) {
    super(
      `cannot change warehouse ${warehouse}: expected version ${expectedVersion}, found a newer one`,
    )
  }
}

export class WarehouseNotEmptyError extends Error {
  override readonly name = 'WarehouseNotEmptyError'
  constructor(action: string, warehouse: string, contents: WarehouseContents) {
    super(`cannot ${action} warehouse ${warehouse}: it holds ${contentsText(contents)}`)
  }
}

function contentsText({ namespaces, tables, views, droppedTables }: WarehouseContents): string {
  const counts = [
    [namespaces, 'namespace(s)'],
    [tables, 'table(s)'],
    [views, 'view(s)'],
    [droppedTables, 'dropped table(s) whose files were not purged'],
  ] as const
  return counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}`)
    .join(', ')
}

/** The files of a dropped table are being deleted, or are gone. */
export class PurgeBegunError extends Error {
  override readonly name = 'PurgeBegunError'
  constructor(action: string, id: string) {
    super(
      `cannot ${action} table ${id}: expected files that nobody deletes, found a purge that has begun`,
    )
  }
}

/** A dropped table cannot come back to where it was. */
export class UndropConflictError extends Error {
  override readonly name = 'UndropConflictError'
}
