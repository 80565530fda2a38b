import { CatalogUnavailableError } from '@timelake/iceberg/io/rest-catalog-errors'
import { CommandError, EXIT_CODES } from './exit-code.ts'

/** Repeats calls to a catalog that fails now and then, and gives up on one that is gone. */
export interface Patience {
  /**
   * The result of a call that may be repeated. Errors: those of the call, after several attempts when the catalog was
   * not available; CommandError when one call after the other ended like that.
   */
  attempt<T>(call: () => Promise<T>): Promise<T>
}

const ATTEMPTS_MAX = 4
const FIRST_PAUSE_MS = 500
/** Calls that failed to the end, one after the other, after which the catalog is taken for gone. */
const LOST_CALLS_MAX = 10

/** Patience for one run. */
export function openPatience(pause: (durationMs: number) => Promise<void>): Patience {
  let lostCount = 0
  const giveUp = (error: CatalogUnavailableError): never => {
    lostCount += 1
    if (lostCount < LOST_CALLS_MAX) throw error
    const sentence = `${error.message}, ${lostCount} calls in a row: what was done stays, so run the same command again later`
    throw new CommandError(EXIT_CODES.failed, sentence, { cause: error })
  }
  return {
    async attempt(call) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const result = await call()
          lostCount = 0
          return result
        } catch (error) {
          if (!(error instanceof CatalogUnavailableError)) throw error
          if (attempt === ATTEMPTS_MAX) giveUp(error)
          await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1))
        }
      }
    },
  }
}
