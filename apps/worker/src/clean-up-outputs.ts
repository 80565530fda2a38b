import { findTableById } from '@timelake/database/find-tables'
import {
  abandonedRunsWithOutputs,
  forgetJobOutputs,
  listJobRuns,
  type UnsettledRun,
} from '@timelake/database/job-runs'
import type { Database } from '@timelake/database/sql-session'
import { NoSuchTableError } from '@timelake/iceberg/io/rest-catalog-errors'
import type { CompactionStore } from '@timelake/timelake/compaction-context'
import { unreferencedOutputs } from '@timelake/timelake/unreferenced-outputs'
import { identifierOf, type CatalogOfTable } from './table-catalogs.ts'

export interface CleanUpOptions {
  readonly database: Database
  /** The objects of a warehouse. */
  readonly storeOf: (warehouseId: string) => Promise<CompactionStore>
  readonly catalogOf: CatalogOfTable
  readonly workerId: string
  /** Runs that this process is working on; whatever the database says of them, they are alive. */
  readonly activeRunIds: ReadonlySet<string>
  readonly isOnlyWorker: boolean
  readonly graceMs: number
  nowMs(): number
}

/** What became of the outputs of one dead run; `kept` names why they were left for a later look. */
export type CleanedRun =
  | { readonly outcome: 'settled'; readonly runId: string; readonly deletedCount: number }
  | { readonly outcome: 'kept'; readonly runId: string; readonly reason: string }

/** Runs whose outputs are looked at in one pass. */
const RUNS_MAX = 20
/** Runs of a table that are searched for one. */
const HISTORY_MAX = 100

/**
 * Removes what dead and failed runs wrote and no snapshot names. Only recorded locations are touched, only in tables that
 * can be read whole, and only when nobody alive can still commit them.
 */
export async function cleanUpOutputs(
  options: CleanUpOptions,
  signal: AbortSignal,
): Promise<readonly CleanedRun[]> {
  const runs = await abandonedRunsWithOutputs(options.database, { limit: RUNS_MAX })
  const cleaned: CleanedRun[] = []
  for (const run of runs) {
    signal.throwIfAborted()
    const { runId } = run
    const reason = await reasonToWait(options, run)
    cleaned.push(
      reason === undefined
        ? await cleanUpRun(options, run, signal)
        : { outcome: 'kept', runId, reason },
    )
  }
  return cleaned
}

/** A run may be alive although it was abandoned: a paused process wakes up and goes on where it was. */
async function reasonToWait(
  options: CleanUpOptions,
  { runId, tableId }: UnsettledRun,
): Promise<string | undefined> {
  if (options.activeRunIds.has(runId)) return 'this process still works on it'
  const runs = await listJobRuns(options.database, { tableId, limit: HISTORY_MAX })
  const run = runs.find(({ id }) => id === runId)
  if (run === undefined) return undefined
  const isOfDeadProcess = options.isOnlyWorker && run.workerId !== options.workerId
  if (isOfDeadProcess) return undefined
  const untilMs = (run.finishedAtMs ?? run.startedAtMs) + options.graceMs
  return options.nowMs() < untilMs ? 'it ended only now' : undefined
}

async function cleanUpRun(
  options: CleanUpOptions,
  run: UnsettledRun,
  signal: AbortSignal,
): Promise<CleanedRun> {
  const { database, catalogOf } = options
  const { runId, locations } = run
  const table = await findTableById(database, run.tableId)
  // Without the table nobody can say what is referenced, so nothing is deleted.
  if (table === undefined) return forget(options, run)
  const store = await options.storeOf(table.warehouseId)
  const present = await presentOnes(store, locations)
  if (present.length === 0) return forget(options, run)
  try {
    const { metadata } = await (await catalogOf(table)).loadTable(identifierOf(table), signal)
    const found = await unreferencedOutputs(store.get, metadata, { locations: present, signal })
    if (found.outcome === 'unknown') return { outcome: 'kept', runId, reason: found.reason }
    for (const location of found.unreferenced) await store.delete(location)
    return { ...(await forget(options, run)), deletedCount: found.unreferenced.length }
  } catch (cause) {
    if (!(cause instanceof NoSuchTableError)) throw cause
    return { outcome: 'kept', runId, reason: 'the table was renamed or dropped meanwhile' }
  }
}

async function presentOnes(
  store: CompactionStore,
  locations: readonly string[],
): Promise<readonly string[]> {
  const present: string[] = []
  for (const location of locations) {
    if ((await store.stat(location)) !== undefined) present.push(location)
  }
  return present
}

async function forget(
  { database }: CleanUpOptions,
  { runId }: UnsettledRun,
): Promise<CleanedRun & { outcome: 'settled' }> {
  await forgetJobOutputs(database, { runId })
  return { outcome: 'settled', runId, deletedCount: 0 }
}
