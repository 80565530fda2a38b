import { LRUCache } from 'lru-cache'
import type { DelegationMode } from '../catalog/warehouse.ts'
import { entriesMax } from '../entries-max.ts'

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
 * Remembers who was given access to which table: each session once for each process, however often it is handed out, and
 * signatures once an hour.
 */
export class NotedAccess {
  readonly #noted: LRUCache<string, true>

  constructor(nowMs: () => number) {
    this.#noted = new LRUCache({
      ...entriesMax(NOTED_MAX),
      ttl: NOTED_FOR_MS,
      perf: { now: nowMs },
    })
  }

  /** Whether this is to be written down; it is remembered then. */
  isNew(callerId: string, { mode, access, tableUuid, accessKeyId = '' }: GivenAccess): boolean {
    const key = `${callerId} ${tableUuid} ${mode} ${access} ${accessKeyId}`
    if (this.#noted.has(key)) return false
    this.#noted.set(key, true)
    return true
  }
}
