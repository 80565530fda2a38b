import type { SessionCredentials } from './session-credentials.ts'

/** What a client may reach: objects below the prefixes, and lists of them. */
export interface AccessScope {
  /**
   * `s3://bucket/path` without a trailing slash, characters literal. Each covers what lies below it, so not its siblings:
   * `s3://b/orders` covers neither `s3://b/orders2/x` nor a list by `orders`, which would name `orders2`.
   */
  readonly prefixes: readonly string[]
  /**
   * Further ones that the table gave up, where it may still have files; the last one first. Of them what a session's policy has
   * room for and can say, and what is the warehouse's: none is a reason to give nothing.
   */
  readonly former?: readonly string[]
  readonly access: 'read' | 'write'
}

export interface VendOptions {
  /** Who asks, for the store's own log; any text. Sessions are shared by calls of one name only. */
  readonly sessionName: string
  /** Within VENDED_LIFE_MS_MIN and VENDED_LIFE_MS_MAX; others are moved into it. */
  readonly durationMs: number
}

/** A request that a client wants to send to the store, as it would be sent without a signature. */
export interface ClientRequest {
  readonly method: string
  /** Absolute, encoded. */
  readonly uri: string
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** The text of the body, where the body says what is touched (DeleteObjects). */
  readonly body?: string
}

export interface SignedRequest {
  /** As the client gave it. */
  readonly uri: string
  /** All that the signature covers, and the signature; lower-case names. They replace those of the request. */
  readonly headers: Readonly<Record<string, readonly string[]>>
  /** Reads only: the same request may be sent again with this answer while the signature is fresh. */
  readonly isReusable: boolean
}

/** Gives clients access to a part of one warehouse's store. */
export interface AccessBroker {
  /** Whether there is a role that sessions for clients can be cut from. */
  readonly canVend: boolean
  /** Whether the warehouse has keys of its own, rather than the identity of this process. */
  readonly hasKeys: boolean
  /**
   * A session that reaches the scope alone, valid for at least half of the duration asked for.
   * Throws UnvendableScopeError (also without a role: nothing unscoped is ever handed out) and StoreUnavailableError.
   */
  vend(scope: AccessScope, options: VendOptions): Promise<SessionCredentials>
  /**
   * The warehouse's own keys, which reach all that the catalog reaches: only for warehouses whose operator wants that.
   * Throws UnvendableScopeError when it has none of its own, and StoreUnavailableError.
   */
  keys(): Promise<SessionCredentials>
  /**
   * The request with a signature, if it touches nothing but the scope.
   * Throws RequestRefusedError, MalformedRequestError and StoreUnavailableError. Spec: PROTOCOL f.2.
   */
  sign(request: ClientRequest, scope: AccessScope): Promise<SignedRequest>
}

/** A request that is understood and not allowed: another place, another operation, or more than the scope's access. */
export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError'
}

/** A request that is no S3 request, or one that two readers could read in two ways. */
export class MalformedRequestError extends Error {
  override readonly name = 'MalformedRequestError'
}

/** Why no session can be cut for a scope. */
export type UnvendableReason =
  'no-role' | 'no-keys' | 'too-large' | 'wildcard' | 'whole-bucket' | 'outside-warehouse'

/** A scope that no session can be held to; signing request by request may still do. */
export class UnvendableScopeError extends Error {
  override readonly name = 'UnvendableScopeError'
  readonly reason: UnvendableReason
  constructor(reason: UnvendableReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** What AWS grants at least and at most. */
export const VENDED_LIFE_MS_MIN = 900_000
export const VENDED_LIFE_MS_MAX = 43_200_000
