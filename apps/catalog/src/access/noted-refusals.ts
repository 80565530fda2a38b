import type { AuditEntry } from '@timelake/database/audit-log'
import { LRUCache } from 'lru-cache'
import type { Counter } from 'prom-client'
import type { RefusedTokenReason } from '../http/request-errors.ts'
import type { AuditTrail } from './audit.ts'
import { entriesMax } from '../entries-max.ts'

/** An address is written down once in a window for each reason, and so many addresses at most. */
const WINDOW_MS = 60_000
const ENTRIES_PER_WINDOW_MAX = 20
const SOURCES_MAX = 1_000

export interface RefusedRequest {
  readonly reason: RefusedTokenReason
  /** The operationId of the route, or `none`. */
  readonly action: string
  readonly remoteAddress: string | undefined
}

interface Window {
  readonly sinceMs: number
  entryCount: number
}

interface NotedRefusalsParts {
  readonly audit: AuditTrail
  readonly counter: Pick<Counter<'reason'>, 'inc'>
  readonly nowMs: () => number
}

/**
 * Counts requests whose sender could not prove who it is, and writes those that came with a token of no use into the audit log:
 * so seldom that whoever sends many cannot fill it. What was left out since is told with the next entry of the address.
 */
export class NotedRefusals {
  readonly #parts: NotedRefusalsParts
  /** Refusals that were left out, by address and reason; present while the window of the last entry is not over. */
  readonly #leftOut = new LRUCache<string, { readonly sinceMs: number; count: number }>(
    entriesMax(SOURCES_MAX),
  )
  #window: Window = { sinceMs: -Infinity, entryCount: 0 }

  constructor(parts: NotedRefusalsParts) {
    this.#parts = parts
  }

  note({ reason, action, remoteAddress }: RefusedRequest): void {
    const { audit, counter, nowMs } = this.#parts
    counter.inc({ reason })
    // Whoever sends no token at all looks around, or has not logged in yet.
    if (reason === 'missing') return
    const source = JSON.stringify([remoteAddress ?? '', reason])
    const known = this.#leftOut.get(source)
    if (known !== undefined && nowMs() - known.sinceMs < WINDOW_MS) {
      known.count += 1
      return
    }
    if (!this.#mayWrite(nowMs())) return
    this.#leftOut.set(source, { sinceMs: nowMs(), count: 0 })
    audit.record(entryOf({ action, remoteAddress, atMs: nowMs(), detail: detailOf(reason, known) }))
  }

  #mayWrite(nowMs: number): boolean {
    if (nowMs - this.#window.sinceMs >= WINDOW_MS) {
      this.#window = { sinceMs: nowMs, entryCount: 0 }
    }
    if (this.#window.entryCount >= ENTRIES_PER_WINDOW_MAX) return false
    this.#window.entryCount += 1
    return true
  }
}

function detailOf(reason: RefusedTokenReason, earlier: { readonly count: number } | undefined) {
  const text = reason === 'expired' ? 'the token is expired' : 'the token is not valid'
  const count = earlier?.count ?? 0
  return count === 0 ? text : `${text}; ${count} more since the last entry`
}

function entryOf(
  refused: Pick<AuditEntry, 'action' | 'remoteAddress' | 'atMs' | 'detail'>,
): AuditEntry {
  return {
    ...refused,
    callerId: '',
    callerName: '',
    callerKind: 'unknown',
    outcome: 'denied',
    status: 401,
    warehouse: undefined,
    namespace: undefined,
    object: undefined,
  }
}
