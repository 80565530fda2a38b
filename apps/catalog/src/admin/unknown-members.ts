import { object } from '@timelake/iceberg/spec/decode'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'

const SHOWN_CHARACTERS_MAX = 100

/** Throws InvalidInputError for a member of a request body that nobody would read. */
export function refuseUnknown(json: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(object(json, 'request body')).find(
    (member) => !known.includes(member),
  )
  if (unknown === undefined) return
  const shown = JSON.stringify(unknown.slice(0, SHOWN_CHARACTERS_MAX))
  throw new InvalidInputError(`expected the members ${known.join(', ')}, found ${shown}`)
}
