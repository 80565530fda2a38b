import { beginsBeforeItLoads, type Caller } from './caller.ts'
import type { Crowd, Debt } from './crowd.ts'
import { KnownCallers } from './known-callers.ts'
import { reasonToWait, showsMixing, takesFreeLoad } from './known-connection.ts'
import {
  isOfTurn,
  isSameCaller,
  newTicket,
  startOf,
  type Arrival,
  type CommitOutcome,
  type OpenTurn,
  type Ticket,
  type Turn,
} from './turn.ts'
import { PastTurns } from './past-turns.ts'
import { type DueTimes, FIRST_OF_ALL, WaitingTickets } from './waiting-tickets.ts'
import {
  ANSWER_WAIT_MS_MAX,
  COURTESY_MS_MAX,
  DEBT_MS,
  FIRST_HOLD_SHARE,
  FREE_LOAD_MS,
  LIFELINE_COMMITS_MIN,
  LINE_LENGTH_MAX,
  READER_MS,
  STREAK_COMMITS_MAX,
  WRITER_MS,
  type Head,
  type TurnRules,
} from './turn-rules.ts'

export interface LineCounts {
  /** Turns that ended because their time was over. */
  holdsExpired: number
  /** Commits that landed in a turn while others waited, who would have raced them. */
  conflictsAvoided: number
}

/**
 * Who may load a contended table next. One caller has the turn, from the answer to its load to its commit; the loads of
 * other callers who lost a race there or committed lately wait in the line. Everybody else is answered at once, and every
 * commit is let through. No clock and no waiting in here: each call gets the time and may call tickets (`takeCalled`), and
 * `dueMs` says when `tick` has something to do.
 */
export class TableLine {
  readonly #rules: TurnRules
  readonly #callers = new KnownCallers()
  readonly #waiting = new WaitingTickets()
  #turn: OpenTurn | undefined
  readonly #pastTurns = new PastTurns()
  #contendedUntilMs = 0
  #counts: LineCounts = { holdsExpired: 0, conflictsAvoided: 0 }

  constructor(rules: TurnRules) {
    this.#rules = rules
  }

  get waiting(): readonly Ticket[] {
    return this.#waiting.line
  }

  get turn(): Turn | undefined {
    return this.#turn
  }

  /** Until when callers take turns here, if nothing else happens. */
  get contendedUntilMs(): number {
    return this.#contendedUntilMs
  }

  isContended(nowMs: number): boolean {
    return nowMs < this.#contendedUntilMs || this.#waiting.line.length > 0
  }

  /** Nobody waits and nothing is going on. */
  isOver(nowMs: number): boolean {
    const isAwaited = this.#turn !== undefined || this.#waiting.hasCourtesies
    return !isAwaited && !this.isContended(nowMs)
  }

  /** The tickets that were called since the last time, in order. */
  takeCalled(): readonly Ticket[] {
    return this.#waiting.takeCalled()
  }

  /** What was counted since the last time. */
  takeCounts(): LineCounts {
    const counts = this.#counts
    this.#counts = { holdsExpired: 0, conflictsAvoided: 0 }
    return counts
  }

  /** Somebody committed before the table was contended: it takes its turns like those who lost against it. */
  noteEarlierCommit(caller: Caller, head: Head | undefined, nowMs: number): void {
    if (!beginsBeforeItLoads(caller)) {
      return this.#oweTurn(caller, { isHead: false, isLost: false }, nowMs)
    }
    // It has its answer, so it may have begun.
    this.#contend(nowMs)
    this.#joinForAnswer({ caller, turn: undefined }, { isHead: false, isLost: false }, nowMs)
    this.#callNext(nowMs)
    if (this.#turn !== undefined) this.#turn.head = head
  }

  /**
   * A load: its place in the line, which may be called already, or undefined when it is answered at once. `isFirst`: the
   * connection never loaded anything before.
   */
  load(caller: Caller, nowMs: number, isFirst = false): Ticket | undefined {
    this.tick(nowMs)
    if (!this.isContended(nowMs)) return undefined
    const { id } = caller.connection
    // Of a client that opens a connection for each request, its end is not that of the caller.
    const lifeline = this.#callers.connection(id) !== undefined ? id : undefined
    const crowd = this.#callers.crowdOf(caller)
    const connection = this.#callers.connectionOf(caller)
    connection.loadCount += 1
    if (beginsBeforeItLoads(caller)) {
      return isFirst ? this.#standAside(caller, nowMs) : undefined
    }
    if (this.#extendsTurn(caller, crowd, nowMs)) return undefined
    if (takesFreeLoad({ connection, crowd }, nowMs)) return undefined
    const debt = reasonToWait(caller, { connection, crowd }, nowMs)
    if (debt === undefined || this.#waiting.line.length >= LINE_LENGTH_MAX) return undefined
    const sinceMs = debt.isHead ? FIRST_OF_ALL : (crowd.takeWait(id, nowMs) ?? nowMs)
    const ticket = { ...newTicket(caller, lifeline, nowMs), sinceMs, isRetry: debt.isLost }
    this.#join(ticket)
    this.#callNext(nowMs)
    return ticket
  }

  /** The load of this caller was answered with this state. */
  answered(caller: Caller, head: Head | undefined, nowMs: number): void {
    const connection = this.#callers.connectionOf(caller)
    connection.head = head
    connection.loadedMs = nowMs
    // Loads of those who only read say nothing about how often writers load, nor do loads that wait.
    if (connection.commitCount > 0) this.#callers.crowdOf(caller).countLoad()
    const turn = this.#turn
    if (turn === undefined || !isOfTurn(turn, caller)) return
    // The answer may have waited for other processes.
    if (turn.head === undefined && !turn.ticket.isAnswer) turn.startMs = nowMs
    turn.head = head
    if (turn.ticket.isAnswer) turn.loader = caller.connection.id
    this.#extend(turn, nowMs)
  }

  /** Lets the turn of this ticket last until then at least. */
  extendTurn(ticket: Ticket, untilMs: number): void {
    if (this.#turn?.ticket === ticket) this.#turn.untilMs = Math.max(this.#turn.untilMs, untilMs)
  }

  /** Appends wait until then for the commit of this ticket's turn, which lasts as long at least, whatever is loaded in it. */
  noteAppendPause(ticket: Ticket, pauseEndMs: number): void {
    if (this.#turn?.ticket === ticket) this.#turn.pauseEndMs = pauseEndMs
    this.extendTurn(ticket, pauseEndMs)
  }

  /** The turn that began with the answer to a commit and that this load belongs to: its ticket. */
  answeredTurn(caller: Caller): Ticket | undefined {
    const turn = this.#turn
    return turn?.ticket.isAnswer === true && isOfTurn(turn, caller) ? turn.ticket : undefined
  }

  /** The caller of a load has gone. */
  leave(ticket: Ticket, nowMs: number): void {
    this.#waiting.remove(ticket)
    if (this.#turn?.ticket !== ticket) return
    if (this.#turn.commitCount === 0) this.#endTurn()
    this.#callNext(nowMs)
  }

  /** A connection was closed. */
  closed(connectionId: string, nowMs: number): void {
    this.#callers.forgetConnection(connectionId)
    const isOver = ({ lifeline }: Ticket): boolean => lifeline === connectionId
    this.#waiting.callWhere(isOver)
    const ticket = this.#turn?.ticket
    if (ticket !== undefined && isOver(ticket)) this.leave(ticket, nowMs)
  }

  /** A commit on top of this state has come; it will be tried whosever turn it is. */
  arrive(caller: Caller, base: Head | undefined, nowMs: number): Arrival {
    const crowd = this.#callers.crowdOf(caller)
    crowd.countCommit()
    const own = this.#callers.connectionOf(caller)
    own.commitCount += 1
    if (showsMixing(own, base)) crowd.markMixed(nowMs)
    const turn = this.#turnOf(caller, base)
    if (turn !== undefined) this.#countCommitOf(turn, caller)
    if (turn?.goesOn === true) crowd.countStreak({ isUsed: turn === this.#turn })
    if (own.loadedMs === undefined && own.head !== undefined && own.head === base) {
      own.commitsUnloaded = true
    }
    const loadedMs = startOf(turn) ?? (own.head === base ? own.loadedMs : undefined)
    if (loadedMs !== undefined) crowd.measure(nowMs - loadedMs)
    if (turn === undefined) return { caller, turn }
    if (turn === this.#turn) turn.commitCount += 1
    else this.#pastTurns.remove(turn)
    return { caller, turn }
  }

  /** A commit counts for the connection that was loaded on, too. */
  #countCommitOf({ ticket, loader }: OpenTurn, caller: Caller): void {
    if (!ticket.isAnswer) {
      if (!isSameCaller(ticket.caller, caller)) {
        this.#callers.connectionOf(ticket.caller).commitCount += 1
      }
      return
    }
    this.#callers.crowdOf(caller).countAnswer({ isUsed: true })
    const connection = loader === undefined ? undefined : this.#callers.connection(loader)
    if (connection !== undefined) connection.commitCount += 1
  }

  /** What became of it. The answer to the commit waits for the ticket that comes back, if one does. */
  settle(arrival: Arrival, outcome: CommitOutcome, nowMs: number): Ticket | undefined {
    const turn = this.#turn
    let ticket: Ticket | undefined
    this.#callers.connectionOf(arrival.caller)
    const isInTurn = turn !== undefined && arrival.turn === turn
    if (isInTurn) turn.commitCount -= 1
    switch (outcome.kind) {
      case 'landed':
        if (outcome.isStrict) this.#rememberWriter(arrival, outcome.head, nowMs)
        if (isInTurn && turn.hadFollowers) this.#counts.conflictsAvoided += 1
        this.#endTurn()
        if (turn !== undefined && !isInTurn) {
          turn.isBeaten = true
          this.#pastTurns.keep(turn, nowMs)
        }
        if (outcome.isStrict && !this.#goesOn(arrival.caller, outcome.head, nowMs)) {
          ticket = this.#oweCourtesy(arrival, nowMs)
        }
        break
      case 'lost':
        ticket = this.#rememberLoser(arrival, nowMs)
        if (isInTurn) this.#endTurn()
        break
      case 'apart':
        if (isInTurn) this.#endTurn()
        break
    }
    this.#callNext(nowMs)
    return ticket
  }

  /** Ends what is over by now. */
  tick(nowMs: number): void {
    const turn = this.#turn
    if (turn !== undefined && turn.commitCount === 0 && nowMs >= turn.untilMs) {
      this.#endTurn()
      this.#counts.holdsExpired += 1
      this.#pastTurns.keep(turn, nowMs)
      this.#countUnused(turn, nowMs)
    }
    for (const { caller, sinceMs } of this.#waiting.callDue(nowMs, this.#due)) {
      // What it does now is probably in vain, and it has waited for longer than those behind it.
      this.#callers.crowdOf(caller).keepWait({ connection: caller.connection.id, sinceMs, nowMs })
    }
    this.#callNext(nowMs)
  }

  /** When `tick` has something to do, if nothing else happens; Infinity for never. */
  dueMs(): number {
    const turn = this.#turn
    const turnMs = turn?.commitCount === 0 ? turn.untilMs : Infinity
    return Math.min(turnMs, this.#waiting.nextDueMs(this.#due))
  }

  /** Calls everybody who waits. */
  callAll(): void {
    this.#waiting.callAll()
  }

  /** How long this caller may keep a turn after each load. */
  holdMs(caller: Caller): number {
    const { holdMsMax } = this.#rules
    const holdMs = this.#callers.crowdOf(caller).holdMs(holdMsMax)
    // Who does not try again pays for a turn that was too short with all that it did.
    return beginsBeforeItLoads(caller) ? Math.max(holdMs, holdMsMax * FIRST_HOLD_SHARE) : holdMs
  }

  /** When tickets are called whatever the line does. */
  readonly #due: DueTimes = {
    lineMs: ({ joinedMs, isAnswer }) => {
      const { waitMsMax } = this.#rules
      return joinedMs + (isAnswer ? Math.min(waitMsMax, ANSWER_WAIT_MS_MAX) : waitMsMax)
    },
    courtesyMs: ({ joinedMs, caller }) => {
      const holder = beginsBeforeItLoads(caller) ? undefined : this.#turn?.ticket.caller
      return joinedMs + Math.max(COURTESY_MS_MAX, holder === undefined ? 0 : this.holdMs(holder))
    },
  }

  /** Whoever let it go first may go on. */
  #endTurn(): void {
    this.#turn = undefined
    this.#waiting.callCourtesies()
  }

  /**
   * Its next commit would build on what was there when it had this answer, whenever it may load: its turn begins with the
   * answer. Undefined where that would only keep it waiting.
   */
  #joinForAnswer(
    { caller, turn }: Arrival,
    { isHead, isLost }: Pick<Debt, 'isHead' | 'isLost'>,
    nowMs: number,
  ): Ticket | undefined {
    const isUseful = this.#callers.crowdOf(caller).usesAnswers && this.isContended(nowMs)
    if (!isUseful || this.#waiting.line.length >= LINE_LENGTH_MAX) return undefined
    const lifeline = this.#lifelineOf(turn)
    const sinceMs = isHead ? FIRST_OF_ALL : nowMs
    const ticket = { caller, joinedMs: nowMs, sinceMs, isRetry: isLost, lifeline, isAnswer: true }
    this.#join(ticket)
    return ticket
  }

  /** Whoever loaded once in another's turn might be a reader; whoever does so each time is the one who commits. */
  #lifelineOf(turn: OpenTurn | undefined): string | undefined {
    const { loader } = turn ?? {}
    if (loader === undefined) return undefined
    const commitCount = this.#callers.connection(loader)?.commitCount ?? 0
    return commitCount >= LIFELINE_COMMITS_MIN ? loader : undefined
  }

  #join(ticket: Ticket): void {
    this.#waiting.join(ticket)
    if (this.#turn !== undefined) this.#turn.hadFollowers = true
  }

  /**
   * A caller who is new and began before it loads cannot use a turn: its commit is late already, or would beat the one whose
   * turn it is. Its load waits for that one, once, and its turn begins with the answer to its commit.
   */
  #standAside(caller: Caller, nowMs: number): Ticket | undefined {
    const { ticket: holder } = this.#turn ?? {}
    if (holder?.isAnswer !== true || holder.caller.crowd !== caller.crowd) return undefined
    return this.#showCourtesy(caller, undefined, nowMs)
  }

  #showCourtesy(caller: Caller, lifeline: string | undefined, nowMs: number): Ticket {
    const ticket = newTicket(caller, lifeline, nowMs)
    this.#waiting.addCourtesy(ticket)
    return ticket
  }

  /** Its next commit would come without a load, and beat the one who has the turn then. */
  #oweCourtesy(arrival: Arrival, nowMs: number): Ticket | undefined {
    const { caller } = arrival
    if (beginsBeforeItLoads(caller)) {
      return this.#joinForAnswer(arrival, { isHead: false, isLost: false }, nowMs)
    }
    const { commitsUnloaded } = this.#callers.connectionOf(caller)
    if (!commitsUnloaded || this.#callers.crowdOf(caller).isMixed(nowMs)) return undefined
    const isAwaited = this.#waiting.line.length > 0 || this.#pastTurns.hasBeaten
    if (!isAwaited && ![...this.#callers.crowds].some((crowd) => crowd.hasBeaten(nowMs))) {
      return undefined
    }
    return this.#showCourtesy(caller, caller.connection.id, nowMs)
  }

  #callNext(nowMs: number): void {
    if (this.#turn !== undefined) return
    const ticket = this.#waiting.callFirst()
    if (ticket !== undefined) this.#beginTurn(ticket, { head: undefined, goesOn: false }, nowMs)
  }

  #beginTurn(
    ticket: Ticket,
    { head, goesOn }: Pick<OpenTurn, 'head' | 'goesOn'>,
    nowMs: number,
  ): void {
    const hadFollowers = this.#waiting.line.length > 0
    if (hadFollowers) this.#contend(nowMs)
    this.#turn = {
      ticket,
      startMs: nowMs,
      loadedMs: nowMs,
      untilMs: nowMs + this.holdMs(ticket.caller),
      pauseEndMs: nowMs,
      head,
      loader: undefined,
      commitCount: 0,
      hadFollowers,
      isBeaten: false,
      goesOn,
    }
  }

  /** Whether the turn after its commit is that of the same caller, who builds on what it has just made. */
  #goesOn(caller: Caller, head: Head | undefined, nowMs: number): boolean {
    const connection = this.#callers.connectionOf(caller)
    const { commitsUnloaded, streakCommits } = connection
    const crowd = this.#callers.crowdOf(caller)
    const mayGoOn = commitsUnloaded && crowd.usesStreaks && !crowd.isMixed(nowMs)
    if (!mayGoOn || beginsBeforeItLoads(caller)) return false
    const waitingCount = this.#waiting.line.length
    // Everybody behind it may go on for as long, and should come to its turn in time.
    const lineMs = waitingCount * STREAK_COMMITS_MAX * crowd.thinkMs
    const isLong = streakCommits >= STREAK_COMMITS_MAX - 1 || lineMs > this.#rules.waitMsMax
    const goesOn = waitingCount > 0 && !isLong
    connection.streakCommits = goesOn ? streakCommits + 1 : 0
    if (!goesOn) return false
    this.#beginTurn(newTicket(caller, caller.connection.id, nowMs), { head, goesOn }, nowMs)
    return true
  }

  #contend(nowMs: number): void {
    this.#contendedUntilMs = Math.max(this.#contendedUntilMs, nowMs + this.#rules.contendedForMs)
  }

  /** Further loads of the caller whose turn it is are part of it; its time counts from the last one. */
  #extendsTurn(caller: Caller, crowd: Crowd, nowMs: number): boolean {
    const turn = this.#turn
    if (turn === undefined || (crowd.isMixed(nowMs) && !crowd.loadsRepeatedly)) return false
    if (!isSameCaller(turn.ticket.caller, caller)) return false
    this.#extend(turn, nowMs)
    return true
  }

  #extend(turn: OpenTurn, nowMs: number): void {
    turn.loadedMs = nowMs
    const endMs = turn.startMs + this.#rules.holdMsMax
    const untilMs = Math.min(endMs, nowMs + this.holdMs(turn.ticket.caller))
    turn.untilMs = Math.max(untilMs, turn.pauseEndMs)
  }

  /**
   * The turn that a commit ends: one of its crowd that was given the state that it builds on, for DuckDB commits on another
   * connection than it loads on.
   */
  #turnOf(caller: Caller, base: Head | undefined): OpenTurn | undefined {
    const hasLoadedIt = base !== undefined && this.#callers.connectionOf(caller).head === base
    const isOf = ({ ticket, head }: OpenTurn): boolean => {
      if (isSameCaller(ticket.caller, caller)) return base === undefined || base === head
      return !hasLoadedIt && ticket.caller.crowd === caller.crowd && base === head
    }
    if (this.#turn !== undefined && isOf(this.#turn)) return this.#turn
    return this.#pastTurns.find(isOf)
  }

  #rememberWriter({ caller, turn }: Arrival, head: Head | undefined, nowMs: number): void {
    const crowd = this.#callers.crowdOf(caller)
    const own = this.#callers.connectionOf(caller)
    own.head = head
    own.loadedMs = undefined
    if (beginsBeforeItLoads(caller)) return
    const writer = turn?.ticket.caller ?? caller
    this.#callers.crowdOf(writer).forgetWait(writer.connection.id)
    const connection = this.#callers.connectionOf(writer)
    if (connection.loadCount === 0 || crowd.isMixed(nowMs)) {
      if (crowd.isMixed(nowMs) && crowd.reloadsAfterSuccess) crowd.addFreeLoad(nowMs)
      this.#oweTurn(writer, { isHead: false, isLost: false }, nowMs)
      return
    }
    connection.writerUntilMs = nowMs + WRITER_MS
    connection.readerUntilMs = 0
    if (crowd.reloadsAfterSuccess) connection.freeLoadUntilMs = nowMs + FREE_LOAD_MS
  }

  #rememberLoser(arrival: Arrival, nowMs: number): Ticket | undefined {
    this.#contend(nowMs)
    const { turn } = arrival
    // Who had the turn and was beaten by a commit out of turn, also one of another process, comes first.
    const isHead = turn !== undefined && (turn === this.#turn || turn.isBeaten)
    if (beginsBeforeItLoads(arrival.caller)) {
      return this.#joinForAnswer(arrival, { isHead, isLost: true }, nowMs)
    }
    this.#oweTurn(turn?.ticket.caller ?? arrival.caller, { isHead, isLost: true }, nowMs)
    return undefined
  }

  #countUnused(turn: OpenTurn, nowMs: number): void {
    const crowd = this.#callers.crowdOf(turn.ticket.caller)
    if (turn.goesOn) crowd.countStreak({ isUsed: false })
    else if (turn.ticket.isAnswer) crowd.countAnswer({ isUsed: false })
    else this.#rememberReader(turn, nowMs)
  }

  /** Whoever loads and does not commit reads. */
  #rememberReader({ ticket }: OpenTurn, nowMs: number): void {
    const connection = this.#callers.connection(ticket.caller.connection.id)
    if (connection === undefined) return
    connection.writerUntilMs = 0
    connection.readerUntilMs = nowMs + READER_MS
  }

  #oweTurn(caller: Caller, debt: Pick<Debt, 'isHead' | 'isLost'>, nowMs: number): void {
    const { connection } = caller
    const id = connection.closed.aborted ? undefined : connection.id
    this.#callers.crowdOf(caller).addDebt({ ...debt, connection: id, untilMs: nowMs + DEBT_MS })
  }
}
