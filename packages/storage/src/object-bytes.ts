import { Buffer } from 'node:buffer'

/** The content of an object, in one piece or in pieces that follow each other. */
export type ObjectBytes = Uint8Array | readonly Uint8Array[]

/** The content in one piece: as it is, or a copy. */
export function joinBytes(bytes: ObjectBytes): Uint8Array {
  const pieces = piecesOf(bytes)
  const [only] = pieces
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
}

/** The content in pieces, as they are. */
export function piecesOf(bytes: ObjectBytes): readonly Uint8Array[] {
  return bytes instanceof Uint8Array ? [bytes] : bytes
}

/** The length of the content in bytes. */
export function lengthOf(bytes: ObjectBytes): number {
  return piecesOf(bytes).reduce((sum, piece) => sum + piece.length, 0)
}
