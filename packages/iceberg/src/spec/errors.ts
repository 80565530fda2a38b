/**
 * Input that no state of the table could make valid: a malformed request, an unknown update, a broken rule.
 * HTTP 400 at the edge. `path` names the member, for example `updates[2].schema.fields[0].type`.
 */
export class InvalidInputError extends Error {
  override readonly name: string = 'InvalidInputError'
  readonly path: string | undefined
  constructor(message: string, path?: string, options?: ErrorOptions) {
    super(path === undefined ? message : `${path}: ${message}`, options)
    this.path = path
  }
}

/** Well-formed input that names something the table does not have, or that breaks one of its rules. HTTP 400 too. */
export class ValidationFailedError extends InvalidInputError {
  override readonly name = 'ValidationFailedError'
}

/**
 * A requirement that does not hold, or a base that went stale: reloading and applying again can succeed.
 * HTTP 409 `CommitFailedException` at the edge; nothing was applied.
 */
export class CommitFailedError extends Error {
  override readonly name = 'CommitFailedError'
}

/** A metadata file, manifest list or manifest that breaks the format. */
export class CorruptFileError extends Error {
  override readonly name = 'CorruptFileError'
}
