/*
 * Events that go from the feed before a webhook has sent them. A webhook holds no event back: one whose receiver was down, or that
 * was paused, for longer than events are kept would fill the database. What it misses is counted instead. Errors: those of
 * the session.
 */
import { parseFeedCursor, printFeedCursor } from './feed-cursor.ts'
import { type FeedFilter, filterParameters, passesFilter } from './feed.ts'
import { type EventCursor, FIRST_EVENT } from './name-changes.ts'
import type { SqlSession } from './sql-session.ts'

export interface PrunedFront {
  /** The last event that goes. */
  readonly last: EventCursor
  readonly nowMs: number
  /** The filter in a webhook's row. */
  filterOf(filterText: string): FeedFilter
}

// $1 webhook, $2-$3 its place, $4-$5 the last event that goes, $6 time, $7 the place behind it, $8-$12 filter
const NOTE = `
with lost as (
  select count(*) as count from outbox_event
  where (transaction_id, seq) > ($2::xid8, $3::bigint) and (transaction_id, seq) <= ($4::xid8, $5::bigint)
    and (${passesFilter(8)}) is true
)
update webhook set events_lost = events_lost + lost.count,
  events_lost_at_ms = case when lost.count > 0 then $6::bigint else events_lost_at_ms end,
  feed_cursor = case when lost.count > 0 then feed_cursor else $7 end
from lost where webhook.id = $1`

/**
 * Counts, for each webhook, the events that go and that pass its filter before it has read them. One that misses nothing moves on to
 * the end of what goes. To be called in the transaction that prunes, before it does. A webhook that is at work meanwhile may
 * deliver some of what is counted here.
 */
export async function noteLostEvents(
  session: SqlSession,
  { last, nowMs, filterOf }: PrunedFront,
): Promise<void> {
  const rows = await session.query<{
    id: string
    feed_id: string
    feed_cursor: string
    filter: string
  }>(
    `select w.id, f.id as feed_id, w.feed_cursor, w.filter from webhook w, event_feed f order by w.id for update of w`,
  )
  for (const { id, feed_id: feedId, feed_cursor: text, filter } of rows) {
    // A webhook that begins with whatever is kept has read nothing; nor has one with a place in another feed.
    const place = parseFeedCursor(text) ?? FIRST_EVENT
    if (hasPassed(place, last)) continue
    const behind = printFeedCursor({ feedId, ...last })
    await session.query(NOTE, [
      ...[id, place.transactionId, place.seq, last.transactionId, last.seq, nowMs, behind],
      ...filterParameters(filterOf(filter)),
    ])
  }
}

/** Whether a place has passed the event. */
function hasPassed(place: EventCursor, event: EventCursor): boolean {
  if (place.transactionId !== event.transactionId) return place.transactionId > event.transactionId
  return place.seq >= event.seq
}
