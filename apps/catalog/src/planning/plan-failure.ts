import { errorAnswer } from '../http/error-response.ts'

/** Nothing is wrong with the plan; the same may succeed later. */
const TRY_LATER = 503

/** The error envelope for a plan that cannot succeed, as text; undefined for what may be different next time. */
export function describePlanFailure(error: unknown): string | undefined {
  const { status, body } = errorAnswer(error)
  return status !== TRY_LATER && typeof body === 'string' ? body : undefined
}
