import type { SeededRandom } from './seeded-random.ts'

/** Whoever does steps: a process that may be killed, a client, the outside of a database. */
export interface StepOwner {
  readonly name: string
  isDead?: boolean
}

/** A step that waits to be taken. */
export interface PlannedStep {
  readonly owner: StepOwner
  /** For the trace. */
  readonly what: string
  /** Whether it can be taken now; by default always. */
  readonly isReady?: () => boolean
  /** Whether it is taken even after its owner was killed, because it had left the owner before. */
  readonly isOnItsWay?: boolean
}

interface ParkedStep extends PlannedStep {
  readonly take: () => void
  /** The number of steps that go before it, whoever could go on. */
  readonly heldUntil: number
}

interface Timer {
  readonly owner: StepOwner
  readonly dueMs: number
  readonly fire: () => void
}

/** Turns of the event loop without news after which nothing is going on any more: work may hop from one turn to the next. */
const QUIET_TURNS = 4
/** Time that a step takes. */
const STEP_MS = 1
/** Share of the steps that take long, and for how many other steps they do. */
const HELD_SHARE = 0.06
const HELD_STEPS_MAX = 40
/** Share of the steps in whose place the next timer goes off, long before its time. */
const SLOW_SHARE = 0.02
/** Steps after which a schedule is taken to run for ever. */
const STEPS_MAX = 20_000

/** Nothing can go on and somebody waits: a deadlock, or an answer that was forgotten. */
export class SimulationStuckError extends Error {
  override readonly name = 'SimulationStuckError'
}

/**
 * Everything that happens in a simulated world is a step: it is parked, and taken when the seed says so, one at a time,
 * after all that the step before it set off has come to rest. So the order of all reads, writes, answers and timers is a
 * function of the seed, whatever the event loop does. Time passes with the steps.
 */
export class StepScheduler {
  readonly trace: string[] = []
  readonly #random: SeededRandom
  #parked: ParkedStep[] = []
  #timers: Timer[] = []
  #newsCount = 0
  #stepCount = 0
  #nowMs: number

  constructor(random: SeededRandom, startMs: number) {
    this.#random = random
    this.#nowMs = startMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  /** What `perform` gives, or throws, once the step was taken. Never settles when the owner is dead by then. */
  park<Value>(step: PlannedStep, perform: () => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        try {
          const value = perform()
          if (step.owner.isDead !== true) resolve(value)
        } catch (error) {
          if (step.owner.isDead !== true) reject(error) // `as`: only errors are thrown here
        }
      }
      this.#newsCount += 1
      const heldFor = this.#random.chance(HELD_SHARE) ? this.#random.below(HELD_STEPS_MAX) : 0
      this.#parked.push({ ...step, take, heldUntil: this.#stepCount + heldFor })
    })
  }

  /** Resolves when the time has passed, or at once when the signal aborts. */
  delay(owner: StepOwner, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve) => {
      const timer: Timer = { owner, dueMs: this.#nowMs + ms, fire: resolve }
      this.#newsCount += 1
      this.#timers.push(timer)
      signal?.addEventListener('abort', () => {
        this.#timers = this.#timers.filter((one) => one !== timer)
        this.#newsCount += 1
        resolve()
      })
    })
  }

  /** Ends an owner: what had not left it is never done, its timers never go off, and nothing reaches it any more. */
  kill(owner: StepOwner): void {
    owner.isDead = true
    this.#timers = this.#timers.filter((timer) => timer.owner !== owner)
    this.#parked = this.#parked.filter(
      (step) => step.owner !== owner || step.isOnItsWay === true || this.#random.chance(0.5),
    )
  }

  /** Whether nobody waits for a step or a timer. */
  get isIdle(): boolean {
    return this.#parked.length === 0 && this.#timers.length === 0
  }

  /** Takes steps until the world is done. Throws SimulationStuckError when it cannot get there. */
  async runUntil(isDone: () => boolean): Promise<void> {
    for (let count = 0; count < STEPS_MAX; count += 1) {
      await this.#settle()
      if (isDone()) return
      this.#takeOne()
      this.#nowMs += STEP_MS
    }
    throw new SimulationStuckError(`not done after ${STEPS_MAX} steps`)
  }

  #takeOne(): void {
    this.#stepCount += 1
    const ready = this.#readySteps()
    const next = this.#nextTimer()
    if (next !== undefined && this.#isTimeFor(next, ready.length)) return this.#fire(next)
    if (ready.length === 0) {
      const waiting = this.#parked.map(({ owner, what }) => `${owner.name} ${what}`)
      throw new SimulationStuckError(
        `nothing can go on; waiting: ${waiting.join(', ') || 'nobody'}`,
      )
    }
    const step = this.#random.pick(ready)
    this.#parked.splice(this.#parked.indexOf(step), 1)
    this.trace.push(`${step.owner.name} ${step.what}`)
    step.take()
  }

  #readySteps(): readonly ParkedStep[] {
    const able = this.#parked.filter(({ isReady }) => isReady === undefined || isReady())
    const ready = able.filter(({ heldUntil }) => heldUntil <= this.#stepCount)
    return ready.length > 0 ? ready : able
  }

  #nextTimer(): Timer | undefined {
    return this.#timers.reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
      undefined,
    )
  }

  /** A timer that is due goes off like any step; now and then one goes off as if everything else were slow. */
  #isTimeFor({ dueMs }: Timer, readyCount: number): boolean {
    if (readyCount === 0) return true
    return dueMs <= this.#nowMs
      ? this.#random.below(readyCount + 1) === 0
      : this.#random.chance(SLOW_SHARE)
  }

  #fire(timer: Timer): void {
    this.#timers.splice(this.#timers.indexOf(timer), 1)
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs)
    this.trace.push(`${timer.owner.name} timer`)
    timer.fire()
  }

  /** Resolves when everything that was set off waits for a step or a timer. */
  #settle(): Promise<void> {
    return new Promise((resolve) => {
      let seen = this.#newsCount
      let quietTurns = 0
      const turn = (): void => {
        quietTurns = this.#newsCount === seen ? quietTurns + 1 : 0
        seen = this.#newsCount
        if (quietTurns >= QUIET_TURNS) resolve()
        else setImmediate(turn)
      }
      setImmediate(turn)
    })
  }
}
