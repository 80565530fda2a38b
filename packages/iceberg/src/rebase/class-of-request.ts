import type { CommitRequest } from '../commit/table-update.ts'
import { rebaseShapeOf } from './rebase-shape.ts'

/**
 * How a request waits for its table. `strict`: it must find the state that it asks for. `append`, `rewrite`: it can be
 * attached to whatever it finds, so it loses nothing by waiting.
 */
export type RequestClass = 'strict' | 'append' | 'rewrite'

/** The class of a request; `isRebaseAsked`: by its table or by its sender. */
export function classOfRequest(request: CommitRequest, isRebaseAsked: boolean): RequestClass {
  if (!isRebaseAsked) return 'strict'
  const shape = rebaseShapeOf(request)
  if (shape.outcome === 'refused') return 'strict'
  return shape.kind === 'append' ? 'append' : 'rewrite'
}
