/** The content of an object, in one piece or in pieces that follow each other. */
export type ObjectBytes = Uint8Array | readonly Uint8Array[]

/** The content in one piece: as it is, or a copy. */
export function joinBytes(bytes: ObjectBytes): Uint8Array {
  if (bytes instanceof Uint8Array) return bytes
  const [only] = bytes
  if (only !== undefined && bytes.length === 1) return only
  const joined = new Uint8Array(lengthOf(bytes))
  let at = 0
  for (const piece of bytes) {
    joined.set(piece, at)
    at += piece.length
  }
  return joined
}

/** The length of the content in bytes. */
export function lengthOf(bytes: ObjectBytes): number {
  return bytes instanceof Uint8Array
    ? bytes.length
    : bytes.reduce((sum, piece) => sum + piece.length, 0)
}
