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
  NOW_PARAMETER,
} from './apply-change.ts'
import { LocationTakenError } from './database-errors.ts'
import { findTableById, findTablesNear } from './find-tables.ts'
import type { IdempotencyTicket } from './idempotency.ts'
import { type LandedCommit, landedExpressions, landedParameters } from './landed-commits.ts'
import { overlapCondition, overlapParameters } from './location-overlap.ts'
import type { EventInput } from './outbox.ts'
import type { SqlSession } from './sql-session.ts'

export interface MetadataSwap {
  readonly tableId: string
  /** The metadata location that the commit was computed from. */
  readonly expected: string
  readonly next: string
  readonly tableUuid: string
  readonly location: string
  readonly nowMs: number
  readonly event: EventInput
  readonly landed?: LandedCommit | undefined
  readonly idempotency?: IdempotencyTicket | undefined
}

// $9 table, $10 expected, $11 next, $12 uuid, $13 location, $14-$16 landed, $17-$19 overlap
const SWAP = changeStatement(
  `made as (
  update catalog_table t set metadata_location = $11::text, table_uuid = $12::text, location = $13::text,
    version = t.version + 1, event_number = t.event_number + 1, updated_at_ms = ${NOW_PARAMETER}
  where t.id = $9::text and t.metadata_location = $10::text and (select ok from guard)
    and (t.location = $13::text or not exists (
      select from catalog_table o where o.warehouse_id = t.warehouse_id and o.id <> t.id
        and 'table' in (o.kind, t.kind) and ${overlapCondition('o.location', FIRST_CHANGE_PARAMETER + 8)}
    ))
  returning t.id, t.warehouse_id, t.namespace_id, t.table_uuid, t.event_number, t.name
), changed as (
  select made.id as subject_id, made.warehouse_id, made.id as table_id, made.table_uuid, made.event_number, n.levels,
    made.name
  from made join namespace n on n.id = made.namespace_id
), ${landedExpressions({
    tableId: '$9::text',
    metadataLocation: '$11::text',
    nowMs: NOW_PARAMETER,
    parameter: FIRST_CHANGE_PARAMETER + 5,
  })}`,
  `(select metadata_location from catalog_table where id = $9::text) as current,
  (select location from catalog_table where id = $9::text) as location`,
)

/** `stale`: the pointer is not at `expected` any more; load again. `missing`: there is no such table. */
export async function swapMetadataLocation(
  session: SqlSession,
  swap: MetadataSwap,
): Promise<'swapped' | 'stale' | 'missing'> {
  const row = await applyChange<{ current: string | null; location: string | null }>(
    session,
    SWAP,
    {
      ...swap,
      params: [
        swap.tableId,
        swap.expected,
        swap.next,
        swap.tableUuid,
        swap.location,
        ...landedParameters(swap.landed),
        ...overlapParameters(swap.location),
      ],
    },
  )
  if (row.changed) return 'swapped'
  if (row.current === null) return 'missing'
  if (row.current === swap.expected && row.location !== swap.location) {
    await throwIfTaken(session, swap)
  }
  return 'stale'
}

async function throwIfTaken(session: SqlSession, swap: MetadataSwap): Promise<void> {
  const table = await findTableById(session, swap.tableId)
  if (table === undefined) return
  const near = await findTablesNear(session, { ...table, location: swap.location })
  if (near.some((other) => other.id !== swap.tableId)) throw new LocationTakenError(swap.location)
}
