/*
 * How runs of jobs ended, as events of their tables: numbered with them and written in the transaction that ends the run.
 * Errors: those of the session.
 */
import { inEventOrder } from './event-order.ts'
import type { SqlSession } from './sql-session.ts'

/** Characters of a reason and of an outcome in an event; the whole is in the run. */
const REASON_CHARACTERS_MAX = 2_000
const OUTCOME_CHARACTERS_MAX = 16_000

// $1 run, $2 characters of the reason, $3 characters of the outcome
const EVENT_OF_RUN = (subject: string) => `
with ended as (
  select * from job_run where id = $1::text
), subject as (
  ${subject}
)
insert into outbox_event (event_id, warehouse_id, table_id, table_uuid, event_number, kind, levels, name, payload,
  created_at_ms)
select s.id || '-' || s.event_number, s.warehouse_id, s.id, s.table_uuid, s.event_number, 'job-' || ended.state, s.levels,
  s.name, json_build_object('run-id', ended.id, 'job-kind', ended.job_kind, 'state', ended.state,
    'reason', left(ended.reason, $2::int),
    'outcome', case when length(ended.outcome) <= $3::int then ended.outcome::json end,
    'started-ms', ended.started_at_ms, 'finished-ms', ended.finished_at_ms)::text,
  ended.finished_at_ms
from ended, subject s
returning 1`

const EVENT_OF_LIVE = EVENT_OF_RUN(`update catalog_table t set event_number = t.event_number + 1
  where t.id = (select table_id from ended)
  returning t.id, t.warehouse_id, t.table_uuid, t.event_number, t.name,
    (select levels from namespace where id = t.namespace_id) as levels`)

const EVENT_OF_DROPPED = EVENT_OF_RUN(`update dropped_table t set event_number = t.event_number + 1
  where t.id = (select table_id from ended)
  returning t.id, t.warehouse_id, t.table_uuid, t.event_number, t.name, t.levels`)

/**
 * Writes the event of a run that this transaction has ended; none when its table is neither live nor dropped. Tables are
 * locked in the order of their ids: give the runs in the order of their tables.
 */
export async function writeJobEvent(
  session: SqlSession,
  { runId, tableId }: { readonly runId: string; readonly tableId: string },
): Promise<void> {
  const params = [runId, REASON_CHARACTERS_MAX, OUTCOME_CHARACTERS_MAX]
  await inEventOrder(session, tableId, async (held) => {
    // A table that is dropped while this waits for its row is found among the dropped ones, and the other way round.
    for (const statement of [EVENT_OF_LIVE, EVENT_OF_DROPPED, EVENT_OF_LIVE]) {
      const rows = await held.query(statement, params)
      if (rows.length > 0) return
    }
  })
}
