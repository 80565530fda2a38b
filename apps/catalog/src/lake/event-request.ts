import type { FeedFilter, TableFilter } from '@timelake/database/feed'
import { FEED_START } from '@timelake/database/feed-cursor'
import { EVENT_KINDS, type EventKind } from '@timelake/database/outbox'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { parseCount, parseDurationMs } from '@timelake/timelake/contract/quantity'
import { decodeSegment, queryParameter, rawQueryParameters } from '../http/raw-path.ts'
import { warehouseOf, type RouteCall } from '../http/route.ts'

/** Which events a caller wants. */
export interface EventRequest {
  /** A cursor; `now`: only what comes from now on; absent, or `start`: from the oldest event that is kept. */
  readonly after: string | undefined
  readonly limit: number
  /** How long an answer without events is held back. */
  readonly waitMs: number
  readonly filter: FeedFilter
  /** Whether commits come with what they did to each partition. */
  readonly withChanges: boolean
}

const EVENTS_PER_ANSWER = 100
const EVENTS_PER_ANSWER_MAX = 1_000
const WAIT_MS_MAX = 60_000
/** Names in one filter. */
const FILTER_NAMES_MAX = 100

/** Reads the query; a stream goes on behind its Last-Event-ID. Throws InvalidInputError. */
export function readEventRequest(call: RouteCall): EventRequest {
  const { query, request } = call
  const after = request.header('last-event-id') ?? queryParameter(query, 'after')
  return {
    after: after === '' || after === FEED_START ? undefined : after,
    limit: quantity(query, 'limit', (text) =>
      parseCount(text ?? String(EVENTS_PER_ANSWER), { min: 1, max: EVENTS_PER_ANSWER_MAX }),
    ),
    waitMs: quantity(query, 'wait', (text) =>
      parseDurationMs(text ?? '0s', { min: 0, max: WAIT_MS_MAX }),
    ),
    filter: readFilter(call),
    withChanges: readSwitch(query, 'changes'),
  }
}

function readFilter(call: RouteCall): FeedFilter {
  const { query } = call
  const tables = names(query, 'table', tableFilter)
  const namespaces = names(query, 'namespace', decodeLevels)
  const kinds = names(query, 'kind', eventKind)
  return {
    warehouseIds: [warehouseOf(call).id],
    ...(tables === undefined ? {} : { tables }),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(kinds === undefined ? {} : { kinds }),
  }
}

/** The values of a parameter that may be repeated, and hold several between commas. An encoded comma is part of a name. */
function names<T>(
  query: string,
  parameter: string,
  read: (raw: string) => T,
): readonly T[] | undefined {
  const values = rawQueryParameters(query, parameter).flatMap((raw) => raw.split(','))
  if (values.every((value) => value === '')) return undefined
  if (values.length > FILTER_NAMES_MAX) {
    throw new InvalidInputError(`expected at most ${FILTER_NAMES_MAX} values`, parameter)
  }
  return values.map(read)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function tableFilter(raw: string): TableFilter {
  const text = decodeSegment(raw)
  if (UUID.test(text)) return { id: text.toLowerCase() }
  const levels = decodeLevels(raw)
  const name = levels.pop()
  if (name === undefined || levels.length === 0) {
    throw new InvalidInputError(`expected namespace.table or an id, got ${text}`, 'table')
  }
  return { levels, name }
}

/** Levels between U+001F, or between dots where no U+001F is. */
function decodeLevels(raw: string): string[] {
  const text = decodeSegment(raw)
  return text.split(text.includes('\u001f') ? '\u001f' : '.')
}

function eventKind(raw: string): EventKind {
  const text = decodeSegment(raw)
  const kind = EVENT_KINDS.find((one) => one === text)
  if (kind !== undefined) return kind
  throw new InvalidInputError(`expected one of ${EVENT_KINDS.join(', ')}, got ${text}`, 'kind')
}

function quantity(
  query: string,
  parameter: string,
  parse: (text: string | undefined) => number,
): number {
  const text = queryParameter(query, parameter)
  try {
    return parse(text)
  } catch (cause) {
    // `as`: the parsers throw errors that say what they expected.
    const expected = (cause as Error).message
    throw new InvalidInputError(`expected ${expected}, got ${text}`, parameter, { cause })
  }
}

function readSwitch(query: string, parameter: string): boolean {
  const text = queryParameter(query, parameter)
  if (text === undefined || text === 'true') return true
  if (text === 'false') return false
  throw new InvalidInputError(`expected true or false, got ${text}`, parameter)
}
