/**
 * Lets calls run while the files that they read take at most so many bytes together, and one that needs more runs alone; the
 * others wait, first come, first served.
 */
export class ManifestTurns {
  readonly #bytesMax: number
  readonly #countMax: number
  readonly #waiting: Waiting[] = []
  #usedBytes = 0
  #count = 0

  constructor(limits: { readonly bytesMax: number; readonly countMax: number }) {
    this.#bytesMax = limits.bytesMax
    this.#countMax = limits.countMax
  }

  /** Waits for its turn. Throws what the call throws. */
  async run<Result>(fileBytes: number, call: () => Promise<Result>): Promise<Result> {
    const bytes = Math.min(this.#bytesMax, Math.max(0, fileBytes))
    await this.#turn(bytes)
    try {
      return await call()
    } finally {
      this.#usedBytes -= bytes
      this.#count -= 1
      this.#letIn()
    }
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  #turn(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, begin: resolve })
      this.#letIn()
    })
  }

  #letIn(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const isRoom = this.#usedBytes + next.bytes <= this.#bytesMax && this.#count < this.#countMax
      if (!isRoom) return
      this.#waiting.shift()
      this.#usedBytes += next.bytes
      this.#count += 1
      next.begin()
    }
  }
}

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
}
