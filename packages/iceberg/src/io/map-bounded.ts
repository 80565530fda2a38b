/** Runs at most `limit` calls at a time and keeps the order; after the first failure none is begun. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  let hasFailed = false
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return
      try {
        results[index] = await run(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  return results
}
