/*
 * The order of the feed for changes that compare no pointer. A transaction may get its number, wait for the row of a table
 * and then change what a transaction with a higher number left: by its own number its event would come before that one's.
 * Such changes move their event behind the others of the same table, view or namespace.
 */
import { type DatabaseOrTransaction, inTransaction, isSerial } from './lock-locations.ts'
import type { SqlSession } from './sql-session.ts'

// Looks only at events of transactions that began after this one. A transaction that is still open holds back the feed from
// its own number on, so the event shows up in its new place at the earliest when this transaction has ended.
const MOVE_BEHIND = `
update outbox_event own set transaction_id = other.transaction_id
from (
  select transaction_id from outbox_event
  where transaction_id > pg_current_xact_id() and starts_with(event_id, $1::text || '-')
  order by transaction_id desc limit 1
) as other
where own.transaction_id = pg_current_xact_id() and starts_with(own.event_id, $1::text || '-')`

/**
 * Runs a change of the subject (table, view or namespace), which writes with one statement, in one transaction with what keeps its events in the order of
 * their numbers. The change must hold the subject's row when it ends. Answers what it answers.
 */
export function inEventOrder<T>(
  session: DatabaseOrTransaction,
  subjectId: string,
  change: (session: SqlSession) => Promise<T>,
): Promise<T> {
  // Nothing begins while another change is under way, so nothing can come before it.
  if (isSerial(session)) return change(session)
  return inTransaction(session, async (held) => {
    const outcome = await change(held)
    await held.query(MOVE_BEHIND, [subjectId])
    return outcome
  })
}
