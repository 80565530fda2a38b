import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RememberedTexts } from './remembered-texts.ts'
import { TextPieces } from './text-pieces.ts'

interface Entry {
  readonly name: string
}

let printedCount = 0
const entryText = ({ name }: Entry): string => {
  printedCount += 1
  return JSON.stringify(name)
}

const listed = (texts: RememberedTexts<Entry>, values: readonly Entry[]): readonly Uint8Array[] => {
  const pieces = new TextPieces()
  texts.addList(pieces, values)
  return pieces.finish()
}

const entries = (count: number, from = 0): Entry[] =>
  Array.from({ length: count }, (_, index) => ({ name: `entry ${from + index} é` }))

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString()

describe('the list of remembered texts', () => {
  it('is the whole list, whatever was added and removed since', () => {
    const edit = fc.record({
      at: fc.nat(600),
      removedCount: fc.nat(200),
      addedCount: fc.nat(300),
    })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 8 }), (edits) => {
        const texts = new RememberedTexts(entryText)
        let values = entries(300)
        for (const { at, removedCount, addedCount } of edits) {
          values = [...values]
          values.splice(at, removedCount, ...entries(addedCount, 1_000))
          const expected = JSON.stringify(values.map(({ name }) => name))
          expect(textOf(listed(texts, values))).toBe(expected)
        }
      }),
      { numRuns: 100 },
    )
  })

  it('shares the bytes of long runs with the list that it grew from', () => {
    const texts = new RememberedTexts(entryText)
    const values = entries(300)
    const before = listed(texts, values)
    printedCount = 0
    const after = listed(texts, [...values, ...entries(1, 300)])
    expect(printedCount).toBe(1)
    expect(after.filter((piece) => before.includes(piece))).toHaveLength(2)
  })

  it('goes on sharing them when the front is cut off', () => {
    const texts = new RememberedTexts(entryText)
    const values = entries(600)
    const before = listed(texts, values)
    const after = listed(texts, values.slice(5))
    const shared = after.filter((piece) => before.includes(piece) && piece.length > 1_000)
    expect(shared).toHaveLength(3)
    expect(textOf(after)).toBe(JSON.stringify(values.slice(5).map(({ name }) => name)))
  })

  it('is empty brackets without values', () => {
    expect(textOf(listed(new RememberedTexts(entryText), []))).toBe('[]')
  })
})
