/*
 * The commit of several tables: every pointer swap, every new table, their events, the landed requests and the outcome
 * of the idempotency key in one transaction, or none of it.
 * Errors: IdempotencyKeyLostError, LocationTakenError (both: nothing changed); StatementError (nothing changed);
 * DatabaseUnavailableError (unknown: find out before deciding, delete nothing).
 */
import { DatabaseUnavailableError } from './database-errors.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { invariant } from './invariant.ts'
import { type DatabaseOrTransaction, lockLocations, type WarehouseOf } from './lock-locations.ts'
import type { Database, SqlSession } from './sql-session.ts'
import { type MetadataSwap, swapMetadataLocation } from './swap-metadata-location.ts'
import { createTable, type NewTable } from './tables.ts'

/** What happens to one table; `hold` changes nothing and proves that the pointer is where it was. */
export type TableStep =
  | { readonly change: 'hold'; readonly tableId: string; readonly expected: string }
  | ({
      readonly change: 'swap'
      /** Whether the table gets another location. */
      readonly moves?: boolean
    } & Omit<MetadataSwap, 'idempotency' | 'nowMs'>)
  | ({ readonly change: 'create' } & Omit<NewTable, 'idempotency' | 'nowMs'>)

export interface TableSet {
  /** At most one for each table. */
  readonly steps: readonly TableStep[]
  readonly nowMs: number
  readonly idempotency?: IdempotencyTicket | undefined
  /** Called inside the transaction after each step but the last; what it throws rolls everything back. */
  readonly betweenSteps?: () => void
}

/** Why a set was refused; `index` is the place in `steps` of the one that was in the way. */
export interface RefusedSet {
  /**
   * `stale`: the pointer has moved. `missing`: there is no such table. `exists`: the name of a new table is taken.
   * `namespace-missing`: that of a new table is gone.
   */
  readonly outcome: 'stale' | 'missing' | 'exists' | 'namespace-missing'
  readonly index: number
}

/**
 * Applies all steps or none; at least one must change something, and all belong to one warehouse. Rows are locked in one
 * order, whatever the order of the steps: the warehouse when a location is given, the tables by id, the new names; so sets
 * that overlap wait for each other and never for ever.
 */
export async function commitTables(
  database: Database,
  set: TableSet,
): Promise<{ readonly outcome: 'committed' } | RefusedSet> {
  const order = lockingOrder(set.steps)
  const [only] = order
  // One statement is a transaction of its own.
  if (only !== undefined && order.length === 1)
    return (await runStep(database, set, only)) ?? { outcome: 'committed' }
  let isCommitting = false
  try {
    await database.transaction(async (session) => {
      await runAll(session, set, order)
      isCommitting = true
    })
    return { outcome: 'committed' }
  } catch (error) {
    if (error instanceof RefusedStep) return error.refusal
    if (!(error instanceof DatabaseUnavailableError) || isCommitting) throw error
    const text = 'the database was lost before all changes of a set were made'
    throw new DatabaseUnavailableError(text, { cause: error, isUnsent: true })
  }
}

interface OrderedStep {
  readonly step: TableStep
  readonly index: number
  readonly isFirst: boolean
  /** One step writes the outcome of the key: the first that changes something. */
  readonly carriesKey: boolean
}

function lockingOrder(steps: readonly TableStep[]): OrderedStep[] {
  const keys = steps.map(lockKey)
  invariant(new Set(keys).size === keys.length, 'a set changes each table once')
  const ordered = [...steps.entries()].sort(([a], [b]) =>
    (keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1,
  )
  const carrier = ordered.find(([, { change }]) => change !== 'hold')
  invariant(carrier !== undefined, 'a set of table changes changes something')
  return ordered.map(([index, step], place) => ({
    step,
    index,
    isFirst: place === 0,
    carriesKey: index === carrier[0],
  }))
}

/** Tables by id, then new ones by name. */
function lockKey(step: TableStep): string {
  return step.change === 'create' ? `2 ${step.namespaceId}\u0000${step.name}` : `1 ${step.tableId}`
}

/** Rolls the transaction back and carries the reason out of it. */
class RefusedStep extends Error {
  override readonly name = 'RefusedStep'
  readonly refusal: RefusedSet
  constructor(refusal: RefusedSet) {
    super(`step ${refusal.index} is refused: ${refusal.outcome}`)
    this.refusal = refusal
  }
}

async function runAll(
  session: SqlSession,
  set: TableSet,
  order: readonly OrderedStep[],
): Promise<void> {
  // Whoever gives one table a location waits for this lock before any other, so it comes first here too.
  const placed = order.find(({ step }) => givesLocation(step))
  if (placed !== undefined) await lockLocations(session, warehouseOf(placed.step))
  for (const ordered of order) {
    if (!ordered.isFirst) set.betweenSteps?.()
    const refusal = await runStep(session, set, ordered)
    if (refusal !== undefined) throw new RefusedStep(refusal)
  }
}

function givesLocation(step: TableStep): boolean {
  return step.change === 'create' || (step.change === 'swap' && step.moves === true)
}

function warehouseOf(step: TableStep): WarehouseOf {
  return step.change === 'create' ? { warehouseId: step.warehouseId } : { tableId: step.tableId }
}

async function runStep(
  session: DatabaseOrTransaction,
  set: TableSet,
  { step, index, carriesKey }: OrderedStep,
): Promise<RefusedSet | undefined> {
  const shared = { nowMs: set.nowMs, ...(carriesKey ? { idempotency: set.idempotency } : {}) }
  switch (step.change) {
    case 'hold': {
      const outcome = await holdPointer(session, step)
      return outcome === 'held' ? undefined : { outcome, index }
    }
    case 'swap': {
      const outcome = await swapMetadataLocation(session, { ...step, ...shared })
      return outcome === 'swapped' ? undefined : { outcome, index }
    }
    case 'create': {
      const outcome = await createTable(session, { ...step, ...shared })
      return outcome === 'created' ? undefined : { outcome, index }
    }
  }
}

/** Keeps others from moving the pointer until the transaction ends. */
async function holdPointer(
  session: SqlSession,
  { tableId, expected }: { readonly tableId: string; readonly expected: string },
): Promise<'held' | 'stale' | 'missing'> {
  const [row] = await session.query<{ metadata_location: string }>(
    'select metadata_location from catalog_table where id = $1 for share',
    [tableId],
  )
  if (row === undefined) return 'missing'
  return row.metadata_location === expected ? 'held' : 'stale'
}
