import type { EventCursor } from './name-changes.ts'

/** A place in the feed of one database. */
export interface FeedCursor extends EventCursor {
  /** The id of the feed: a database that was lost and rebuilt has another one. */
  readonly feedId: string
}

/** In place of a cursor, where there must be a text: before the oldest event that is kept. */
export const FEED_START = 'start'

// Eight digits tell the feeds of one installation apart, and keep the text short.
const FEED_DIGITS = 8

/** The text of a cursor that callers keep: letters, digits and dots. Stable: what is printed today is read tomorrow. */
export function printFeedCursor({ feedId, transactionId, seq }: FeedCursor): string {
  return `${feedTag(feedId)}.${transactionId}.${seq}`
}

/** What a cursor of this feed begins with. */
export function feedTag(feedId: string): string {
  return feedId.replaceAll('-', '').slice(0, FEED_DIGITS)
}

const CURSOR_TEXT = /^([0-9a-z]{1,8})\.(\d{1,19})\.(\d{1,18})$/

/** The parts of a cursor's text; undefined for a text that no feed printed. */
export function parseFeedCursor(
  text: string,
): (EventCursor & { readonly feedTag: string }) | undefined {
  const [, tag, transactionId, seq] = CURSOR_TEXT.exec(text) ?? []
  if (tag === undefined || transactionId === undefined || seq === undefined) return undefined
  return { feedTag: tag, transactionId: BigInt(transactionId), seq: BigInt(seq) }
}
