import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBytes, parseCount, parseDurationMs, printBytes, printDurationMs } from './quantity.ts'

const ANY = { min: 0, max: Number.MAX_SAFE_INTEGER }

describe('quantities', () => {
  it.each([
    ['0ms', 0],
    ['500ms', 500],
    ['90s', 90_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('reads the duration %s', (text, durationMs) => {
    expect(parseDurationMs(text, ANY)).toBe(durationMs)
  })

  it.each(['', '5', '5 s', '-5s', '1.5h', '5sec', '1e3ms'])('refuses the duration %j', (text) => {
    expect(() => parseDurationMs(text, ANY)).toThrow('a duration such as')
  })

  it.each(['', '5', '5MB', '5mib', '0x10B'])('refuses the size %j', (text) => {
    expect(() => parseBytes(text, ANY)).toThrow('a size such as')
  })

  it.each(['', '-1', '1.0', '1e3', ' 1', '9999999999999999'])('refuses the count %j', (text) => {
    expect(() => parseCount(text, ANY)).toThrow('a whole number from')
  })

  it('reads back what it prints', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect(parseDurationMs(printDurationMs(value), ANY)).toBe(value)
        expect(parseBytes(printBytes(value), ANY)).toBe(value)
      }),
    )
  })
})
