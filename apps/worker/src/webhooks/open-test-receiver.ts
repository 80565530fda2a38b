import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { parseJson } from '@timelake/iceberg/spec/json'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly body: string
  readonly json: JsonObject
  readonly id: string
  /** The table, view or namespace. */
  readonly subject: string
  readonly number: number
  readonly status: number
}

/** A status, with headers; `drop` closes the connection without an answer, `hang` leaves it open. */
export type Reply =
  number | { readonly status: number; readonly headers: Record<string, string> } | 'drop' | 'hang'

export interface TestReceiver {
  readonly url: string
  readonly port: number
  /** Everything that was answered, in order; what was not is left out. */
  readonly received: Received[]
  /** What the receiver took. */
  taken(): Received[]
  /** Decides on the next requests. */
  setReply(reply: (request: Omit<Received, 'status'>) => Reply): void
  close(): Promise<void>
}

/** For tests: a receiver on a free port of the loopback address, which takes everything at first. */
export async function openTestReceiver(): Promise<TestReceiver> {
  const received: Received[] = []
  let reply: (request: Omit<Received, 'status'>) => Reply = () => 204
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const json = parseJson(body) as JsonObject // `as`: only our sender talks to it
      const request = {
        headers: incoming.headers,
        path: incoming.url ?? '',
        body,
        json,
        id: String(json['id']),
        subject: String(json['partitionkey']),
        number: Number(json['sequence']),
      }
      answer(outgoing, reply(request), (status) => received.push({ ...request, status }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // `as`: it listens on a port
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    taken: () => received.filter(({ status }) => status < 300),
    setReply: (next) => void (reply = next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(outgoing: ServerResponse, reply: Reply, note: (status: number) => void): void {
  if (reply === 'hang') return
  if (reply === 'drop') {
    outgoing.socket?.destroy()
    return
  }
  const { status, headers } = typeof reply === 'number' ? { status: reply, headers: {} } : reply
  note(status)
  outgoing.writeHead(status, headers).end(status === 204 ? undefined : 'ok')
}

/** The signature that a receiver with this key computes by itself. */
export function expectedSignature({ headers, body }: Received, key: Uint8Array): string {
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}
