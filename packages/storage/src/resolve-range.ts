import type { ByteRange } from './object-store.ts'

/**
 * The half-open part of an object of `sizeBytes` that the range asks for, cut to what exists: a range past the end
 * is empty. No range is the whole object.
 */
export function resolveRange(
  sizeBytes: number,
  range: ByteRange | undefined,
): { startBytes: number; endBytes: number } {
  if (range === undefined) return { startBytes: 0, endBytes: sizeBytes }
  const fromBytes = range.offset < 0 ? Math.max(0, sizeBytes + range.offset) : range.offset
  const startBytes = Math.min(fromBytes, sizeBytes)
  return { startBytes, endBytes: Math.min(startBytes + range.lengthBytes, sizeBytes) }
}
