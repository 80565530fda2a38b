import { StatementError } from './database-errors.ts'

/** What a server says about a statement that it refused; `code` is the SQLSTATE. */
export interface Refusal extends Error {
  readonly code?: string | undefined
  readonly constraint?: string | undefined
}

const HEAD_CHARACTERS_MAX = 80

/** The error for a statement that a server refused, with the beginning of its text and none of its parameters. */
export function refusedStatement(text: string, refusal: Refusal): StatementError {
  return new StatementError(`database refused "${headOf(text)}": ${refusal.message}`, {
    cause: refusal,
    ...(refusal.code === undefined ? {} : { code: refusal.code }),
    ...(refusal.constraint === undefined ? {} : { constraint: refusal.constraint }),
  })
}

/** The beginning of a statement, on one line, for messages. */
export function headOf(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, HEAD_CHARACTERS_MAX)
}
