/** Runs what it is given one at a time, in the order of asking. A failure does not stop those behind it. */
export class TurnQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}
