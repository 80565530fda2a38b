/**
 * Runs the step for every item, at most `inFlightMax` at a time. After the first failure none is begun; it is thrown once
 * those that run have ended.
 */
export async function runBounded<T>(
  items: readonly T[],
  inFlightMax: number,
  step: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  let failure: { readonly error: unknown } | undefined
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (failure !== undefined) return
      await step(item).catch((error: unknown) => {
        failure ??= { error }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(inFlightMax, items.length) }, work))
  if (failure !== undefined) throw failure.error
}
