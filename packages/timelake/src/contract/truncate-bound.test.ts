import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  truncateBytesDown,
  truncateBytesUp,
  truncateTextDown,
  truncateTextUp,
} from './truncate-bound.ts'

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8')
const unit = fc.string({ unit: 'binary', maxLength: 6 })

describe('truncated bounds', () => {
  it.each([
    ['fifteen letters\u2022 and more', 'fifteen letters\u2022', 'fifteen letters\u2023'],
    ['short', 'short', 'short'],
    ['\u{1F600}'.repeat(17), '\u{1F600}'.repeat(16), `${'\u{1F600}'.repeat(15)}\u{1F601}`],
    [`${'a'.repeat(15)}\ud7ffz`, `${'a'.repeat(15)}\ud7ff`, `${'a'.repeat(15)}\ue000`],
    [`${'a'.repeat(15)}\u{10ffff}z`, `${'a'.repeat(15)}\u{10ffff}`, `${'a'.repeat(14)}b`],
  ])('cut %j at code points (B095)', (text, lower, upper) => {
    expect(truncateTextDown(text, 16)).toBe(lower)
    expect(truncateTextUp(text, 16)).toBe(upper)
  })

  it('have no upper form when every code point is the highest', () => {
    expect(truncateTextUp('\u{10ffff}'.repeat(3), 2)).toBeUndefined()
    expect(truncateBytesUp(Uint8Array.of(255, 255, 255), 2)).toBeUndefined()
  })

  it('enclose the value in UTF-8 order', () => {
    fc.assert(
      fc.property(unit, fc.integer({ min: 1, max: 4 }), (text, length) => {
        expect(Buffer.compare(utf8(truncateTextDown(text, length)), utf8(text))).not.toBe(1)
        const upper = truncateTextUp(text, length)
        if (upper !== undefined) expect(Buffer.compare(utf8(upper), utf8(text))).not.toBe(-1)
      }),
    )
  })

  it('enclose binary values in unsigned order', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.integer({ min: 1, max: 4 }), (bytes, n) => {
        expect(Buffer.compare(truncateBytesDown(bytes, n), bytes)).not.toBe(1)
        const upper = truncateBytesUp(bytes, n)
        if (upper !== undefined) expect(Buffer.compare(upper, bytes)).not.toBe(-1)
      }),
    )
  })
})
