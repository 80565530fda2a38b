import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { openRuleBook, type FaultRule } from './fault-rules.ts'
import { classifyRequest, type Traffic } from './traffic.ts'

/** One request that went through, as the log keeps it. */
export interface LoggedRequest extends Traffic {
  readonly method: string
  readonly target: string
  readonly fault: FaultRule['do'] | undefined
  /** What the client was answered; undefined: nothing, or not yet. */
  status: number | undefined
}

export interface ChaosProxy {
  readonly url: string
  setRules(rules: readonly FaultRule[]): void
  /** How many requests each rule has broken. */
  hits(): readonly number[]
  /** Every request since the last reset, in order of arrival. */
  log(): readonly LoggedRequest[]
  reset(): void
  close(): Promise<void>
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly answer: ServerResponse
  readonly rule: FaultRule | undefined
  readonly entry: LoggedRequest
}

const LOG_ENTRIES_MAX = 100_000
const UPSTREAM_SOCKETS_MAX = 256

/**
 * A proxy on loopback that counts requests and breaks them by rule. Path, query, headers (Host too, so that signatures stay
 * valid) and body pass unchanged. Made for S3; a catalog works as well, its requests being of the kinds of S3 by method.
 */
export async function startChaosProxy(options: {
  readonly upstream: string
  readonly port?: number
}): Promise<ChaosProxy> {
  const target = new URL(options.upstream)
  const agent = new Agent({ keepAlive: true, maxSockets: UPSTREAM_SOCKETS_MAX })
  const book = openRuleBook()
  let log: LoggedRequest[] = []
  const server = createServer((incoming, answer) => {
    const method = incoming.method ?? 'GET'
    const head = { method, target: incoming.url ?? '/' }
    const isCopy = incoming.headers['x-amz-copy-source'] !== undefined
    const traffic = classifyRequest({ ...head, isCopy })
    const rule = book.next({ ...head, ...traffic })
    const entry: LoggedRequest = { ...head, ...traffic, fault: rule?.do, status: undefined }
    if (log.length < LOG_ENTRIES_MAX) log.push(entry)
    void handle({ incoming, answer, rule, entry }, { target, agent })
  })
  server.requestTimeout = 0
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    setRules: (rules) => book.replace(rules),
    hits: () => book.hits(),
    log: () => log,
    reset: () => {
      log = []
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      agent.destroy()
      await once(server, 'close')
    },
  }
}

/** The port that a listening server has. */
export function portOf(server: Server): number {
  // `as`: a server that listens on TCP has an address of this kind.
  return (server.address() as AddressInfo).port
}

interface Upstream {
  readonly target: URL
  readonly agent: Agent
}

async function handle(exchange: Exchange, upstream: Upstream): Promise<void> {
  const { incoming, answer, rule } = exchange
  incoming.on('error', () => {})
  answer.on('error', () => {})
  switch (rule?.do) {
    case 'drop-request':
      return cut(exchange)
    case 'hang':
      incoming.resume()
      if (rule.ms !== undefined) await pause(rule.ms, undefined, { ref: false })
      return rule.ms === undefined ? undefined : cut(exchange)
    case 'status':
      incoming.resume()
      return void incoming.on('end', () => answerStatus(exchange))
    case 'delay':
      await pause(rule.ms ?? 0)
      return forward(exchange, upstream)
    default:
      return forward(exchange, upstream)
  }
}

function forward(exchange: Exchange, { target, agent }: Upstream): void {
  const { incoming, answer, entry } = exchange
  const onward = request({
    host: target.hostname,
    port: target.port === '' ? 80 : Number(target.port),
    method: entry.method,
    path: entry.target,
    headers: withoutHopHeaders(incoming.rawHeaders),
    agent,
    setHost: false,
  })
  incoming.pipe(onward)
  // The client left in the middle of its body.
  incoming.on('close', () => {
    if (!incoming.complete) onward.destroy()
  })
  onward.on('error', () => {
    if (answer.headersSent) return cut(exchange)
    entry.status = 502
    answer.writeHead(502).end()
  })
  onward.on('response', (response) => void relay(exchange, response))
}

async function relay(exchange: Exchange, response: IncomingMessage): Promise<void> {
  const { answer, rule, entry } = exchange
  const status = response.statusCode ?? 502
  const headers = withoutHopHeaders(response.rawHeaders)
  response.on('error', () => cut(exchange))
  switch (rule?.do) {
    case 'drop-answer':
      await buffer(response).catch(() => undefined)
      return cut(exchange)
    case 'status-after':
      await buffer(response).catch(() => undefined)
      return answerStatus(exchange)
    case 'truncate': {
      const body = await buffer(response)
      entry.status = status
      answer.writeHead(status, headers)
      return void answer.write(body.subarray(0, rule.bytes ?? 0), () => cut(exchange))
    }
    case 'delay-answer': {
      const body = await buffer(response)
      await pause(rule.ms ?? 0)
      entry.status = status
      return void answer.writeHead(status, headers).end(body)
    }
    default:
      entry.status = status
      answer.writeHead(status, headers)
      response.pipe(answer)
  }
}

function cut({ incoming }: Exchange): void {
  incoming.socket.destroy()
}

function answerStatus({ answer, rule, entry }: Exchange): void {
  const status = rule?.status ?? 503
  const code = status === 503 ? 'SlowDown' : 'InternalError'
  const xml = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>chaos</Message></Error>`
  const body = entry.method === 'HEAD' ? '' : xml
  entry.status = status
  const length = Buffer.byteLength(body)
  answer.writeHead(status, { 'content-type': 'application/xml', 'content-length': length })
  answer.end(body)
}

// Names and values in turn, as Node keeps and takes them.
function withoutHopHeaders(raw: readonly string[]): string[] {
  return raw.filter((_, index) => {
    const name = raw[index - (index % 2)] ?? ''
    return !/^(connection|keep-alive|expect)$/i.test(name)
  })
}
