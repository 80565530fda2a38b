import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { readEventRequest } from './event-request.ts'
import { eventSight } from './event-sight.ts'
import { feedEventJson, type Follower, nextEvents, streamEvents } from './follow-events.ts'

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Proxies that gather an answer before they pass it on would hold events back.
  'x-accel-buffering': 'no',
} as const

/** Longest life of one stream. Readers of Server-Sent Events come back by themselves, where they were. */
const STREAM_MS_MAX = 600_000

/**
 * GET /lake/v1/{prefix}/events: the events of a warehouse behind a cursor that the caller may know of, at once or when there are some, or as a stream for
 * callers that accept `text/event-stream`. Throws EventsPrunedError, TooManyFollowersError, InvalidInputError.
 */
export function listEvents(call: RouteCall): Promise<HttpAnswer> {
  const { catalog, caller, request } = call
  const asked = readEventRequest(call)
  const warehouse = warehouseOf(call)
  const sees = eventSight(caller, warehouse.id)
  const follower = { warehouse, request: asked, sees, gone: request.aborted() }
  const isStream = request.header('accept')?.includes('text/event-stream') === true
  return isStream ? openStream(catalog, follower) : answerPage(catalog, follower)
}

async function answerPage(catalog: Catalog, follower: Follower): Promise<HttpAnswer> {
  const leave = catalog.feed.enter()
  try {
    const { events, cursor, isAtEnd } = await nextEvents(catalog, follower)
    return jsonAnswer({
      events: events.map((event) => feedEventJson(event, follower.warehouse.name)),
      'next-cursor': cursor,
      'is-at-end': isAtEnd,
    })
  } finally {
    leave()
  }
}

async function openStream(catalog: Catalog, asking: Follower): Promise<HttpAnswer> {
  const leave = catalog.feed.enter()
  const follower = { ...asking, gone: AbortSignal.any([asking.gone, streamEnd(catalog, asking)]) }
  try {
    const request = { ...follower.request, waitMs: 0 }
    // A cursor that is of no use is refused before the stream begins.
    const first = await nextEvents(catalog, { ...follower, request })
    const pieces = whileFollowing(streamEvents(catalog, follower, first), leave)
    return { status: 200, headers: STREAM_HEADERS, body: { pieces } }
  } catch (error) {
    leave()
    throw error
  }
}

/** Whoever goes on must come again, and be known again: its role may have been taken from it. */
function streamEnd({ context }: Catalog, { gone }: Follower): AbortSignal {
  const end = new AbortController()
  void context.delay(STREAM_MS_MAX, gone).then(() => end.abort())
  return end.signal
}

async function* whileFollowing(
  pieces: AsyncIterable<string>,
  leave: () => void,
): AsyncGenerator<string, void, void> {
  try {
    yield* pieces
  } finally {
    leave()
  }
}
