import {
  askForTurn,
  passTurn,
  readTurn,
  seizeTurn,
  type CommitTurn,
} from '@timelake/database/commit-turns'
import type { TableRow } from '@timelake/database/table-row'
import type { Catalog } from './catalog.ts'

/** Time between two looks at whose turn it is. */
const LOOK_EVERY_MS = 4
/** A process that has the turn and does not move the pointer for so long is passed over. */
const IDLE_TURN_MS_MAX = 1_000
/** With many processes the turn may be long in coming; then a commit tries its luck without. */
const TURN_WAIT_MS_MAX = 5_000

/**
 * Waits until it is this process's turn to commit to a table that other processes commit to as well. Only a matter of
 * efficiency: what decides is the comparison at the swap.
 */
export async function takeTurn(catalog: Catalog, { id: tableId }: TableRow): Promise<void> {
  const { database, delay } = catalog.context
  const mine = { tableId, processId: catalog.processId }
  let seen: CommitTurn | undefined
  let idleMs = 0
  let current = await askForTurn(database, mine)
  for (let waitedMs = 0; waitedMs < TURN_WAIT_MS_MAX; waitedMs += LOOK_EVERY_MS) {
    if (current === undefined || current.turn === catalog.processId) return
    const hasMoved =
      seen === undefined ||
      seen.turn !== current.turn ||
      seen.metadataLocation !== current.metadataLocation
    idleMs = hasMoved ? 0 : idleMs + LOOK_EVERY_MS
    seen = current
    if (idleMs >= IDLE_TURN_MS_MAX) await seizeTurn(database, { ...mine, seen })
    await delay(LOOK_EVERY_MS)
    const next = await readTurn(database, tableId)
    // Nobody's turn, or one that somebody else got before our place behind it was taken down: ask again.
    current = next?.turn === undefined || hasMoved ? await askForTurn(database, mine) : next
  }
}

/** Whether another process has the turn, or had it when the row was read. */
export function isTurnOfAnother(catalog: Catalog, { commitTurn }: TableRow): boolean {
  return commitTurn !== undefined && commitTurn !== catalog.processId
}

/** Passes a turn on that needed no swap, if the row was read in it. */
export async function giveTurnBack(
  catalog: Catalog,
  { id: tableId, commitTurn }: TableRow,
): Promise<void> {
  if (commitTurn !== catalog.processId) return
  await passTurn(catalog.context.database, { tableId, processId: catalog.processId })
}
