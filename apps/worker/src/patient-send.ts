import type { SendRequest } from '@timelake/iceberg/io/rest-catalog'

/** Sends of one request. */
const ATTEMPTS_MAX = 8
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2
const PAUSE_MS_MAX = 5_000

/** What a proxy or a catalog says that stops or starts. */
const AWAY_STATUSES: readonly number[] = [502, 503, 504]

export interface PatientSendOptions {
  /** Resolves after the time or rejects with the signal's reason. */
  readonly pauseMs: (durationMs: number, signal: AbortSignal) => Promise<void>
}

/**
 * Sends again what may be sent twice (reads, and requests with an idempotency key) while the catalog is away: about
 * 17 seconds, enough for a restart. Then the last answer or error stands.
 */
export function patientSend(send: SendRequest, { pauseMs }: PatientSendOptions): SendRequest {
  return async (request) => {
    if (!isRepeatable(request)) return send(request)
    for (let attempt = 1; ; attempt++) {
      // The body of a request can be sent once.
      const outcome = await attemptSend(send, request.clone())
      const isAway = outcome.response === undefined || isAwayAnswer(outcome.response)
      if (!isAway || attempt === ATTEMPTS_MAX || request.signal.aborted) {
        if (outcome.response === undefined) throw outcome.error
        return outcome.response
      }
      await outcome.response?.body?.cancel()
      const pause = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * PAUSE_GROWTH ** (attempt - 1))
      await pauseMs(pause, request.signal)
    }
  }
}

function isRepeatable({ method, headers }: Request): boolean {
  return method === 'GET' || headers.has('idempotency-key')
}

function isAwayAnswer({ status }: Response): boolean {
  return AWAY_STATUSES.includes(status)
}

async function attemptSend(
  send: SendRequest,
  request: Request,
): Promise<{ readonly response?: Response; readonly error?: unknown }> {
  try {
    return { response: await send(request) }
  } catch (error) {
    return { error }
  }
}
