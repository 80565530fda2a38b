/*
 * Commits of many tables in one statement: pointers of different tables that wait at the same moment share one round
 * trip, one transaction and one flush, and so do all commits of one table that landed in one metadata file. Each swap gets
 * its own verdict. Rows are locked in the order of their ids, so two processes that do this at once cannot deadlock.
 */
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import { type LandedCommit, landedParameters } from './landed-commits.ts'
import { type DatabaseOrTransaction, isSerial } from './lock-locations.ts'
import type { EventInput } from './outbox.ts'
import { swapParameters, swapStatement, type SwapColumns } from './swap-statement.ts'

/** A batch of files that lands with a swap, and until when its id is remembered. */
export interface AppendedBatch {
  readonly batchId: string
  readonly requestHash: string
  readonly snapshotId: bigint
  readonly expiresAtMs: number
}

/** The commits of one table that share a metadata file, on their way into the database. */
export interface GroupSwap {
  readonly tableId: string
  /** The metadata location that the commits were computed from. */
  readonly expected: string
  readonly next: string
  readonly tableUuid: string
  /** Of the table, which stays where it is. */
  readonly location: string
  readonly nowMs: number
  /** At least one, in the order of the commits; the first gets the number after the table's last event. */
  readonly events: readonly EventInput[]
  /** No snapshot id twice. */
  readonly landed: readonly LandedCommit[]
  /** The keys whose outcome is this swap; no key twice. */
  readonly idempotency: readonly IdempotencyTicket[]
  /** No batch id twice. */
  readonly batches: readonly AppendedBatch[]
}

/** `keys-lost`: calls with these idempotency keys have finished elsewhere, so nothing was changed. */
export type SwapVerdict =
  'swapped' | 'stale' | 'missing' | { readonly outcome: 'keys-lost'; readonly keys: string[] }

interface VerdictRow {
  readonly lost_keys: string | null
  readonly changed: boolean
  readonly present: boolean
}

/**
 * The verdicts of the swaps, in their order. Each table at most once, and every table stays at its location: a swap that
 * moves its table is `stale` here and belongs to swapMetadataLocation. Errors: StatementError (nothing changed),
 * DatabaseUnavailableError (each of them unknown: read the pointers before deciding).
 */
export async function swapMany(
  session: DatabaseOrTransaction,
  swaps: readonly GroupSwap[],
): Promise<readonly SwapVerdict[]> {
  const tables = new Set(swaps.map(({ tableId }) => tableId))
  invariant(tables.size === swaps.length, 'a table is swapped at most once in one statement')
  const columns = columnsOf(swaps)
  const parts = {
    tickets: isFilled(columns.tickets),
    landed: isFilled(columns.landed),
    forgotten: isFilled(columns.forgotten),
    batches: isFilled(columns.batches),
    hasOneEventEach: swaps.every(({ events }) => events.length === 1),
    isSerial: isSerial(session),
  }
  const params = swapParameters(parts, columns)
  const rows = await session.query<VerdictRow>(swapStatement(parts), params)
  invariant(rows.length === swaps.length, 'each swap gets a verdict')
  return rows.map(verdictOf)
}

function verdictOf({ lost_keys: lostKeys, changed, present }: VerdictRow): SwapVerdict {
  if (lostKeys !== null) return { outcome: 'keys-lost', keys: lostKeys.split(' ') }
  if (changed) return 'swapped'
  return present ? 'stale' : 'missing'
}

function columnsOf(swaps: readonly GroupSwap[]): SwapColumns {
  const column = <T>(pick: (swap: GroupSwap) => T) => swaps.map(pick)
  const input = [
    column(({ tableId }) => tableId),
    column(({ expected }) => expected),
    column(({ next }) => next),
    column(({ tableUuid }) => tableUuid),
    column(({ location }) => location),
    column(({ nowMs }) => nowMs),
  ]
  return {
    input,
    events: eventColumns(swaps),
    ...landedColumns(swaps),
    tickets: ticketColumns(swaps),
    batches: batchColumns(swaps),
  }
}

type Columns = readonly (readonly unknown[])[]

function isFilled([places = []]: Columns): boolean {
  return places.length > 0
}

/** The items of all swaps, each with the place, from 1, of its swap. */
function placed<Item>(swaps: readonly GroupSwap[], pick: (swap: GroupSwap) => readonly Item[]) {
  return swaps.flatMap((swap, index) =>
    pick(swap).map((item, nth) => ({ item, place: index + 1, nth: nth + 1 })),
  )
}

function ticketColumns(swaps: readonly GroupSwap[]): Columns {
  const tickets = placed(swaps, ({ idempotency }) => idempotency)
  return [
    tickets.map(({ place }) => place),
    tickets.map(({ item }) => item.warehouseId),
    tickets.map(({ item }) => item.key),
    tickets.map(({ item }) => item.outcome.status),
    tickets.map(({ item }) => item.outcome.body ?? null),
    tickets.map(({ item }) => item.outcome.metadataLocation ?? null),
  ]
}

function eventColumns(swaps: readonly GroupSwap[]): Columns {
  const events = placed(swaps, (swap) => swap.events)
  return [
    events.map(({ place }) => place),
    events.map(({ nth }) => nth),
    events.map(({ item }) => item.kind),
    events.map(({ item }) => item.payload),
  ]
}

function landedColumns(swaps: readonly GroupSwap[]): Pick<SwapColumns, 'landed' | 'forgotten'> {
  const added = placed(swaps, ({ landed }) =>
    landed.flatMap((one) => {
      const [requestHash, snapshotIds] = landedParameters(one)
      return snapshotIds.map((snapshotId) => ({ snapshotId, requestHash }))
    }),
  )
  // What one commit of the group adds is not forgotten because an earlier one removed it.
  const kept = new Set(added.map(({ item, place }) => `${place} ${item.snapshotId}`))
  const forgotten = placed(swaps, ({ landed }) =>
    landed.flatMap(({ forgetSnapshotIds }) => forgetSnapshotIds),
  ).filter(({ item, place }) => !kept.has(`${place} ${item}`))
  return {
    landed: [
      added.map(({ place }) => place),
      added.map(({ item }) => item.snapshotId),
      added.map(({ item }) => item.requestHash),
    ],
    forgotten: [forgotten.map(({ place }) => place), forgotten.map(({ item }) => item)],
  }
}

function batchColumns(swaps: readonly GroupSwap[]): Columns {
  const batches = placed(swaps, (swap) => swap.batches)
  return [
    batches.map(({ place }) => place),
    batches.map(({ item }) => item.batchId),
    batches.map(({ item }) => item.requestHash),
    batches.map(({ item }) => item.snapshotId),
    batches.map(({ item }) => item.expiresAtMs),
  ]
}
