import { setTimeout } from 'node:timers/promises'

const POLL_INTERVAL_MS = 10

/**
 * The first truthy value of the condition. Ask for a level (three rows are there), not for an edge (a row came).
 * Throws after `timeoutMs`, with the condition's last error as the cause if it had one.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<NonNullable<T>> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    let cause: unknown
    try {
      const value = await condition()
      if (value) return value
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`waited ${timeoutMs} ms in vain for ${condition.toString().slice(0, 200)}`, {
        cause,
      })
    }
    await setTimeout(POLL_INTERVAL_MS)
  }
}
