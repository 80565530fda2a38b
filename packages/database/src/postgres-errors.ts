import postgres from 'postgres'
import { DatabaseUnavailableError, type StatementError } from './database-errors.ts'
import { headOf, refusedStatement } from './refused-statement.ts'

/**
 * SQLSTATEs, or their classes, by which a server says that it cannot serve now. A statement that was cancelled (57014,
 * as by its timeout) is among them, because the cancellation may arrive when its work is already committed.
 */
const UNAVAILABLE = [
  '08', // connection exceptions
  '25006', // the server is a standby, or read-only
  '25P03', // idle in a transaction for too long
  '53', // out of connections, memory or disk
  '57', // shutting down, starting up, cancelled
  '58', // the server's system failed
]

/** Of those, the ones that come before anything was changed. */
const UNSENT = ['25006', '53']

const startsWithAny = (code: string, starts: readonly string[]) =>
  starts.some((start) => code.startsWith(start))

/** Whether the server itself said it, so that the connection is still of use. */
export function isServerError(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError
}

/** What a failure of the driver means for the caller; no message holds a parameter or the address. */
export function translateError(
  error: unknown,
  text: string,
): StatementError | DatabaseUnavailableError {
  if (!isServerError(error)) {
    const message = `the connection to the database was lost during "${headOf(text)}"`
    return new DatabaseUnavailableError(message, { cause: error })
  }
  if (startsWithAny(error.code, UNAVAILABLE)) {
    const message = `the database did not finish "${headOf(text)}": ${error.message}`
    const isUnsent = startsWithAny(error.code, UNSENT)
    return new DatabaseUnavailableError(message, { cause: error, isUnsent })
  }
  return refusedStatement(text, Object.assign(error, { constraint: error.constraint_name }))
}

/** Why no connection could be made. */
export function connectError(error: unknown): DatabaseUnavailableError {
  const reason = isServerError(error) ? `: ${error.message}` : ''
  return new DatabaseUnavailableError(`cannot connect to the database${reason}`, {
    cause: error,
    isUnsent: true,
  })
}
