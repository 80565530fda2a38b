import { createHash } from 'node:crypto'
import {
  type AccessScope,
  UnvendableScopeError,
  VENDED_LIFE_MS_MAX,
  VENDED_LIFE_MS_MIN,
  type VendOptions,
} from './access-broker.ts'
import type { SessionCredentials } from './session-credentials.ts'
import { sessionPolicyOf } from './s3-session-policy.ts'
import type { SessionRequest } from './s3-session.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'

/** Sessions kept for the next call of the same scope; beyond that the one that was not asked for longest is forgotten. */
export const VENDED_SESSIONS_MAX = 4_096
/** What a session may last that was got with a session (AWS: role chaining), as the process's own identity may be. */
const CHAINED_LIFE_MS_MAX = 3_600_000
const SESSION_NAME_CHARACTERS_MAX = 64

export interface VendedSessionsOptions {
  readonly profile: S3Profile
  /** Absent: the process's own identity. */
  readonly credentials: S3Credentials | undefined
  readonly nowMs: () => number
  readonly assume: (session: SessionRequest & { policy: string }) => Promise<SessionCredentials>
}

interface KeptSession {
  readonly credentials: SessionCredentials
  /** From then on callers would get less than half of its life. */
  readonly staleAtMs: number
}

/**
 * Sessions for clients, each held to a scope by its policy. Callers of the same scope, name and duration share one until half
 * of its life is over, and those at the same time share one call; a call that failed is not remembered.
 */
export function openVendedSessions(
  options: VendedSessionsOptions,
): (scope: AccessScope, asked: VendOptions) => Promise<SessionCredentials> {
  const { profile, credentials, nowMs, assume } = options
  const roleArn = profile.clientRoleArn ?? profile.roleArn
  const kept = new Map<string, KeptSession>()
  const running = new Map<string, Promise<SessionCredentials>>()
  const isLasting = credentials !== undefined && credentials.sessionToken === undefined
  const lifeMsMax = isLasting ? VENDED_LIFE_MS_MAX : CHAINED_LIFE_MS_MAX

  const fetchSession = async (
    key: string,
    session: SessionRequest & { policy: string },
  ): Promise<SessionCredentials> => {
    const askedAtMs = nowMs()
    const found = await assume(session)
    const expiresAtMs = found.expiresAtMs ?? askedAtMs + session.durationSeconds * 1_000
    const staleAtMs = askedAtMs + (expiresAtMs - askedAtMs) / 2
    kept.delete(key)
    kept.set(key, { credentials: { ...found, expiresAtMs }, staleAtMs })
    for (const oldest of kept.keys()) {
      if (kept.size <= VENDED_SESSIONS_MAX) break
      kept.delete(oldest)
    }
    return { ...found, expiresAtMs }
  }
  return async (scope, asked) => {
    if (roleArn === undefined) {
      const sentence = 'cannot cut a session for a client: the warehouse has no role-arn'
      throw new UnvendableScopeError('no-role', sentence)
    }
    const policy = sessionPolicyOf(scope, /^arn:([^:]+):/.exec(roleArn)?.[1])
    const sessionName = sessionNameOf(asked.sessionName)
    const lifeMs = Math.min(lifeMsMax, Math.max(VENDED_LIFE_MS_MIN, asked.durationMs))
    const durationSeconds = Math.floor(lifeMs / 1_000)
    const key = `${durationSeconds} ${sessionName} ${policy}`
    const found = kept.get(key)
    if (found !== undefined && nowMs() < found.staleAtMs) {
      // Last place in the map: asked for most recently.
      kept.delete(key)
      kept.set(key, found)
      return found.credentials
    }
    let fetching = running.get(key)
    if (fetching === undefined) {
      const session = { roleArn, sessionName, durationSeconds, policy }
      fetching = fetchSession(key, session).finally(() => running.delete(key))
      running.set(key, fetching)
    }
    return fetching
  }
}

/** A name that STS takes; different texts give different names, so that nobody passes for another in the store's log. */
export function sessionNameOf(text: string): string {
  if (/^[A-Za-z0-9_+=,.@-]{2,64}$/.test(text) && !/-[0-9a-f]{12}$/.test(text)) return text
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const begin = text.replace(/[^A-Za-z0-9_+=,.@-]+/g, '-')
  return `${begin.slice(0, SESSION_NAME_CHARACTERS_MAX - digest.length - 1)}-${digest}`
}
