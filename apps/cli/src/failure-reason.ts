import {
  CatalogRefusedError,
  CatalogUnavailableError,
} from '@timelake/iceberg/io/rest-catalog-errors'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'

/** Why one subject of a run failed while the others go on. Throws the error again when it concerns the whole run. */
export function failureReason(error: unknown): string {
  const isOfOneSubject =
    error instanceof CatalogRefusedError ||
    error instanceof CatalogUnavailableError ||
    error instanceof InvalidInputError
  if (!isOfOneSubject) throw error
  return error.message
}
