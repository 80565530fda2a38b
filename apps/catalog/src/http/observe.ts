import type { Logger } from 'pino'
import type { CatalogMetrics } from '../catalog-metrics.ts'
import type { Answered } from './dispatch.ts'
import type { HttpRequest } from './exchange.ts'
import { splitTarget } from './raw-path.ts'

/** Called when a request arrives; the result is called with its answer. */
export type Observe = () => (request: HttpRequest, answered: Answered) => void

/**
 * Counts and logs answers. A line holds method, path, status and time and never a header, a query or a body, so no
 * secret can be in it. Reads that succeed are `debug`, mutations `info`, our own failures `error` with the chain of causes.
 * `nowMs` needs no relation to the clock on the wall.
 */
export function makeObserve(log: Logger, metrics: CatalogMetrics, nowMs: () => number): Observe {
  return () => {
    const startMs = nowMs()
    return (request, { answer, operationId, error }) => {
      const durationMs = nowMs() - startMs
      metrics.requests.inc({ operation: operationId, status: answer.status })
      metrics.durationSeconds.observe({ operation: operationId }, durationMs / 1_000)
      const level = levelOf(operationId, request.method, answer.status)
      if (!log.isLevelEnabled(level)) return
      const { path } = splitTarget(request.target)
      const line = { method: request.method, path, status: answer.status, durationMs, operationId }
      log[level](answer.status >= 500 ? { ...line, err: error } : line, 'request')
    }
  }
}

/** Posts that change nothing, of which a client sends one for each object or file. */
const READING_POSTS: ReadonlySet<string> = new Set(['signRequest', 'fetchScanTasks'])

function levelOf(
  operationId: string,
  method: string,
  status: number,
): 'error' | 'warn' | 'info' | 'debug' {
  if (status === 503) return 'warn'
  if (status >= 500) return 'error'
  const isRead = method === 'GET' || method === 'HEAD' || READING_POSTS.has(operationId)
  return isRead ? 'debug' : 'info'
}
