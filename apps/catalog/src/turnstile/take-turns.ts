import { setImmediate } from 'node:timers/promises'
import type { TableRow } from '@timelake/database/table-row'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import type { Catalog } from '../catalog/catalog.ts'
import { findTableRow } from '../catalog/find-row.ts'
import { findLoadableTable } from '../catalog/load-table.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { identifierKey, type TableIdentifier } from '../catalog/table-identifier.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import { callerOf } from './caller.ts'
import { baseOf, canLoseRace, headAfter, headOf } from './commit-race.ts'
import type { CommitOutcome } from './turn.ts'
import type { AdmittedLoad } from './turnstile.ts'

/** Other processes may take so long until one of them lets this one commit to a table. */
const PROCESS_TURN_MS_MAX = 10_000

/** Waits until the load may be answered; undefined, without a wait, where nobody takes turns. */
export function admitLoad(
  call: RouteCall,
  identifier: TableIdentifier,
): Promise<AdmittedLoad> | undefined {
  const { turnstile } = call.catalog
  const { connection } = call.request
  if (!turnstile.isOn || connection === undefined) return undefined
  // Whether this is the first load of its connection is seen before it is noted.
  const admitted = turnstile.isIdle ? undefined : waitForTurn(call, identifier)
  turnstile.noteLoad(connection)
  return admitted
}

function waitForTurn(
  call: RouteCall,
  identifier: TableIdentifier,
): Promise<AdmittedLoad> | undefined {
  const { turnstile } = call.catalog
  const table = identifierKey(warehouseOf(call).id, identifier)
  const caller = turnstile.isTakingTurns(table) ? callerOf(call.request) : undefined
  if (caller === undefined) return undefined
  return turnstile.load(table, caller, call.request.aborted())
}

/** `findLoadableTable` for a load that was admitted. */
export async function findInTurn(
  catalog: Catalog,
  table: { readonly warehouse: Warehouse; readonly identifier: TableIdentifier },
  admitted: AdmittedLoad,
): Promise<TableRow> {
  const { warehouse, identifier } = table
  try {
    if (admitted.isRetry) {
      const found = await findTableRow(catalog, warehouse, identifier)
      if (found !== undefined) await admitted.pauseAppends(found.id)
    }
    const row = await findInProcessTurn(catalog, table, admitted)
    const { metadata } = await catalog.metadata.get(warehouse, row.metadataLocation)
    admitted.answered(headOf(metadata))
    return row
  } catch (error) {
    admitted.failed()
    throw error
  }
}

/** The row when no other process is about to commit to the table, as far as that can be had. */
async function findInProcessTurn(
  catalog: Catalog,
  {
    warehouse,
    identifier,
  }: { readonly warehouse: Warehouse; readonly identifier: TableIdentifier },
  { holdMs, keepTurn }: AdmittedLoad,
): Promise<TableRow> {
  const { config, turns } = catalog
  const row = await findLoadableTable(catalog, warehouse, identifier)
  if (config.isOnlyWriter || holdMs === undefined) return row
  keepTurn(PROCESS_TURN_MS_MAX)
  const isTaken = await turns.expectCommit(row, holdMs)
  return isTaken ? findLoadableTable(catalog, warehouse, identifier) : row
}

/** A change of one table as the turnstile sees it. */
export interface WatchedChange<Result> {
  readonly identifier: TableIdentifier
  readonly request: CommitRequest
  /** Whether this change, which landed, could only land on the state that it was built on. */
  isStrict(result: Result): boolean
}

/**
 * Runs a commit of one or several tables at once, and tells the turnstile how it went; the answer may have to wait for the
 * caller's next rival. Which table a refusal of several is about is not known here, so that says nothing about any of them.
 */
export async function watchCommit<Result>(
  call: RouteCall,
  changes: readonly WatchedChange<Result>[],
  run: () => Promise<Result>,
): Promise<Result> {
  const { turnstile } = call.catalog
  const caller = turnstile.isOn ? callerOf(call.request) : undefined
  if (caller === undefined) return run()
  const watched = changes.map((change) => {
    const table = identifierKey(warehouseOf(call).id, change.identifier)
    return { change, table, settle: turnstile.commit(table, caller, baseOf(change.request)) }
  })
  const aborted = () => call.request.aborted()
  let result: Result
  try {
    result = await run()
  } catch (error) {
    const mayHaveLost = error instanceof CommitFailedError && changes.length === 1
    const settled = watched.map(({ change, settle }) =>
      settle({ kind: mayHaveLost && canLoseRace(change.request) ? 'lost' : 'apart' }, aborted),
    )
    for (const answerable of settled) await answerable
    throw error
  }
  const settled = watched.map(({ change, settle }) => settle(landed(change, result), aborted))
  for (const answerable of settled) await answerable
  // Whoever was called is answered first: everybody waits for what that one does, and nobody for what this one does.
  if (watched.some(({ table }) => turnstile.isTakingTurns(table))) await setImmediate()
  return result
}

function landed<Result>(change: WatchedChange<Result>, result: Result): CommitOutcome {
  const head = headAfter(change.request)
  if (head === undefined) return { kind: 'apart' }
  return { kind: 'landed', isStrict: change.isStrict(result), head }
}
