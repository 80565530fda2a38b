import type { Ticket } from './turn.ts'

/** Goes before everybody else. */
export const FIRST_OF_ALL = -Infinity

/** When a ticket is called whatever happens: one of the line, and a courtesy. */
export interface DueTimes {
  lineMs(ticket: Ticket): number
  courtesyMs(ticket: Ticket): number
}

/** The answers of one table that wait, and those that were called since somebody asked. */
export class WaitingTickets {
  #line: Ticket[] = []
  /** Answers to commits and loads that would disturb a turn; they go when it ends. */
  #courtesies: Ticket[] = []
  #called: Ticket[] = []

  /** Those who wait for a turn, in their order. */
  get line(): readonly Ticket[] {
    return this.#line
  }

  get hasCourtesies(): boolean {
    return this.#courtesies.length > 0
  }

  /** Takes its place in the line: behind those who wait for as long, of those who go first before them. */
  join(ticket: Ticket): void {
    const { sinceMs } = ticket
    const isLater = (other: Ticket): boolean => sinceMs === FIRST_OF_ALL || other.sinceMs > sinceMs
    const at = this.#line.findIndex(isLater)
    this.#line.splice(at < 0 ? this.#line.length : at, 0, ticket)
  }

  addCourtesy(ticket: Ticket): void {
    this.#courtesies.push(ticket)
  }

  /** Calls the first of the line. */
  callFirst(): Ticket | undefined {
    const first = this.#line.shift()
    if (first !== undefined) this.#called.push(first)
    return first
  }

  /** Calls those of the line. */
  callWhere(isCalled: (ticket: Ticket) => boolean): void {
    this.#called.push(...this.#line.filter(isCalled))
    this.#line = this.#line.filter((ticket) => !isCalled(ticket))
  }

  /** Calls everybody whose time has come; the answer tells who waited in the line. */
  callDue(nowMs: number, times: DueTimes): readonly Ticket[] {
    const isDue = (ticket: Ticket): boolean => nowMs >= times.lineMs(ticket)
    const due = this.#line.filter(isDue)
    this.callWhere(isDue)
    const isLate = (ticket: Ticket): boolean => nowMs >= times.courtesyMs(ticket)
    this.#called.push(...this.#courtesies.filter(isLate))
    this.#courtesies = this.#courtesies.filter((ticket) => !isLate(ticket))
    return due
  }

  callCourtesies(): void {
    this.#called.push(...this.#courtesies)
    this.#courtesies = []
  }

  callAll(): void {
    this.callWhere(() => true)
    this.callCourtesies()
  }

  remove(ticket: Ticket): void {
    this.#line = this.#line.filter((one) => one !== ticket)
    this.#courtesies = this.#courtesies.filter((one) => one !== ticket)
  }

  /** When the next one is due; Infinity for never. */
  nextDueMs(times: DueTimes): number {
    let ms = Infinity
    for (const ticket of this.#line) ms = Math.min(ms, times.lineMs(ticket))
    for (const ticket of this.#courtesies) ms = Math.min(ms, times.courtesyMs(ticket))
    return ms
  }

  /** The tickets that were called since the last time, in order. */
  takeCalled(): readonly Ticket[] {
    const called = this.#called
    this.#called = []
    return called
  }
}
