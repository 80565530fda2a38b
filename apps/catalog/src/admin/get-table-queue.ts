import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { identifierKey } from '../catalog/table-identifier.ts'
import type { HttpAnswer } from '../http/exchange.ts'
import { jsonAnswer } from '../http/json.ts'
import type { RouteCall } from '../http/route.ts'
import type { Ticket } from '../turnstile/turn.ts'
import { tableById } from './table-by-id.ts'

const WAITING_SHOWN_MAX = 100

/**
 * GET /admin/v1/tables/{id}/queue: who commits to the table now, in this process: the depth of its queue of commits, whose turn
 * it is to commit, and the loads that wait for theirs.
 */
export async function getTableQueue(call: RouteCall): Promise<HttpAnswer> {
  const { turnstile, lanes } = call.catalog
  const row = await tableById(call)
  const { isContended, nowMs, turn, waiting } = turnstile.view(identifierKey(row.warehouseId, row))
  const ticketJson = ({ caller, joinedMs, isRetry }: Ticket): JsonObject => ({
    'user-agent': caller.userAgent,
    address: caller.address,
    'waiting-ms': wholeMs(nowMs - joinedMs),
    'lost-before': isRetry,
  })
  return jsonAnswer({
    'table-id': row.id,
    'queue-depth': BigInt(lanes.depthOf(row.id)),
    'expected-wait-ms': wholeMs(lanes.expectedWaitMs(row.id)),
    contended: isContended,
    turn:
      turn === undefined
        ? null
        : {
            'user-agent': turn.ticket.caller.userAgent,
            address: turn.ticket.caller.address,
            'since-ms': wholeMs(nowMs - turn.startMs),
            'left-ms': wholeMs(turn.untilMs - nowMs),
          },
    'waiting-count': BigInt(waiting.length),
    waiting: waiting.slice(0, WAITING_SHOWN_MAX).map(ticketJson),
  })
}

function wholeMs(ms: number): bigint {
  return BigInt(Math.max(0, Math.round(ms)))
}
