import * as changes from '@timelake/database/name-changes'
import type { SqlSession } from '@timelake/database/sql-session'
import type { NameRecords } from '@timelake/storage/name-records'
import type { Logger } from 'pino'

export interface NameKeeper {
  /** Brings the records up to the events that are there now. Calls made meanwhile share one pass. */
  catchUp(): Promise<void>
  /** Ends the looking and catches up a last time. */
  stop(): Promise<void>
}

export interface NameKeeperOptions {
  readonly database: SqlSession
  readonly records: NameRecords
  readonly warehouseId: string
  readonly log: Logger
  /** Time between two looks at the events. */
  readonly intervalMs: number
}

const EVENTS_PER_PASS = 200
const ROWS_PER_PAGE = 500

/**
 * Keeps the warehouse's own copy of the names in step with the database, by its events: every subject of an event is
 * looked up and recorded as it is now, so a repeat does no harm. Begins with every row, in case records are missing,
 * and with all events that are still kept, which covers what a killed process left undone. A failed pass is logged and
 * repeated: the copy is only for recovery.
 */
export function keepNames(options: NameKeeperOptions): NameKeeper {
  let afterSeq = 0n
  let isComplete = false
  let running: Promise<void> | undefined
  const pass = async (): Promise<void> => {
    if (!isComplete) await recordAllNames(options)
    isComplete = true
    for (;;) {
      const lastSeq = await followEvents(options, afterSeq)
      if (lastSeq === undefined) return
      afterSeq = lastSeq
    }
  }
  const catchUp = (): Promise<void> => {
    running ??= pass().finally(() => {
      running = undefined
    })
    return running
  }
  const look = (): Promise<void> =>
    catchUp().catch((error: unknown) => {
      options.log.warn({ err: error }, 'cannot record names in the warehouse; will try again')
    })
  const timer = setInterval(() => void look(), options.intervalMs)
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

async function recordAllNames({
  database,
  records,
  warehouseId,
}: NameKeeperOptions): Promise<void> {
  const page = (afterId: string) => ({ warehouseId, afterId, limit: ROWS_PER_PAGE })
  const namespaces = everyRow((afterId) => changes.listNamedNamespaces(database, page(afterId)))
  for await (const namespace of namespaces) await records.put({ kind: 'namespace', ...namespace })
  const tables = everyRow((afterId) => changes.listNamedTables(database, page(afterId)))
  for await (const table of tables) await records.put({ kind: 'table', ...table })
}

async function* everyRow<Row extends { readonly id: string }>(
  readPage: (afterId: string) => Promise<Row[]>,
): AsyncIterable<Row> {
  for (
    let page = await readPage('');
    page.length > 0;
    page = await readPage(page.at(-1)?.id ?? '')
  ) {
    yield* page
  }
}

async function followEvents(
  options: NameKeeperOptions,
  afterSeq: bigint,
): Promise<bigint | undefined> {
  const { database, records, warehouseId } = options
  const found = await changes.nameChangesAfter(database, {
    warehouseId,
    afterSeq,
    limit: EVENTS_PER_PASS,
  })
  if (found === undefined) return undefined
  const namespaces = await changes.findNamedNamespaces(database, found.namespaceIds)
  for (const namespace of namespaces) await records.put({ kind: 'namespace', ...namespace })
  const tables = await changes.findNamedTables(database, found.tableIds)
  for (const table of tables) await records.put({ kind: 'table', ...table })
  for (const id of without(found.tableIds, tables)) await records.remove({ kind: 'table', id })
  for (const id of without(found.namespaceIds, namespaces)) {
    await records.remove({ kind: 'namespace', id })
  }
  return found.lastSeq
}

function without(ids: readonly string[], rows: readonly { readonly id: string }[]): string[] {
  const present = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !present.has(id))
}
