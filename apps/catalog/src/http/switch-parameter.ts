import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { queryParameter } from './raw-path.ts'

/**
 * A query parameter that is true or false, in any case; absent is false. Throws InvalidInputError for anything else, an
 * empty text too, because a guess could delete something.
 */
export function switchParameter(query: string, name: string): boolean {
  const text = queryParameter(query, name)
  switch (text?.toLowerCase()) {
    case 'true':
      return true
    case undefined:
    case 'false':
      return false
    default:
      throw new InvalidInputError(`expected true or false, got ${JSON.stringify(text)}`, name)
  }
}
