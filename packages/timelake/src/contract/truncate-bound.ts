/** The highest code point; nothing above it can round a bound up. */
const CODE_POINT_MAX = 0x10ffff
const SURROGATE_FIRST = 0xd800
const SURROGATE_LAST = 0xdfff

/** The first `length` code points of a text: a lower bound of it. Spec: bounds may be truncated. */
export function truncateTextDown(text: string, length: number): string {
  return [...text].slice(0, length).join('')
}

/**
 * A text of at most `length` code points that is not below the given one: itself when short enough, else the prefix
 * with its last code point that can be raised raised by one. Undefined when none can.
 */
export function truncateTextUp(text: string, length: number): string | undefined {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0)
  if (points.length <= length) return text
  for (let index = length - 1; index >= 0; index--) {
    const raised = nextCodePoint(points[index] ?? 0)
    if (raised !== undefined) return String.fromCodePoint(...points.slice(0, index), raised)
  }
  return undefined
}

function nextCodePoint(point: number): number | undefined {
  if (point >= CODE_POINT_MAX) return undefined
  const next = point + 1
  return next >= SURROGATE_FIRST && next <= SURROGATE_LAST ? SURROGATE_LAST + 1 : next
}

/** The first `length` bytes: a lower bound. */
export function truncateBytesDown(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.slice(0, length)
}

/** At most `length` bytes that are not below the given ones (unsigned), or undefined when there are none. */
export function truncateBytesUp(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.length <= length) return bytes
  for (let index = length - 1; index >= 0; index--) {
    const byte = bytes[index] ?? 0
    if (byte === 255) continue
    const raised = bytes.slice(0, index + 1)
    raised[index] = byte + 1
    return raised
  }
  return undefined
}
