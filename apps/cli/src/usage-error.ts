/** Arguments that make no sense; the message is a sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What `parse` returns; what it throws becomes a UsageError. */
export function orUsageError<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    // parseArgs explains at length after the first sentence how to escape arguments.
    const [sentence = 'the arguments are wrong'] = (cause as Error).message.split('. ')
    throw new UsageError(sentence, { cause })
  }
}
