import { setTimeout } from 'node:timers/promises'

/** The `delay` of a catalog in the real world. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
