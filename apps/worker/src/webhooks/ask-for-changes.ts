import type { FeedEvent } from '@timelake/database/feed'
import type { SendRequest } from '@timelake/iceberg/io/rest-catalog'
import type { Logger } from 'pino'

export interface ChangesOptions {
  readonly catalogFetch: SendRequest
  /** Where `catalogFetch` finds the catalog. Default: a name that a catalog in the same process ignores. */
  readonly catalogUri?: string
  readonly catalogToken?: string
  readonly log: Logger
  nowMs(): number
}

export interface Changes {
  /**
   * Has the catalog find out what the commits among these events did to each partition, which it keeps with the events:
   * whether it is worth reading them again. The events of one warehouse, behind this cursor.
   */
  ask(batch: AskedBatch): Promise<boolean>
}

export interface AskedBatch {
  readonly warehouse: string
  /** Undefined: before all events. */
  readonly after: string | undefined
  readonly events: readonly FeedEvent[]
}

const ANSWER_MS_MAX = 10_000
/** A catalog that does not answer is left alone for this long: its events go out without. */
const PAUSE_MS = 60_000
const IN_PROCESS_URI = 'http://127.0.0.1'

/** Asks a catalog, because only catalogs read manifests; events do not wait for one that is away. */
export function openChanges(options: ChangesOptions): Changes {
  const { catalogFetch, catalogUri = IN_PROCESS_URI, catalogToken, log, nowMs } = options
  let awayUntilMs = 0
  return {
    async ask({ warehouse, after, events }) {
      const unknown = events.filter(isUnknown)
      if (unknown.length === 0 || nowMs() < awayUntilMs) return false
      const tableIds = [...new Set(unknown.flatMap(({ tableId }) => tableId ?? []))]
      const query = new URLSearchParams({
        limit: String(events.length),
        table: tableIds.join(','),
        kind: COMMIT_KINDS.join(','),
        ...(after === undefined ? {} : { after }),
      })
      const path = `/lake/v1/${encodeURIComponent(warehouse)}/events?${query.toString()}`
      const request = new Request(`${catalogUri.replace(/\/+$/, '')}${path}`, {
        headers: catalogToken === undefined ? {} : { authorization: `Bearer ${catalogToken}` },
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      })
      try {
        const response = await catalogFetch(request)
        await response.arrayBuffer()
        if (response.ok) return true
        log.warn({ status: response.status }, 'the catalog does not say what commits did')
      } catch (error) {
        log.warn({ err: error }, 'the catalog does not say what commits did')
      }
      awayUntilMs = nowMs() + PAUSE_MS
      return false
    },
  }
}

const COMMIT_KINDS: readonly FeedEvent['kind'][] = ['table-committed', 'table-created']

function isUnknown({ kind, details, payload }: FeedEvent): boolean {
  return details === undefined && COMMIT_KINDS.includes(kind) && payload.includes('"manifest-list"')
}
