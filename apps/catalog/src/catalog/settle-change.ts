import {
  DatabaseUnavailableError,
  IdempotencyKeyLostError,
  LocationTakenError,
  StatementError,
} from '@timelake/database/database-errors'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { CommitStateUnknownError, NotAppliedError } from './catalog-errors.ts'

/** A change of the database whose answer may get lost. */
export interface SettledChange<Outcome> {
  /** For messages, such as `the commit`. */
  readonly what: string
  /** Sends the change. Where it was applied already, sending it again must change nothing. */
  send(): Promise<Outcome>
  /** Whether this outcome says that the change was applied. */
  isApplied(outcome: Outcome): boolean
  /** Looks for the traces of the change: the outcome when it was applied, undefined when there are none. */
  findApplied(): Promise<Outcome | undefined>
}

/**
 * Sends a change and knows afterwards whether it was applied. A lost answer says nothing: the statement may be done, or
 * running, or on its way, and who only reads may read too early. Every change is refused where it was applied before, so it
 * is sent once more, which waits for the first one: what comes back is final. Traces prove that it was applied; that there
 * are none proves the contrary only when the second send was refused.
 * Throws NotAppliedError, InvalidInputError (a location is taken) and IdempotencyKeyLostError, all of them with nothing
 * applied; CommitStateUnknownError when the database did not answer the second time either.
 */
export async function settleChange<Outcome>(change: SettledChange<Outcome>): Promise<Outcome> {
  try {
    return await change.send()
  } catch (error) {
    if (isRefusal(error)) throw refusalOf(error, change.what)
    return sendAgain(change, error)
  }
}

async function sendAgain<Outcome>(
  change: SettledChange<Outcome>,
  first: unknown,
): Promise<Outcome> {
  let second: { readonly outcome: Outcome } | { readonly error: unknown }
  try {
    second = { outcome: await change.send() }
  } catch (error) {
    second = { error }
  }
  if ('outcome' in second && change.isApplied(second.outcome)) return second.outcome
  const applied = await lookFor(change, first)
  if (applied !== undefined) return applied
  if ('outcome' in second) return second.outcome
  if (isFinal(second.error)) throw refusalOf(second.error, change.what)
  if (isUnsent(first) && (isUnsent(second.error) || isRefusal(second.error))) {
    throw new NotAppliedError(`the database does not take ${change.what} now`, { cause: first })
  }
  throw unknownState(change.what, [first, second.error])
}

async function lookFor<Outcome>(
  change: SettledChange<Outcome>,
  first: unknown,
): Promise<Outcome | undefined> {
  // Without a send there is nothing to look for.
  try {
    return await change.findApplied()
  } catch (error) {
    if (isUnsent(first)) return undefined
    throw unknownState(change.what, [first, error])
  }
}

/** Nothing was applied by this send. */
function isRefusal(error: unknown): error is Error {
  return error instanceof StatementError || isFinal(error)
}

/** Nothing was applied, and a send before it is not under way any more. */
function isFinal(error: unknown): error is Error {
  return error instanceof LocationTakenError || error instanceof IdempotencyKeyLostError
}

function isUnsent(error: unknown): boolean {
  return error instanceof DatabaseUnavailableError && error.isUnsent
}

function refusalOf(error: Error, what: string): Error {
  if (error instanceof IdempotencyKeyLostError) return error
  if (error instanceof LocationTakenError) {
    return new InvalidInputError(error.message, undefined, { cause: error })
  }
  return new NotAppliedError(`the database refused ${what}`, { cause: error })
}

function unknownState(what: string, causes: readonly unknown[]): CommitStateUnknownError {
  return new CommitStateUnknownError(`cannot tell whether ${what} happened`, {
    cause: new AggregateError(causes),
  })
}
