import { feedEnd, readFeed } from '@timelake/database/feed'
import { FEED_START } from '@timelake/database/webhook-row'
import type { Database } from '@timelake/database/sql-session'
import { placeBeforeEvent } from '@timelake/database/webhooks'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { EventsPrunedError } from './catalog-errors.ts'

/**
 * The place in the feed that a cursor, `start` (the oldest event that is kept) or undefined (behind the newest) stands for.
 * Throws InvalidInputError for a text that no feed printed and EventsPrunedError for one whose events were pruned.
 */
export async function placeOf(database: Database, after: string | undefined): Promise<string> {
  if (after === undefined) return feedEnd(database)
  if (after === FEED_START) return FEED_START
  const { outcome } = await readFeed(database, { after, limit: 1 })
  switch (outcome) {
    case 'read':
      return after
    case 'malformed':
      throw new InvalidInputError('is not a cursor of the feed', 'after')
    case 'pruned':
      throw new EventsPrunedError(after)
  }
}

/** The place just before an event. Throws EventsPrunedError when the event is not kept. */
export async function placeBefore(database: Database, eventId: string): Promise<string> {
  const place = await placeBeforeEvent(database, eventId)
  if (place === undefined) throw new EventsPrunedError(eventId)
  return place
}
