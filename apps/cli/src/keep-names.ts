import * as changes from '@timelake/database/name-changes'
import type { SqlSession } from '@timelake/database/sql-session'
import { listWarehouses, type WarehouseRow } from '@timelake/database/warehouses'
import { openNameRecords, type NameRecord, type NameRecords } from '@timelake/storage/name-records'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { Logger } from 'pino'

export interface NameKeeper {
  /** Brings the records up to the events that are there now. Calls made meanwhile share one pass. */
  catchUp(): Promise<void>
  /** Ends the looking and catches up a last time. */
  stop(): Promise<void>
}

export interface NameKeeperOptions {
  readonly database: SqlSession
  readonly stores: WarehouseStores
  readonly log: Logger
  /** Time between two looks at the events. */
  readonly intervalMs: number
}

const EVENTS_PER_PASS = 200
const ROWS_PER_PAGE = 500
/** Looks that are left out after a failed one, doubled with each further failure up to this. */
const LOOKS_LEFT_OUT_MAX = 64

/**
 * Keeps each warehouse's own copy of the names in step with the database, by its events: every subject of an event is
 * looked up and recorded as it is now, so a repeat does no harm. Begins with every row, in case records are missing,
 * and with all events that are still kept, which covers what a killed process left undone. Several processes may do
 * the same: one that wrote something older than another comes to the event of that change afterwards and writes again.
 * A failed pass is logged and repeated, less and less often: the copy is only for recovery.
 */
export function keepNames(options: NameKeeperOptions): NameKeeper {
  const followed = new Map<string, Followed>()
  let running: Promise<void> | undefined
  const catchUp = (): Promise<void> => {
    running ??= followAll(options, followed).finally(() => {
      running = undefined
    })
    return running
  }
  let failures = 0
  let leftOut = 0
  const look = async (): Promise<void> => {
    try {
      await catchUp()
      failures = 0
    } catch (error) {
      leftOut = Math.min(2 ** failures, LOOKS_LEFT_OUT_MAX) - 1
      failures += 1
      options.log.warn({ err: error }, 'cannot record names in the warehouse; will try again')
    }
  }
  const timer = setInterval(() => {
    if (leftOut > 0) leftOut -= 1
    else void look()
  }, options.intervalMs)
  void look()
  timer.unref()
  return {
    catchUp,
    async stop() {
      clearInterval(timer)
      await running?.catch(() => {})
      await look()
    },
  }
}

/** How far the events of one warehouse were followed. */
interface Followed {
  cursor: changes.EventCursor
  isComplete: boolean
}

/** A warehouse with its records. */
interface KeptWarehouse {
  readonly database: SqlSession
  readonly warehouseId: string
  readonly records: NameRecords
}

// A warehouse whose store is gone must not keep the others from being recorded.
async function followAll(
  options: NameKeeperOptions,
  followed: Map<string, Followed>,
): Promise<void> {
  const warehouses = await listWarehouses(options.database)
  const errors: unknown[] = []
  for (const warehouse of warehouses) {
    const progress = followed.get(warehouse.id) ?? {
      cursor: changes.FIRST_EVENT,
      isComplete: false,
    }
    followed.set(warehouse.id, progress)
    try {
      await follow(keptWarehouse(options, warehouse), progress)
    } catch (error) {
      errors.push(error)
    }
  }
  const present = new Set(warehouses.map(({ id }) => id))
  for (const id of followed.keys()) if (!present.has(id)) followed.delete(id)
  if (errors.length > 0)
    throw new AggregateError(errors, `cannot record the names of ${errors.length} warehouses`)
}

function keptWarehouse(
  { database, stores }: NameKeeperOptions,
  warehouse: WarehouseRow,
): KeptWarehouse {
  const records = openNameRecords(stores.storeOf(warehouse), warehouse.location)
  return { database, warehouseId: warehouse.id, records }
}

async function follow(warehouse: KeptWarehouse, progress: Followed): Promise<void> {
  if (!progress.isComplete) await recordAllNames(warehouse)
  progress.isComplete = true
  for (;;) {
    const next = await followEvents(warehouse, progress.cursor)
    if (next === undefined) return
    progress.cursor = next
  }
}

async function recordAllNames(warehouse: KeptWarehouse): Promise<void> {
  const { database, warehouseId, records } = warehouse
  const isRecorded = await records.recorded()
  const page = (afterId: string) => ({ warehouseId, afterId, limit: ROWS_PER_PAGE })
  const recordPage = async (found: readonly NameRecord[]): Promise<void> => {
    const missing = found.filter((record) => !isRecorded(record))
    await recordSubjects(warehouse, {
      namespaceIds: missing.filter(({ kind }) => kind === 'namespace').map(({ id }) => id),
      tableIds: missing.filter(({ kind }) => kind !== 'namespace').map(({ id }) => id),
    })
  }
  await everyPage(
    (afterId) => changes.listNamedNamespaces(database, page(afterId)),
    async (rows) => recordPage(rows.map(namespaceRecord)),
  )
  await everyPage((afterId) => changes.listNamedTables(database, page(afterId)), recordPage)
}

async function everyPage<Row extends { readonly id: string }>(
  readPage: (afterId: string) => Promise<Row[]>,
  take: (rows: readonly Row[]) => Promise<void>,
): Promise<void> {
  for (
    let page = await readPage('');
    page.length > 0;
    page = await readPage(page.at(-1)?.id ?? '')
  ) {
    await take(page)
  }
}

async function followEvents(
  warehouse: KeptWarehouse,
  after: changes.EventCursor,
): Promise<changes.EventCursor | undefined> {
  const { database, warehouseId } = warehouse
  const range = { warehouseId, after, limit: EVENTS_PER_PASS }
  const found = await changes.nameChangesAfter(database, range)
  if (found === undefined) return undefined
  await recordSubjects(warehouse, found)
  return found.cursor
}

interface Subjects {
  readonly tableIds: readonly string[]
  readonly namespaceIds: readonly string[]
}

async function recordSubjects(warehouse: KeptWarehouse, subjects: Subjects): Promise<void> {
  await writeSubjects(warehouse, subjects, await findSubjects(warehouse, subjects))
}

async function findSubjects(
  { database }: KeptWarehouse,
  { namespaceIds, tableIds }: Subjects,
): Promise<NameRecord[]> {
  if (namespaceIds.length + tableIds.length === 0) return []
  const namespaces = await changes.findNamedNamespaces(database, namespaceIds)
  const tables = await changes.findNamedTables(database, tableIds)
  return [...namespaces.map(namespaceRecord), ...tables]
}

async function writeSubjects(
  { records }: KeptWarehouse,
  { namespaceIds, tableIds }: Subjects,
  found: readonly NameRecord[],
): Promise<void> {
  for (const record of found) await records.put(record)
  const present = new Set(found.map(({ id }) => id))
  for (const id of tableIds.filter((each) => !present.has(each))) {
    // The event does not say which of the two it was.
    await records.remove({ kind: 'table', id })
    await records.remove({ kind: 'view', id })
  }
  for (const id of namespaceIds.filter((each) => !present.has(each))) {
    await records.remove({ kind: 'namespace', id })
  }
}

function namespaceRecord(namespace: changes.NamedNamespace): NameRecord {
  return { kind: 'namespace', ...namespace }
}
