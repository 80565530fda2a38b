import type { Caller } from './caller.ts'
import type { Head } from './turn-rules.ts'

/** An answer that waits: that to a load or to a commit, for a turn, or for the end of one that it must not disturb. */
export interface Ticket {
  readonly caller: Caller
  readonly joinedMs: number
  /** When its caller began to wait for a turn with what it is about to do, in earlier tries too; the line goes by that. */
  readonly sinceMs: number
  /** Whether its caller lost a race before. */
  readonly isRetry: boolean
  /** The connection whose end is the end of the caller, where that is known. */
  readonly lifeline: string | undefined
  /** Whether what waits is the answer to a commit whose caller begins anew when it has it. */
  readonly isAnswer: boolean
}

/** The ticket of a load, or of the answer to a commit that must not disturb a turn, by a caller who has lost nothing. */
export function newTicket(caller: Caller, lifeline: string | undefined, nowMs: number): Ticket {
  return { caller, joinedMs: nowMs, sinceMs: nowMs, isRetry: false, lifeline, isAnswer: false }
}

/** The caller whose commit the others wait for. */
export interface Turn {
  readonly ticket: Ticket
  readonly startMs: number
  /** When the others stop waiting for it, unless its commit has arrived by then. */
  readonly untilMs: number
}

export interface OpenTurn extends Turn {
  startMs: number
  untilMs: number
  /** Appends wait for it until then, so it lasts as long at least. */
  pauseEndMs: number
  /** When its last load was answered, and with what. */
  loadedMs: number
  head: Head | undefined
  /** The connection of its first load, where the turn began with the answer to a commit. */
  loader: string | undefined
  /** Its commits that have arrived and have no outcome yet. */
  commitCount: number
  hadFollowers: boolean
  /** Whether another commit came between. */
  isBeaten: boolean
  /** Whether its caller goes on after a commit, without a load. */
  readonly goesOn: boolean
}

/** A commit whose outcome the line waits for. */
export interface Arrival {
  readonly caller: Caller
  /** The turn that it belongs to, if any; that may be over. */
  readonly turn: OpenTurn | undefined
}

/** What became of a commit: it moved a branch, it lost a race, or it tells nothing about races. */
export type CommitOutcome =
  | { readonly kind: 'landed'; readonly isStrict: boolean; readonly head: Head | undefined }
  | { readonly kind: 'lost' }
  | { readonly kind: 'apart' }

/** Whether a load belongs to the turn; after an answer, the first one of its crowd is taken for that of its caller. */
export function isOfTurn({ ticket, loader }: OpenTurn, caller: Caller): boolean {
  if (!ticket.isAnswer) return isSameCaller(ticket.caller, caller)
  return ticket.caller.crowd === caller.crowd && loader === undefined
}

/** When the caller of a turn began with what it commits. */
export function startOf(turn: OpenTurn | undefined): number | undefined {
  return turn?.ticket.isAnswer === true ? turn.startMs : turn?.loadedMs
}

/** Whether both came on one connection, with the same credentials. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  return one.connection.id === other.connection.id && one.crowd === other.crowd
}
