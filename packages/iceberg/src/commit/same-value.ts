/**
 * Structural equality of two plain values of our model (records, lists, strings, numbers, bigints).
 * A member that is `undefined` equals an absent one; the order of members does not matter. `1` and `1n` differ.
 */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return false
  if (Array.isArray(left) || Array.isArray(right)) return sameList(left, right)
  return hasAllOf(left, right) && hasAllOf(right, left)
}

function sameList(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
  return left.every((element, position) => sameValue(element, right[position]))
}

function hasAllOf(expected: object, actual: object): boolean {
  for (const [member, value] of Object.entries(expected)) {
    const other = Object.hasOwn(actual, member)
      ? (actual as Record<string, unknown>)[member]
      : undefined
    if (!sameValue(value, other)) return false
  }
  return true
}
