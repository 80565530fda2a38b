/** What was started and must be stopped, in the order of starting. */
export type Closer = () => Promise<void>

/** Stops the last one that was started first. Each gets its turn whatever happened to the others. */
export async function closeAll(closers: Closer[]): Promise<void> {
  const errors: unknown[] = []
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    await close().catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, 'the server did not stop cleanly')
}
