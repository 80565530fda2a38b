import { createHash } from 'node:crypto'
import type { Connection, HttpRequest } from '../http/exchange.ts'

/** Who sent a request, as well as that can be told without asking anything of clients. */
export interface Caller {
  /** Callers of one crowd differ in nothing but their connections. A hash: it goes nowhere, but tokens shape it. */
  readonly crowd: string
  readonly connection: Connection
  /** As it was sent; for people. */
  readonly userAgent: string
  /** The client's, also behind a proxy that says so; for people. */
  readonly address: string
}

const SHOWN_LENGTH_MAX = 200
const CROWD_HASH_LENGTH = 22
// @NOTE DuckDB 1.5 builds on the newest snapshot that is no younger than the start of its transaction, by their timestamps. It
// asks for the table after that start and ignores what has come since, so a load that waits for its turn has lost.
const BEGINNING_BEFORE_THEY_LOAD = /^duckdb\//i

/**
 * The caller by connection, principal, user agent and forwarded address. Undefined for callers inside this process:
 * they come without a connection and never wait.
 */
export function callerOf(request: HttpRequest): Caller | undefined {
  const { connection } = request
  if (connection === undefined) return undefined
  const userAgent = request.header('user-agent') ?? ''
  const address = forwardedAddress(request) ?? connection.remoteAddress
  const parts = [request.header('authorization') ?? '', userAgent, address]
  const crowd = createHash('sha256')
    .update(parts.join('\u0000'))
    .digest('base64url')
    .slice(0, CROWD_HASH_LENGTH)
  return {
    crowd,
    connection,
    userAgent: userAgent.slice(0, SHOWN_LENGTH_MAX),
    address: address.slice(0, SHOWN_LENGTH_MAX),
  }
}

/** Whether its commits build on the state at a time before its load. Nothing but its name tells. */
export function beginsBeforeItLoads({ userAgent }: Pick<Caller, 'userAgent'>): boolean {
  return BEGINNING_BEFORE_THEY_LOAD.test(userAgent)
}

/** The first address of the list is the client's own; what proxies add to it may differ from request to request. */
function forwardedAddress(request: HttpRequest): string | undefined {
  const first = request.header('x-forwarded-for')?.split(',')[0]?.trim()
  return first === '' ? undefined : first
}
