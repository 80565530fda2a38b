import * as rules from '@timelake/iceberg/rest/name-rules'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/

/**
 * Throws InvalidInputError for names that no client could address or that the database could not hold: what the
 * protocol's name rules refuse, and `.`, `..` (URLs lose them) and control characters. Everything else is data, compared code point by
 * code point.
 */
export function checkName(name: string, path: string): void {
  rules.checkName(name, path)
  checkAddressable(name, path)
}

/** `checkName` for every level, and limits for their number and total length. */
export function checkNamespace(levels: readonly string[], path: string): void {
  rules.checkNamespace(levels, path)
  for (const level of levels) checkAddressable(level, path)
}

function checkAddressable(name: string, path: string): void {
  if (name === '.' || name === '..') throw new InvalidInputError(`${name} is not a name`, path)
  if (CONTROL_CHARACTER.test(name)) {
    throw new InvalidInputError('a name must not hold control characters', path)
  }
}
