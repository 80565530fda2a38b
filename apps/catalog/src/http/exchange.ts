import type { Buffer } from 'node:buffer'

/**
 * One request as the catalog sees it, whatever carried it. `target` is the path and query exactly as they
 * were sent, because names must be decoded once and from the raw text.
 */
export interface HttpRequest {
  /** Upper case. */
  readonly method: string
  readonly target: string
  /** Looks a header up by its lower-case name. */
  header(name: string): string | undefined
  /**
   * The decoded body. Refuses more than `bytesMax` bytes, before and after inflating
   * (BodyTooLargeError), and encodings other than gzip (UnsupportedEncodingError).
   */
  readBody(bytesMax: number): Promise<Buffer>
  /** The connection that carries it; absent for callers inside this process. */
  readonly connection: Connection | undefined
  /** Aborts when the caller has gone before it got its whole answer. Made on first use. */
  aborted(): AbortSignal
}

export interface Connection {
  /** Unique in this process; a caller that keeps its connection keeps its id. */
  readonly id: string
  readonly remoteAddress: string
  /** Aborts when it is closed, by whichever side. */
  readonly closed: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  /** Lower-case names. `content-length` is added by the transport. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | string | BodyPieces | BodyStream
}

/** A body that is there in pieces, which follow each other and nobody changes any more. */
export type BodyPieces = readonly Uint8Array[]

/** A body that is sent piece by piece as it is made, until it ends or the caller has gone. */
export interface BodyStream {
  readonly pieces: AsyncIterable<string>
}

/** Whether the body is there in pieces. */
export function isBodyPieces(body: HttpAnswer['body']): body is BodyPieces {
  return Array.isArray(body)
}

/** Whether the body is made piece by piece. */
export function isBodyStream(body: HttpAnswer['body']): body is BodyStream {
  return typeof body === 'object' && 'pieces' in body
}

/** 204 without body, the answer to every mutation that returns nothing and to a successful HEAD. */
export const NO_CONTENT: HttpAnswer = { status: 204, headers: {} }

/** A JSON answer from text that is already encoded. */
export function jsonTextAnswer(status: number, text: string | Buffer): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: text }
}
