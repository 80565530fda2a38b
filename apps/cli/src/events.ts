import { decodeError } from '@timelake/iceberg/rest/error-json'
import { isJsonArray, parseJson, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { askAdmin } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import type { EventsCommand } from './events-command.ts'
import { CommandError, EXIT_CODES, type ExitCode } from './exit-code.ts'
import { printEvent } from './print-event.ts'

/** How long the server holds an answer back for a follower. */
const WAIT = '30s'
/** Before a follower asks again a server that does not answer. */
const RETRY_MS = 1_000
const EVENTS_PER_ANSWER = 500

/**
 * Prints the events of a warehouse that the server keeps; a follower goes on with those that come, across restarts of the
 * server, until `stopped` aborts. Errors: CommandError.
 */
export async function events(
  command: EventsCommand,
  context: CommandContext,
  stopped: AbortSignal = new AbortController().signal,
): Promise<ExitCode> {
  const { uri = context.settings.uri, isFollowing, isJson, filter } = command
  const route = `${uri.replace(/\/+$/, '')}/lake/v1/${await prefixOf(command, context, uri)}/events`
  let { after } = command
  for (;;) {
    const wait = isFollowing ? WAIT : '0s'
    const query = new URLSearchParams({ after, wait, limit: String(EVENTS_PER_ANSWER) })
    for (const [name, value] of filter) query.append(name, value)
    const page = await readPage(`${route}?${query.toString()}`, context, stopped)
    if (stopped.aborted) return EXIT_CODES.done
    if (page === 'no-answer') {
      if (!isFollowing) throw noAnswer(uri)
      await context.pause(RETRY_MS)
      continue
    }
    for (const event of page.events) context.print(isJson ? printJson(event) : printEvent(event))
    after = page.cursor
    if (isFollowing || !page.isAtEnd) continue
    if (!isJson) context.print(`go on with --after ${after}`)
    return EXIT_CODES.done
  }
}

/** What stands for the warehouse in the server's paths. */
async function prefixOf(
  { warehouse }: EventsCommand,
  { settings, send }: CommandContext,
  uri: string,
): Promise<string> {
  const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`
  const path = `/v1/config${query}`
  const config = await askAdmin({ uri, token: settings.token, send }, { method: 'GET', path })
  const prefix = member(member(config, 'overrides'), 'prefix')
  if (typeof prefix === 'string') return encodeURIComponent(prefix)
  throw new CommandError(EXIT_CODES.failed, `the server at ${uri} names no warehouse`)
}

interface Page {
  readonly events: readonly JsonObject[]
  readonly cursor: string
  readonly isAtEnd: boolean
}

async function readPage(
  url: string,
  { settings, send }: CommandContext,
  signal: AbortSignal,
): Promise<Page | 'no-answer'> {
  const headers: Record<string, string> =
    settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` }
  const answer = await send(new Request(url, { headers, signal })).then(
    async (response) => ({ status: response.status, body: await response.text() }),
    () => undefined,
  )
  if (answer === undefined || answer.status >= 500) return 'no-answer'
  if (answer.status === 200) return pageOf(parseJson(answer.body))
  const reason = decodeError(parseJson(answer.body))?.message ?? String(answer.status)
  throw new CommandError(EXIT_CODES.failed, `cannot read the events: ${reason}`)
}

function pageOf(json: JsonValue): Page {
  const [listed, cursor] = [member(json, 'events'), member(json, 'next-cursor')]
  if (!isArray(listed) || typeof cursor !== 'string') {
    throw new CommandError(
      EXIT_CODES.failed,
      'cannot read the events: the answer is of another kind',
    )
  }
  return { events: listed.filter(isObject), cursor, isAtEnd: member(json, 'is-at-end') === true }
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) ? value[name] : undefined
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && value !== null && typeof value === 'object' && !isJsonArray(value)
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return value !== undefined && isJsonArray(value)
}

function noAnswer(uri: string): CommandError {
  const sentence = `no server answers at ${uri}: start one with \`npm start\`, or set TIMELAKE_URI`
  return new CommandError(EXIT_CODES.failed, sentence)
}
