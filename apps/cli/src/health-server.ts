import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeTokenCheck } from '@timelake/catalog/access/authenticate'
import { makeGuard, type Guard } from '@timelake/catalog/http/guard'
import { readiness } from '@timelake/catalog/routes/health'
import type { Database } from '@timelake/database/sql-session'
import type { Settings } from '@timelake/timelake/contract/settings'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'

export interface HealthServer {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  close(): Promise<void>
}

export interface HealthServerParts {
  readonly settings: Pick<
    Settings,
    'host' | 'port' | 'token' | 'authentication' | 'oidcIssuers' | 'allowedHosts' | 'allowedOrigins'
  >
  readonly database: Database
  readonly log: Logger
  readonly registry: Registry
}

/** Answers /health/live, /health/ready and /metrics like the catalog does. Rejects when the address is taken. */
export async function startHealthServer(parts: HealthServerParts): Promise<HealthServer> {
  const { host, port, token, authentication, oidcIssuers, ...rules } = parts.settings
  const isRequired =
    authentication === 'required' ||
    (authentication === 'auto' && (token !== undefined || oidcIssuers.length > 0))
  const guard = makeGuard({ host, ...rules }, makeTokenCheck({ token, isRequired }))
  const server = createServer((request, response) => {
    void answer(parts, guard, request)
      .catch(() => ({ status: 500, type: 'application/json', text: '{"status":"failed"}' }))
      .then(({ status, type, text }) => send(response, { status, type, text }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo // `as`: a TCP server has no other kind of address
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

async function answer(
  { database, log, registry }: HealthServerParts,
  guard: Guard,
  { url = '', headers }: IncomingMessage,
): Promise<Answer> {
  const { host, origin, authorization } = headers
  try {
    await guard({ host, origin, authorization }, url.startsWith('/health/'))
  } catch {
    return json(403, 'refused')
  }
  if (url === '/metrics')
    return { status: 200, type: registry.contentType, text: await registry.metrics() }
  if (url === '/health/live') return json(200, 'live')
  if (url !== '/health/ready') return json(404, 'no such page')
  const { status, body = '' } = await readiness({ database, log })
  return { status, type: 'application/json', text: body.toString() }
}

function json(status: number, word: string): Answer {
  return { status, type: 'application/json', text: JSON.stringify({ status: word }) }
}

function send(response: ServerResponse, { status, type, text }: Answer): void {
  response.writeHead(status, { 'content-type': type }).end(text)
}
