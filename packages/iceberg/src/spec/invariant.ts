/** Thrown when our own code broke a promise; never for bad input or bad weather. */
export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}

/** Throws InvariantError with the sentence unless the condition holds. */
export function invariant(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new InvariantError(sentence)
}

/** Ends an exhaustive switch: reaching it means that a new tag was not handled. */
export function assertNever(value: never, what: string): never {
  throw new InvariantError(
    `unhandled ${what}: ${String((value as { kind?: unknown }).kind ?? value)}`,
  )
}
