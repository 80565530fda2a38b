import { LRUCache } from 'lru-cache'
import type { DelegationMode } from '../catalog/warehouse.ts'
import type { RouteCall } from '../http/route.ts'
import { auditCall } from './audit-answer.ts'

/** Access that was given; beyond that the one that was given longest ago is noted once more. */
const NOTED_MAX = 20_000
/** Access that has no session of its own is noted again after so long. */
const NOTED_FOR_MS = 3_600_000

/** Access to the objects of a table, given to the caller of a route. */
export interface GivenAccess {
  readonly mode: DelegationMode
  readonly access: 'read' | 'write'
  readonly tableUuid: string
  /** What tells sessions apart: the id of their access key. */
  readonly accessKeyId?: string
}

/**
 * Writes down who was given access to which table: each session once for each process, however often it is handed out, and
 * signatures once an hour. Its calls follow the loads of tables, of which there may be thousands a second.
 */
export class NotedAccess {
  readonly #noted: LRUCache<string, true>

  constructor(nowMs: () => number) {
    // By size, which reserves no memory for entries that may never come.
    const bound = { maxSize: NOTED_MAX, sizeCalculation: () => 1 }
    this.#noted = new LRUCache({ ...bound, ttl: NOTED_FOR_MS, perf: { now: nowMs } })
  }

  note(call: RouteCall, { mode, access, tableUuid, accessKeyId = '' }: GivenAccess): void {
    call.catalog.metrics.accessGiven.inc({ mode, access })
    const key = `${call.caller.id} ${tableUuid} ${mode} ${access} ${accessKeyId}`
    if (this.#noted.has(key)) return
    this.#noted.set(key, true)
    const detail = `${mode}, ${access}`
    auditCall(call, { action: 'giveAccess', outcome: 'done', status: 200, detail })
  }
}
