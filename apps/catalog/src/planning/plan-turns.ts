import { TooManyPlansError } from './plan-errors.ts'

/** Counts the requests for plans and plan tasks that are worked on, and lets in so many. */
export class PlanTurns {
  readonly #countMax: number
  #count = 0

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** Throws TooManyPlansError before anything was begun. */
  async run<Result>(plan: () => Promise<Result>): Promise<Result> {
    if (this.#count >= this.#countMax) throw new TooManyPlansError(this.#countMax)
    this.#count += 1
    try {
      return await plan()
    } finally {
      this.#count -= 1
    }
  }

  get count(): number {
    return this.#count
  }
}
