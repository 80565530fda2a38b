import type { Caller } from './caller.ts'
import { TableLine } from './table-line.ts'
import type { Ticket } from './turn.ts'
import { NO_SNAPSHOT, type Head, type TurnRules } from './turn-rules.ts'

/** How a client uses its connections, and when it loads. */
export interface ClientKind {
  /**
   * `own`: one for each writer. `fresh-commits`: one for each writer's loads, a new one for each commit. `fresh`: a new one for
   * each request. `first-idle`, `last-used`: a pool that all writers share.
   */
  readonly connections: 'own' | 'fresh-commits' | 'fresh' | 'first-idle' | 'last-used'
  /** As it names itself, if that matters. */
  readonly userAgent?: string
  /** `start`: commits build on what was there when the writer began, and not on what its load was given. */
  readonly buildsOn?: 'start' | 'load'
  /** From the answer on a connection that serves one request to the server's notice of its end. */
  readonly closesAfterMs?: number
  /** Loads before each commit: always, or only after a lost race. */
  readonly loads: 'always' | 'after-loss'
  readonly loadsAfterSuccess: boolean
  readonly loadsBeforeCommit: number
  readonly retryCount: number
}

export interface SimulatedRun {
  readonly kind: ClientKind
  readonly writerCount: number
  readonly appendCount: number
  /** From the answer to a load to the arrival of the commit, and for the way of any other request. */
  readonly thinkMs: number
  readonly tripMs: number
  readonly commitMs: number
  /** From the answer to an append to the next one, half as much to one and a half times as much; absent: none. */
  readonly pauseMs?: number
  readonly rules: TurnRules
  /** Uniform in [0, 1). */
  random(): number
  /** Readers, each with a connection of its own, that load every so often. */
  readonly readers: { readonly count: number; readonly everyMs: number }
}

export interface SimulatedResult {
  readonly landed: number
  readonly lost: number
  readonly failed: number
  /** Appends that failed after the first of their writer. */
  readonly failedLater: number
  readonly tookMs: number
  readonly holdsExpired: number
  readonly readerWaits: number
  readonly readerLoads: number
}

const BACKOFF_MS = 100
const OPEN_CONNECTIONS_MAX = 10_000

/** Writers of one table in a time of its own, against a line and a commit queue without anything else around them. */
export function simulateWriters(run: SimulatedRun): SimulatedResult {
  return new World(run).run()
}

type Step = () => void

class World {
  readonly #run: SimulatedRun
  readonly #line: TableLine
  readonly #events: { readonly atMs: number; readonly order: number; readonly step: Step }[] = []
  readonly #calls = new Map<Ticket, Step>()
  readonly #idle: FakeConnection[] = []
  #nowMs = 1_000
  #order = 0
  #head: Head = NO_SNAPSHOT
  #lastCommit: { readonly caller: Caller; readonly head: Head } | undefined
  readonly #loaders = new Set<string>()
  #snapshots = 0
  #queueFreeMs = 0
  #tickAtMs = Infinity
  #connectionCount = 0
  #writersLeft: number
  #result = { landed: 0, lost: 0, failed: 0, failedLater: 0, holdsExpired: 0 }
  #readerWaits = 0
  #readerLoads = 0

  constructor(run: SimulatedRun) {
    this.#run = run
    this.#line = new TableLine(run.rules)
    this.#writersLeft = run.writerCount
  }

  run(): SimulatedResult {
    const { writerCount, readers } = this.#run
    for (let index = 0; index < writerCount; index += 1) {
      const own = this.#open()
      this.#after(this.#run.random() * 5, () =>
        this.#write({ own, base: NO_SNAPSHOT, left: this.#run.appendCount }),
      )
    }
    for (let index = 0; index < readers.count; index += 1) {
      const own = this.#open()
      this.#after(this.#run.random() * readers.everyMs, () => this.#read(own))
    }
    let isOver = false
    while (!isOver) {
      this.#events.sort((a, b) => a.atMs - b.atMs || a.order - b.order)
      const next = this.#events.shift()
      if (next === undefined || this.#writersLeft === 0) isOver = true
      else {
        this.#nowMs = Math.max(this.#nowMs, next.atMs)
        next.step()
        this.#proceed()
      }
    }
    return {
      ...this.#result,
      tookMs: this.#nowMs - 1_000,
      readerWaits: this.#readerWaits,
      readerLoads: this.#readerLoads,
    }
  }

  #after(ms: number, step: Step): void {
    this.#order += 1
    this.#events.push({ atMs: this.#nowMs + ms, order: this.#order, step })
  }

  #proceed(): void {
    for (const ticket of this.#line.takeCalled()) {
      const call = this.#calls.get(ticket)
      this.#calls.delete(ticket)
      call?.()
    }
    this.#result.holdsExpired += this.#line.takeCounts().holdsExpired
    const dueMs = this.#line.dueMs()
    if (dueMs >= this.#tickAtMs || dueMs === Infinity) return
    this.#tickAtMs = dueMs
    this.#after(Math.max(0, dueMs - this.#nowMs), () => {
      if (this.#tickAtMs !== dueMs) return
      this.#tickAtMs = Infinity
      this.#line.tick(this.#nowMs)
    })
  }

  #write(writer: Writer): void {
    if (writer.left === 0) {
      this.#writersLeft -= 1
      writer.own.closing.abort()
      this.#line.closed(writer.own.connection.id, this.#nowMs)
      return
    }
    this.#attempt(writer, { tries: 0, mustLoad: this.#run.kind.loads === 'always' })
  }

  #attempt(writer: Writer, { tries, mustLoad }: { tries: number; mustLoad: boolean }): void {
    const { kind, thinkMs } = this.#run
    const startHead = this.#head
    const commit = (): void => {
      if (kind.buildsOn === 'start') writer.base = startHead
      this.#after(thinkMs, () => this.#commit(writer, tries))
    }
    if (!mustLoad) return commit()
    const load = (left: number): void => {
      if (left === 0) return commit()
      this.#load(writer, () => load(left - 1))
    }
    load(kind.loadsBeforeCommit)
  }

  #load(writer: Writer, then: Step): void {
    const connection = this.#connect(writer, 'load')
    this.#after(this.#run.tripMs / 2, () => {
      this.#admit(connection, () => {
        writer.base = this.#head
        this.#line.answered(this.#callerOn(connection), this.#head, this.#nowMs)
        this.#after(this.#run.tripMs / 2, () => {
          this.#release(connection)
          then()
        })
      })
    })
  }

  #admit(connection: FakeConnection, answer: Step): boolean {
    const { id } = connection.connection
    const isFirst = !this.#loaders.has(id)
    this.#loaders.add(id)
    const ticket = this.#line.load(this.#callerOn(connection), this.#nowMs, isFirst)
    if (ticket === undefined) {
      answer()
      return false
    }
    this.#calls.set(ticket, answer)
    return true
  }

  #commit(writer: Writer, tries: number): void {
    const connection = this.#connect(writer, 'commit')
    const arrival = this.#line.arrive(this.#callerOn(connection), writer.base, this.#nowMs)
    this.#queueFreeMs = Math.max(this.#queueFreeMs, this.#nowMs) + this.#run.commitMs
    this.#after(this.#queueFreeMs - this.#nowMs, () => {
      const hasLanded = writer.base === this.#head
      if (hasLanded) {
        this.#snapshots += 1
        this.#head = String(this.#snapshots)
        writer.base = this.#head
      }
      const outcome = hasLanded
        ? ({ kind: 'landed', isStrict: true, head: this.#head } as const)
        : ({ kind: 'lost' } as const)
      this.#noteBeforeContention(arrival.caller, hasLanded)
      const courtesy = this.#line.settle(arrival, outcome, this.#nowMs)
      const answer = (): void =>
        this.#after(this.#run.tripMs, () => {
          this.#release(connection)
          this.#answered(writer, tries, hasLanded)
        })
      if (courtesy === undefined) answer()
      else this.#calls.set(courtesy, answer)
    })
  }

  /** What the turnstile does for a table without a line. */
  #noteBeforeContention(caller: Caller, hasLanded: boolean): void {
    if (this.#line.isContended(this.#nowMs)) return
    if (hasLanded) {
      this.#lastCommit = { caller, head: this.#head }
      return
    }
    const last = this.#lastCommit
    if (last !== undefined) this.#line.noteEarlierCommit(last.caller, last.head, this.#nowMs)
  }

  #answered(writer: Writer, tries: number, hasLanded: boolean): void {
    const { kind, appendCount } = this.#run
    if (hasLanded) {
      this.#result.landed += 1
      writer.left -= 1
      const { pauseMs = 0 } = this.#run
      const next = (): void =>
        this.#after(pauseMs * (0.5 + this.#run.random()), () => this.#write(writer))
      if (kind.loadsAfterSuccess) this.#load(writer, next)
      else next()
      return
    }
    this.#result.lost += 1
    if (tries < kind.retryCount) {
      const backoffMs = BACKOFF_MS * 2 ** tries * (1 + this.#run.random() * 0.1)
      this.#after(backoffMs, () => this.#attempt(writer, { tries: tries + 1, mustLoad: true }))
      return
    }
    this.#result.failed += 1
    if (writer.left < appendCount) this.#result.failedLater += 1
    writer.left -= 1
    this.#write(writer)
  }

  #read(own: FakeConnection): void {
    this.#readerLoads += 1
    const again = (): void => this.#after(this.#run.readers.everyMs, () => this.#read(own))
    const answer = (): void => {
      this.#line.answered(this.#callerOn(own), this.#head, this.#nowMs)
      again()
    }
    if (this.#admit(own, answer)) this.#readerWaits += 1
  }

  #connect(writer: Writer, use: 'load' | 'commit'): FakeConnection {
    switch (this.#run.kind.connections) {
      case 'own':
        return writer.own
      case 'fresh-commits':
        return use === 'load' ? writer.own : this.#open()
      case 'fresh':
        return this.#open()
      case 'first-idle':
        return this.#idle.shift() ?? this.#open()
      case 'last-used':
        return this.#idle.pop() ?? this.#open()
    }
  }

  #open(): FakeConnection {
    this.#connectionCount += 1
    if (this.#connectionCount > OPEN_CONNECTIONS_MAX * 10) throw new Error('too many connections')
    const closing = new AbortController()
    const id = String(this.#connectionCount)
    return {
      number: this.#connectionCount,
      closing,
      connection: { id, remoteAddress: '10.0.0.1', closed: closing.signal },
    }
  }

  #release(connection: FakeConnection): void {
    const { connections } = this.#run.kind
    if (connections === 'first-idle' || connections === 'last-used') {
      this.#idle.push(connection)
      if (connections === 'first-idle') this.#idle.sort((a, b) => a.number - b.number)
      return
    }
    // What was opened for one request is closed after it.
    const isFresh = connection.number > this.#run.writerCount + this.#run.readers.count
    if (!isFresh) return
    this.#after(this.#run.kind.closesAfterMs ?? 0, () => {
      connection.closing.abort()
      this.#line.closed(connection.connection.id, this.#nowMs)
    })
  }

  #callerOn({ connection }: FakeConnection): Caller {
    const userAgent = this.#run.kind.userAgent ?? 'writer/1'
    return { crowd: 'crowd', connection, userAgent, address: '10.0.0.1' }
  }
}

interface FakeConnection {
  readonly number: number
  readonly closing: AbortController
  readonly connection: Caller['connection']
}

interface Writer {
  readonly own: FakeConnection
  base: Head
  left: number
}
