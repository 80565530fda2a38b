/*
 * The commit: one conditional statement that moves a table's pointer, numbers and writes its event, remembers the
 * request as landed and stores the outcome of its idempotency key.
 * Errors: IdempotencyKeyLostError, LocationTakenError (both: nothing changed); StatementError (nothing changed);
 * DatabaseUnavailableError (unknown: read the pointer before deciding, delete nothing).
 */
import {
  applyChange,
  changeStatement,
  FIRST_CHANGE_PARAMETER,
  LEVELS_OF_MADE,
  NOW_PARAMETER,
} from './apply-change.ts'
import { LocationTakenError } from './database-errors.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { type LandedCommit, landedExpressions, landedParameters } from './landed-commits.ts'
import { type DatabaseOrTransaction, whileLocationsStand } from './lock-locations.ts'
import { otherTableNear, overlapParameters } from './location-overlap.ts'
import type { EventInput } from './outbox.ts'
import {
  type MovedRoots,
  movedRootExpressions,
  movedRootParameters,
  movedRootsKnown,
} from './table-roots.ts'

export interface MetadataSwap {
  readonly tableId: string
  /** The metadata location that the commit was computed from. */
  readonly expected: string
  readonly next: string
  readonly tableUuid: string
  readonly location: string
  /** Where it moves; absent for one that stays where it is, or whose location is its only folder. */
  readonly roots?: MovedRoots | undefined
  readonly nowMs: number
  readonly event: EventInput
  readonly landed?: LandedCommit | undefined
  readonly idempotency?: IdempotencyTicket | undefined
}

interface SwapText {
  readonly overlap: string
  readonly condition: string
  /** The value of `extra_roots`, and the expressions that write the folders. */
  readonly known: string
  readonly roots: string
}

// $9 table, $10 expected, $11 next, $12 uuid, $13 location, $14-$16 landed; for one that moves, $17-$19 overlap, $20-$22 folders
const swapStatement = ({ overlap, condition, known, roots }: SwapText) =>
  changeStatement(
    `overlap as (
  ${overlap}
), made as (
  update catalog_table t set metadata_location = $11::text, table_uuid = $12::text, location = $13::text,
    version = t.version + 1, event_number = t.event_number + 1, updated_at_ms = ${NOW_PARAMETER}${known}
  where t.id = $9::text and t.metadata_location = $10::text and (select ok from guard) and ${condition}
  returning t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number, t.name
), changed as (
  select made.id as subject_id, made.warehouse_id, made.id as table_id, made.table_uuid, made.event_number, ${LEVELS_OF_MADE},
    made.name
  from made
), ${roots}${landedExpressions({
      tableId: '$9::text',
      metadataLocation: '$11::text',
      nowMs: NOW_PARAMETER,
      parameter: FIRST_CHANGE_PARAMETER + 5,
    })}`,
    `(select metadata_location from catalog_table where id = $9::text) as current,
  (select location from catalog_table where id = $9::text) as location, exists (select from overlap) as overlap`,
  )

// `is not distinct from`, because no index knows it: a look-up by the location instead of the id would be slow.
/** For a table that stays at its location, as nearly all do: nothing to look for and nobody to wait for. */
const SWAP = swapStatement({
  overlap: 'select where false',
  condition: 't.location is not distinct from $13::text',
  known: '',
  roots: '',
})

const FIRST_ROOT_PARAMETER = FIRST_CHANGE_PARAMETER + 11

/** For a table that gets other folders. */
const SWAP_AND_MOVE = swapStatement({
  overlap: otherTableNear('$9::text', FIRST_CHANGE_PARAMETER + 8),
  condition: 'not exists (select from overlap)',
  known: `, extra_roots = ${movedRootsKnown(FIRST_ROOT_PARAMETER)}`,
  roots: `${movedRootExpressions({
    tableId: '$9::text',
    location: '$13::text',
    parameter: FIRST_ROOT_PARAMETER,
  })}, `,
})

interface SwapVerdict {
  readonly current: string | null
  readonly location: string | null
  readonly overlap: boolean
}

/** `stale`: the pointer is not at `expected` any more; load again. `missing`: there is no such table. */
export async function swapMetadataLocation(
  session: DatabaseOrTransaction,
  swap: MetadataSwap,
): Promise<'swapped' | 'stale' | 'missing'> {
  const params = [
    swap.tableId,
    swap.expected,
    swap.next,
    swap.tableUuid,
    swap.location,
    ...landedParameters(swap.landed),
  ]
  if (swap.roots !== undefined) return swapAndMove(session, { swap, params, roots: swap.roots })
  const row = await applyChange<SwapVerdict>(session, SWAP, { ...swap, params })
  if (row.changed) return 'swapped'
  if (row.current === null) return 'missing'
  if (row.current !== swap.expected || row.location === swap.location) return 'stale'
  const roots = { extra: [], fresh: [swap.location], left: [row.location ?? swap.location] }
  return swapAndMove(session, { swap, params, roots })
}

interface Move {
  readonly swap: MetadataSwap
  readonly params: readonly unknown[]
  readonly roots: MovedRoots
}

async function swapAndMove(
  session: DatabaseOrTransaction,
  { swap, params, roots }: Move,
): Promise<'swapped' | 'stale' | 'missing'> {
  const moveParams = [...overlapParameters(...roots.fresh), ...movedRootParameters(roots)]
  const change = { ...swap, params: [...params, ...moveParams] }
  const row = await whileLocationsStand(session, swap, (held) =>
    applyChange<SwapVerdict>(held, SWAP_AND_MOVE, change),
  )
  if (row.changed) return 'swapped'
  if (row.current === null) return 'missing'
  if (row.current === swap.expected && row.overlap) throw new LocationTakenError(roots.fresh)
  return 'stale'
}
