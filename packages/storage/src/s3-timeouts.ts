/** How long a store may be silent in each phase of a call. */
export interface S3Timeouts {
  readonly connectTimeoutMs: number
  /** From the request to the first byte of the answer. */
  readonly firstByteTimeoutMs: number
  /** Between two pieces of a body. */
  readonly idleTimeoutMs: number
}

export const DEFAULT_S3_TIMEOUTS: S3Timeouts = {
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 30_000,
  idleTimeoutMs: 15_000,
}
