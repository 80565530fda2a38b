/** Thrown when our own code broke a promise; never for bad input or bad weather. */
export class DatabaseInvariantError extends Error {
  override readonly name = 'DatabaseInvariantError'
}

/** Throws DatabaseInvariantError with the sentence unless the condition holds. */
export function invariant(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new DatabaseInvariantError(sentence)
}
