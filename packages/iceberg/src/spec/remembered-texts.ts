import { flatText } from './flat-text.ts'

/** How many values of a list share one remembered text. */
const RUN_LENGTH = 128

/**
 * The texts of immutable values, remembered as long as the values live. Versions of one table share most of their
 * lists, so the joined texts of runs of values are remembered too.
 */
export class RememberedTexts<T extends object> {
  private readonly texts = new WeakMap<T, string>()
  private readonly runs = new WeakMap<T, { readonly values: readonly T[]; readonly text: string }>()
  private readonly print: (value: T) => string

  constructor(print: (value: T) => string) {
    this.print = print
  }

  /** The text of one value. */
  textOf(value: T): string {
    const remembered = this.texts.get(value)
    if (remembered !== undefined) return remembered
    const text = flatText(this.print(value))
    this.texts.set(value, text)
    return text
  }

  /** The texts of runs of values, each joined by commas; joined by commas they are the whole list. */
  listTexts(values: readonly T[]): string[] {
    const texts: string[] = []
    for (let start = 0; start < values.length; start += RUN_LENGTH) {
      texts.push(this.runText(values.slice(start, start + RUN_LENGTH)))
    }
    return texts
  }

  private runText(values: readonly T[]): string {
    const first = values[0] as T
    const remembered = this.runs.get(first)
    if (remembered !== undefined && isSameRun(remembered.values, values)) return remembered.text
    const text = values.map((value) => this.textOf(value)).join(',')
    this.runs.set(first, { values, text })
    return text
  }
}

function isSameRun<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}
