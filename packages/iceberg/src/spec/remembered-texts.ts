import { flatText } from './flat-text.ts'
import type { TextPieces } from './text-pieces.ts'

/** How many values of a list share remembered bytes. */
const RUN_LENGTH = 128

const utf8 = new TextEncoder()

/** Values that follow each other in lists, and their texts joined by commas. */
interface Run<T> {
  readonly values: readonly T[]
  readonly bytes: Uint8Array
}

/**
 * The texts of immutable values, remembered as long as the values live. Versions of one table share most of their lists, so
 * runs of values are remembered too, as bytes. A run keeps its place beside what was added or removed in front of it.
 */
export class RememberedTexts<T extends object> {
  readonly #texts = new WeakMap<T, string>()
  /** By their first values. */
  readonly #runs = new WeakMap<T, Run<T>>()
  readonly #print: (value: T) => string

  constructor(print: (value: T) => string) {
    this.#print = print
  }

  /** The text of one value. */
  textOf(value: T): string {
    const remembered = this.#texts.get(value)
    if (remembered !== undefined) return remembered
    const text = flatText(this.#print(value))
    this.#texts.set(value, text)
    return text
  }

  /** Adds the list of the values, in brackets. */
  addList(pieces: TextPieces, values: readonly T[]): void {
    pieces.addText('[')
    for (let start = 0; start < values.length;) {
      if (start > 0) pieces.addText(',')
      const run = this.#runAt(values, start)
      if (run === undefined) start = this.#addNew(pieces, values, start)
      else {
        pieces.addBytes(run.bytes)
        start += run.values.length
      }
    }
    pieces.addText(']')
  }

  /** Adds what comes before the next remembered run, one run at most; the place after it. */
  #addNew(pieces: TextPieces, values: readonly T[], start: number): number {
    const endMax = Math.min(start + RUN_LENGTH, values.length)
    let end = start + 1
    while (end < endMax && this.#runAt(values, end) === undefined) end += 1
    const added = values.slice(start, end)
    const text = added.map((value) => this.textOf(value)).join(',')
    const isWhole = added.length === RUN_LENGTH
    if (!isWhole) pieces.addText(text)
    else {
      const run = { values: added, bytes: utf8.encode(text) }
      this.#runs.set(added[0] as T, run)
      pieces.addBytes(run.bytes)
    }
    return end
  }

  /** The remembered run that begins at the place, if the list goes on as it does. */
  #runAt(values: readonly T[], start: number): Run<T> | undefined {
    const run = this.#runs.get(values[start] as T)
    const isSame = run?.values.every((value, index) => value === values[start + index])
    return isSame === true ? run : undefined
  }
}
