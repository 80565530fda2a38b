import type { Authenticate } from '../access/authenticate.ts'
import { TRUSTED_CALLER, type Caller } from '../access/caller.ts'
import { ForbiddenError } from './request-errors.ts'

export interface GuardRules {
  /** The address that the server listens on. */
  readonly host: string
  /** Further Host names to answer, without port. */
  readonly allowedHosts: readonly string[]
  /** Origins to answer, for example `https://console.example`. */
  readonly allowedOrigins: readonly string[]
}

export interface GuardedHeaders {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
}

/** Answers who the caller is. */
export type Guard = (headers: GuardedHeaders, isOpen: boolean) => Caller | Promise<Caller>

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]']

/**
 * Builds the check that every request from the network passes. Throws ForbiddenError for a Host or Origin that is
 * not ours (a web page that was rebound to a loopback address sends its own), and what `authenticate` throws. `isOpen`
 * routes (health, the token endpoint) need no token. Listening on a wildcard address without `allowedHosts`
 * accepts any Host, because the names of the machine are not known.
 */
export function makeGuard(rules: GuardRules, authenticate: Authenticate): Guard {
  const acceptsAnyHost = isWildcard(rules.host) && rules.allowedHosts.length === 0
  const checkHost = acceptsAnyHost ? () => {} : makeHostCheck(rules)
  const origins = new Set(rules.allowedOrigins.map((origin) => origin.toLowerCase()))
  return (headers, isOpen) => {
    checkHost(headers.host)
    const origin = headers.origin?.toLowerCase()
    const isForeign = origin !== undefined && !origins.has(origin)
    // Host and Origin that agree prove nothing where every Host is accepted.
    if (isForeign && (acceptsAnyHost || !isSameOrigin(origin, headers.host))) {
      throw new ForbiddenError(`requests from origin ${origin} are not allowed`)
    }
    if (isOpen) return TRUSTED_CALLER
    return authenticate(headers.authorization)
  }
}

function makeHostCheck(rules: GuardRules): (host: string | undefined) => void {
  const listensOn = rules.host.includes(':') ? `[${rules.host}]` : rules.host
  const names = [...LOOPBACK_NAMES, listensOn, ...rules.allowedHosts]
  const allowed = new Set(names.map((name) => name.toLowerCase()))
  return (host) => {
    if (host === undefined) return
    const lower = host.toLowerCase()
    if (allowed.has(lower) || allowed.has(lower.replace(/:\d+$/, ''))) return
    throw new ForbiddenError(`requests for host ${host} are not allowed`)
  }
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.replace(/^https?:\/\//, '') === host.toLowerCase()
}
