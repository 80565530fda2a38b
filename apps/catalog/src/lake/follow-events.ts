import { feedEnd, type FeedEvent, readFeed } from '@timelake/database/feed'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { eventJson } from '@timelake/timelake/contract/event-json'
import { EventsPrunedError } from '../catalog/catalog-errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import { describeChanges } from './describe-changes.ts'
import type { EventRequest } from './event-request.ts'
import type { EventSight } from './event-sight.ts'

/** One caller who follows the events of a warehouse. */
export interface Follower {
  readonly warehouse: Warehouse
  readonly request: EventRequest
  /** Which events it may know of. */
  readonly sees: EventSight
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal
}

export interface EventPage {
  readonly events: readonly FeedEvent[]
  readonly cursor: string
  readonly isAtEnd: boolean
}

/** A read that passes over this many pages without an event answers what it has. */
const EMPTY_PAGES_MAX = 20

/**
 * The next events of the follower, waiting for the first one as long as it wants. Throws EventsPrunedError for a cursor
 * whose events are gone, InvalidInputError for a text that is none.
 */
export async function nextEvents(catalog: Catalog, follower: Follower): Promise<EventPage> {
  const { feed, context } = catalog
  const { waitMs } = follower.request
  const over = new AbortController()
  const ended = AbortSignal.any([over.signal, follower.gone, feed.stopped])
  // `ended` also ends the clock of a wait that is not needed any more.
  if (waitMs > 0) void context.delay(waitMs, ended).then(() => over.abort())
  else over.abort()
  try {
    let { generation } = feed
    let page = await readPage(catalog, follower, await firstCursor(catalog, follower.request))
    while (page.events.length === 0 && page.isAtEnd && !ended.aborted) {
      await feed.changedSince(generation, ended)
      ;({ generation } = feed)
      page = await readPage(catalog, follower, page.cursor)
    }
    return page
  } finally {
    over.abort()
  }
}

/**
 * Events as they come, in the form of Server-Sent Events, behind the page that was read first: until the caller has gone, the
 * server stops, or the follower has fallen behind what is kept.
 */
export async function* streamEvents(
  catalog: Catalog,
  follower: Follower,
  first: EventPage,
): AsyncGenerator<string, void, void> {
  const { config, feed, context } = catalog
  const ended = AbortSignal.any([follower.gone, feed.stopped])
  let page = first
  yield ': the events of a warehouse\n\n'
  while (!ended.aborted) {
    for (const event of page.events) yield eventFrame(event, follower.warehouse.name)
    const { generation } = feed
    const next = await pageUnlessPruned(catalog, follower, page.cursor)
    if (next === undefined) return
    page = next
    if (page.events.length > 0 || !page.isAtEnd) continue
    const beat = new AbortController()
    const paused = AbortSignal.any([beat.signal, ended])
    void context.delay(config.eventHeartbeatMs, paused).then(() => beat.abort())
    await feed.changedSince(generation, paused)
    // An id without data is remembered by the reader and shown to nobody.
    if (beat.signal.aborted) yield `: alive\nid: ${page.cursor}\n\n`
    beat.abort()
  }
}

/** The event with the cursor behind it. */
export function feedEventJson(event: FeedEvent, warehouseName: string): JsonObject {
  return { cursor: event.cursor, ...eventJson(event, warehouseName) }
}

function eventFrame(event: FeedEvent, warehouseName: string): string {
  const data = printJson(feedEventJson(event, warehouseName))
  return `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${data}\n\n`
}

async function firstCursor(
  { context }: Catalog,
  { after }: EventRequest,
): Promise<string | undefined> {
  return after === 'now' ? feedEnd(context.database) : after
}

async function pageUnlessPruned(
  catalog: Catalog,
  follower: Follower,
  after: string,
): Promise<EventPage | undefined> {
  try {
    return await readPage(catalog, follower, after)
  } catch (error) {
    // The head of the answer is out: the caller comes again and is told then.
    if (error instanceof EventsPrunedError) return undefined
    throw error
  }
}

/** The next page with an event in it, or the end of the feed. */
async function readPage(
  catalog: Catalog,
  { warehouse, request, sees, gone }: Follower,
  after: string | undefined,
): Promise<EventPage> {
  const { limit, filter, withChanges } = request
  const readSeen = async (from: string | undefined): Promise<EventPage> => {
    const read = await readOnce(catalog, { after: from, limit, filter })
    return { ...read, events: read.events.filter(sees) }
  }
  let page = await readSeen(after)
  for (let count = 1; page.events.length === 0 && !page.isAtEnd; count += 1) {
    if (count === EMPTY_PAGES_MAX || gone.aborted) return page
    page = await readSeen(page.cursor)
  }
  if (!withChanges) return page
  return { ...page, events: await describeChanges(catalog, warehouse, page.events) }
}

async function readOnce(
  { context }: Catalog,
  request: Parameters<typeof readFeed>[1],
): Promise<EventPage> {
  const page = await readFeed(context.database, request)
  switch (page.outcome) {
    case 'read':
      return page
    case 'pruned':
      throw new EventsPrunedError(request.after ?? '')
    case 'malformed':
      throw new InvalidInputError('expected a cursor of this feed, or now', 'after')
  }
}
