import { type DeleteResult, LocationError, StoreUnavailableError } from './object-store.ts'

/** Single deletes at the same time. */
export const DELETES_IN_FLIGHT_MAX = 8

/**
 * Deletes by a function for one location, a few at the same time. Each location gets its result, in their order; errors
 * of a kind that the port does not name are thrown once all have ended.
 */
export async function deleteEach(
  locations: readonly string[],
  deleteOne: (location: string) => Promise<unknown>,
): Promise<DeleteResult[]> {
  const results: DeleteResult[] = []
  const entries = locations.entries()
  const work = async (): Promise<void> => {
    for (const [index, location] of entries) results[index] = await resultOf(location, deleteOne)
  }
  const laneCount = Math.min(DELETES_IN_FLIGHT_MAX, locations.length)
  const lanes = await Promise.allSettled(Array.from({ length: laneCount }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  return results
}

async function resultOf(
  location: string,
  deleteOne: (location: string) => Promise<unknown>,
): Promise<DeleteResult> {
  try {
    await deleteOne(location)
    return { location, outcome: 'gone' }
  } catch (error) {
    if (!(error instanceof LocationError) && !(error instanceof StoreUnavailableError)) throw error
    return { location, outcome: 'failed', error }
  }
}
