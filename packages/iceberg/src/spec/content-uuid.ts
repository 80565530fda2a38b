import { createHash } from 'node:crypto'

/**
 * A UUID (version 8, RFC 9562) that depends on nothing but the text: the same text gives the same UUID everywhere.
 */
export function contentUuid(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  bytes[6] = (Number(bytes[6]) & 0x0f) | 0x80
  bytes[8] = (Number(bytes[8]) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
