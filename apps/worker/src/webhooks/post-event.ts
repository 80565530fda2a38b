import { lookup as lookUpHost } from 'node:dns/promises'
import {
  Agent as HttpAgent,
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { AddressRange } from '@timelake/timelake/contract/webhooks/address-ranges'
import { parseAddress } from '@timelake/timelake/contract/webhooks/address-ranges'
import { outcomeOfStatus, type SendOutcome } from '@timelake/timelake/contract/webhooks/plan-retry'
import { refusalOfAddress } from '@timelake/timelake/contract/webhooks/webhook-target'

export interface PosterOptions {
  /** From the start to the status of the answer. */
  readonly timeoutMs: number
  /** What may be reached beside public addresses. */
  readonly allowedAddresses: readonly AddressRange[]
  /** The addresses of a host name. */
  readonly resolveHost: (host: string) => Promise<readonly string[]>
}

export interface Poster {
  /** Hands a body to a receiver. Throws nothing: whatever happens is an outcome, whose reason holds no part of the URL. */
  post(message: PostedMessage): Promise<SendOutcome>
  close(): void
}

export interface PostedMessage {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Of an answer's body, which is not read for its meaning. */
const RESPONSE_BYTES_MAX = 65_536
const IDLE_SOCKET_MS_MAX = 30_000
const IDLE_SOCKETS_MAX = 16

/** The addresses that the resolver of this machine finds. */
export async function resolveHost(host: string): Promise<readonly string[]> {
  const found = await lookUpHost(host, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Posts to receivers that strangers describe: the host is resolved here, only addresses that may be reached are connected
 * to, and the connection goes to exactly those. No redirect is followed, and no proxy of the environment is used.
 */
export function openPoster(options: PosterOptions): Poster {
  const idle = { keepAlive: true, timeout: IDLE_SOCKET_MS_MAX, maxFreeSockets: IDLE_SOCKETS_MAX }
  const agents = { http: new HttpAgent(idle), https: new HttpsAgent(idle) }
  return {
    post: (message) => post(message, options, agents),
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

async function post(
  message: PostedMessage,
  options: PosterOptions,
  agents: Agents,
): Promise<SendOutcome> {
  const signal = AbortSignal.timeout(options.timeoutMs)
  try {
    const addresses = await withinTime(findTarget(message.url, options), signal)
    return await exchange(message, { addresses, signal, agents })
  } catch (error) {
    return { outcome: 'away', reason: reasonOf(error, signal, options.timeoutMs) }
  }
}

/** The target may not be reached; the message is a sentence that names no address. */
class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError'
}

async function findTarget(url: URL, options: PosterOptions): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const found = parseAddress(host) === undefined ? await options.resolveHost(host) : [host]
  let refusal = 'expected an address, found none'
  const open = found.filter((text) => {
    const address = parseAddress(text)
    if (address === undefined) return false
    const refused = refusalOfAddress(address, url, options.allowedAddresses)
    refusal = refused ?? refusal
    return refused === undefined
  })
  if (open.length === 0) throw new TargetRefusedError(`cannot reach the receiver: ${refusal}`)
  return open
}

interface Exchange {
  readonly addresses: readonly string[]
  readonly signal: AbortSignal
  readonly agents: Agents
}

async function exchange(message: PostedMessage, how: Exchange): Promise<SendOutcome> {
  const { response, isOnUsedSocket } = await sendOnce(message, how)
  if (response !== undefined) return response
  // A receiver may close an idle connection at the moment that it is used again: that says nothing of the receiver.
  const second = isOnUsedSocket ? await sendOnce(message, how) : undefined
  if (second?.response !== undefined) return second.response
  return { outcome: 'away', reason: 'no answer: the connection was closed' }
}

interface Sent {
  /** Absent when the connection was closed before an answer. */
  readonly response: SendOutcome | undefined
  readonly isOnUsedSocket: boolean
}

function sendOnce(
  { url, headers, body }: PostedMessage,
  { addresses, signal, agents }: Exchange,
): Promise<Sent> {
  const isSecure = url.protocol === 'https:'
  const options = {
    method: 'POST',
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    signal,
    lookup: pinnedLookup(addresses),
  }
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = isSecure
      ? httpsRequest(url, { ...options, agent: agents.https })
      : httpRequest(url, { ...options, agent: agents.http })
    outgoing.on('response', (incoming) => {
      const retryAfter = incoming.headers['retry-after']
      const response = outcomeOfStatus(incoming.statusCode ?? 0, retryAfter)
      drain(incoming)
      resolve({ response, isOnUsedSocket: outgoing.reusedSocket })
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
      if (!isClosed) reject(error)
      else resolve({ response: undefined, isOnUsedSocket: outgoing.reusedSocket })
    })
    outgoing.end(body)
  })
}

/** Whatever name is asked for: these addresses, which were checked. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, options, done) => {
    const [first] = found
    if (options.all === true) done(null, found)
    else done(null, first?.address ?? '', first?.family ?? 4)
  }
}

// The status has decided; the rest is read so that the connection can be used again, up to a limit.
function drain(incoming: IncomingMessage): void {
  let readBytes = 0
  incoming.on('data', (chunk: Buffer) => {
    readBytes += chunk.length
    if (readBytes > RESPONSE_BYTES_MAX) incoming.destroy()
  })
  incoming.on('error', () => {})
}

async function withinTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => {}
  const late = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error) // `as`: the reason of a timeout is an error
    signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `no answer within ${timeoutMs} ms`
  if (error instanceof TargetRefusedError) return error.message
  // `as`: whatever was thrown is only looked at. Messages of the network name hosts; codes do not.
  const { code } = Object(error) as { code?: unknown }
  return `no answer: ${typeof code === 'string' ? code : 'the connection failed'}`
}
