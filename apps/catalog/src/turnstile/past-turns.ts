import type { OpenTurn } from './turn.ts'
import { DEBT_MS, PAST_TURNS_MAX } from './turn-rules.ts'

/** Turns that ended without their commit, which may still come. */
export class PastTurns {
  #turns: OpenTurn[] = []

  keep(turn: OpenTurn, nowMs: number): void {
    this.#turns = this.#turns.filter(({ startMs }) => nowMs < startMs + DEBT_MS)
    if (turn.commitCount > 0) return
    this.#turns.push(turn)
    if (this.#turns.length > PAST_TURNS_MAX) this.#turns.shift()
  }

  find(isWanted: (turn: OpenTurn) => boolean): OpenTurn | undefined {
    return this.#turns.find(isWanted)
  }

  remove(turn: OpenTurn): void {
    this.#turns = this.#turns.filter((past) => past !== turn)
  }

  /** Whether another commit came between the load and the commit of one of them. */
  get hasBeaten(): boolean {
    return this.#turns.some(({ isBeaten }) => isBeaten)
  }
}
