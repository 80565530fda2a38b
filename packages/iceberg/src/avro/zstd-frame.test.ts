import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zstdDecompress } from './zstd-frame.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/zstandard-0.25')
const frames = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.zst'))
  .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(FIXTURES, name))) }))
const OUTPUT_BYTES_MAX = 1_000_000

/** The same bytes as in the recipe of the fixtures. */
function generated(count: number): number[] {
  let state = 1
  return Array.from({ length: count }, () => {
    state = Number((BigInt(state) * 1103515245n + 12345n) % 2n ** 31n)
    return (state >> 16) & 255
  })
}

const lines = generated(6_000).map((value, index) => `series ${value % 7} value ${index * index}\n`)
const contents: Readonly<Record<string, Uint8Array>> = {
  empty: new Uint8Array(0),
  one: Uint8Array.of(120),
  zeros: new Uint8Array(300_000),
  random: Uint8Array.from(generated(3_000)),
  letters: Uint8Array.from(generated(8_000), (value) => 97 + (value % 16)),
  long: new TextEncoder().encode(lines.join('')),
}

describe('zstdDecompress', () => {
  it.each(frames)('gives what was compressed into $name', ({ name, bytes }) => {
    const expected = contents[name.split('-')[0]!]!
    expect(Buffer.compare(zstdDecompress(bytes, OUTPUT_BYTES_MAX), expected)).toBe(0)
  })

  it.each(frames)('joins $name with another frame', ({ name, bytes }) => {
    const expected = contents[name.split('-')[0]!]!
    const twice = Uint8Array.from([...bytes, ...bytes])
    expect(zstdDecompress(twice, OUTPUT_BYTES_MAX).length).toBe(2 * expected.length)
  })

  it.each(frames.filter(({ name }) => !/empty|one/.test(name)))(
    'refuses more than asked for in $name',
    ({ bytes }) => {
      expect(() => zstdDecompress(bytes, 2_000)).toThrow(RangeError)
    },
  )

  it('gives something of the right size or refuses, and ends, whatever is damaged', () => {
    const change = fc.record({ at: fc.nat(70_000), value: fc.nat(255) })
    fc.assert(
      fc.property(
        fc.constantFrom(...frames),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (frame, changes) => {
          const bytes = frame.bytes.slice()
          for (const { at, value } of changes) bytes[at % bytes.length] = value
          try {
            expect(zstdDecompress(bytes, OUTPUT_BYTES_MAX).length).toBeLessThanOrEqual(
              OUTPUT_BYTES_MAX,
            )
          } catch (error) {
            if (!(error instanceof RangeError)) throw error
          }
        },
      ),
      { numRuns: 600 },
    )
  })

  it.each(frames)('refuses $name when its end is missing', ({ bytes }) => {
    expect(() => zstdDecompress(bytes.subarray(0, bytes.length - 1), OUTPUT_BYTES_MAX)).toThrow(
      RangeError,
    )
  })
})
