import { readFeed } from '@timelake/database/feed'
import type { Database } from '@timelake/database/sql-session'

/** What a follower of the feed has seen. */
export interface SeenEvent {
  readonly tableId: string
  readonly eventNumber: bigint
  readonly kind: string
}

/** Reads on from where it was; answers what is new. */
export type FeedReader = () => Promise<readonly SeenEvent[]>

const PAGE_EVENTS = 3

/** Follows the feed as every follower does: by the cursor of the last answer. */
export function feedReader(database: Database): FeedReader {
  let after: string | undefined
  return async () => {
    const page = await readFeed(database, { after, limit: PAGE_EVENTS })
    if (page.outcome !== 'read') throw new Error(`the feed is ${page.outcome}`)
    after = page.cursor
    return page.events.map(({ tableId = '', eventNumber, kind }) => ({
      tableId,
      eventNumber,
      kind,
    }))
  }
}

/** The statement of a follower that goes wrong: sequence numbers show up out of order. */
export const READ_BY_SERIAL =
  'select the events behind a sequence number, as far as they can be seen'

interface SerialRow {
  readonly seq: bigint
  readonly table_id: string
  readonly event_number: bigint
  readonly kind: string
}

/** A follower by the plain sequence number, which passes over what shows up late. */
export function serialReader(database: Database): FeedReader {
  let after = 0n
  return async () => {
    const events = await database.query<SerialRow>(READ_BY_SERIAL, [after, PAGE_EVENTS])
    after = events.at(-1)?.seq ?? after
    return events.map((event) => ({
      tableId: event.table_id,
      eventNumber: event.event_number,
      kind: event.kind,
    }))
  }
}
