/**
 * The results of `read` in the order of the items, at most `limit` calls ahead of whoever takes them. The error of a call is
 * thrown in its turn; once the taker has left, no further call is begun.
 */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  limit: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const queue = items.values()
  const begun: Promise<Result>[] = []
  const begin = (): void => {
    const { done, value } = queue.next()
    if (done === true) return
    const call = read(value)
    // Whoever takes the result sees the error; nobody does after leaving early.
    call.catch(() => {})
    begun.push(call)
  }
  for (let index = 0; index < limit; index += 1) begin()
  for (let call = begun.shift(); call !== undefined; call = begun.shift()) {
    yield await call
    begin()
  }
}
