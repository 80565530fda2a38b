/**
 * The outcome of a commit is not known: the answer was lost, or a server or proxy failed while it worked. Reconcile by
 * reading; delete nothing, retry nothing blindly.
 */
export class CommitStateUnknownError extends Error {
  override readonly name = 'CommitStateUnknownError'
}

/** The catalog says that there is no such table (or namespace, or warehouse). */
export class NoSuchTableError extends Error {
  override readonly name = 'NoSuchTableError'
}

/** The catalog refused: nothing was applied, and the same request will be refused again. */
export class CatalogRefusedError extends Error {
  override readonly name = 'CatalogRefusedError'
  readonly status: number
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** The catalog cannot be reached or cannot answer a read now; trying later may help. */
export class CatalogUnavailableError extends Error {
  override readonly name = 'CatalogUnavailableError'
}
