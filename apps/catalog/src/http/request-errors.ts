/** Refusals that happen before a route runs. */
export class NoRouteError extends Error {
  override readonly name = 'NoRouteError'
  constructor(method: string, path: string) {
    super(`No route for request: ${method} ${path.replace(/^\//, '')}`)
  }
}

export class MethodNotAllowedError extends Error {
  override readonly name = 'MethodNotAllowedError'
  readonly allowed: readonly string[]
  constructor(method: string, path: string, allowed: readonly string[]) {
    super(`Method ${method} is not allowed for ${path}: expected ${allowed.join(' or ')}`)
    this.allowed = allowed
  }
}

/** An operation of the protocol that this server does not serve and does not announce. */
export class OperationNotSupportedError extends Error {
  override readonly name = 'OperationNotSupportedError'
}

/** What was wrong with the token of a request. */
export type RefusedTokenReason = 'missing' | 'invalid' | 'expired'

const TOKEN_SENTENCES: Readonly<Record<RefusedTokenReason, string>> = {
  missing: 'a bearer token is required',
  invalid: 'the bearer token is not valid',
  expired: 'the bearer token is expired',
}

/** Whoever calls has not proved who it is. */
export class NotAuthorizedError extends Error {
  override readonly name = 'NotAuthorizedError'
  readonly reason: RefusedTokenReason
  constructor(reason: RefusedTokenReason) {
    super(TOKEN_SENTENCES[reason])
    this.reason = reason
  }
}

export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError'
}

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
  constructor(bytesMax: number) {
    super(`request body is larger than ${bytesMax} bytes`)
  }
}

export class UnsupportedEncodingError extends Error {
  override readonly name = 'UnsupportedEncodingError'
  constructor(encoding: string) {
    super(`cannot decode a request body with content-encoding ${encoding}: expected gzip or none`)
  }
}

/** The client went away while its request was being read. */
export class RequestAbortedError extends Error {
  override readonly name = 'RequestAbortedError'
}
