/*
 * Details of events that are read from files after the commit (what it did to each partition), kept with the event for as
 * long as that is kept. Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'

export interface EventDetails {
  readonly seq: bigint
  /** JSON text; kept byte for byte. */
  readonly details: string
}

/** Keeps the details of events, the first ones that anybody gives; those of an event that was pruned are dropped. */
export async function keepEventDetails(
  session: SqlSession,
  found: readonly EventDetails[],
): Promise<void> {
  await session.query(
    `insert into event_details (seq, details)
     select i.seq, i.details from unnest($1::bigint[], $2::text[]) as i(seq, details)
     join outbox_event e on e.seq = i.seq for key share of e
     on conflict (seq) do nothing`,
    [found.map(({ seq }) => seq), found.map(({ details }) => details)],
  )
}
