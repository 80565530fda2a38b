/** What an operator may set about turns. All in milliseconds. */
export interface TurnRules {
  /** How long a table counts as contended after a commit lost a race there, or somebody waited. */
  readonly contendedForMs: number
  /** The longest that one caller can keep the others waiting, from the answer to its first load to its commit. */
  readonly holdMsMax: number
  /** A load is answered after this time whatever the line does. */
  readonly waitMsMax: number
}

/** Even the fastest client needs this long, on a machine that is busy. */
export const HOLD_MS_MIN = 25
/** A caller keeps its turn for this many times what callers like it usually need. */
export const HOLD_FACTOR = 4
/** The hold of callers whose speed is not known yet, as a share of the longest. */
export const FIRST_HOLD_SHARE = 1 / 5
/** Who committed this lately takes turns from its first load on. */
export const WRITER_MS = 60_000
/** Who lost a race takes a turn if it comes back within this time. */
export const DEBT_MS = 10_000
/** Who had a turn and did nothing with it is left alone for so long, and is not made to wait for the races of others. */
export const READER_MS = 10_000
/** Who was answered before its turn came has its old place in the line if it comes back within this time. */
export const VAIN_WAIT_MS = 60_000
/** How long callers that were seen to share connections are told apart by nothing at all. */
export const MIXED_MS = 60_000
/** A connection that so many turns with a commit were loaded on belongs to the one who commits. */
export const LIFELINE_COMMITS_MIN = 2
/** A load that comes so soon after a success belongs to it. */
export const FREE_LOAD_MS = 2_000
/**
 * Who commits again and again without a load, as PyIceberg does, goes on for so many commits: it has the newest state, and
 * would lose its next race if others came between.
 */
export const STREAK_COMMITS_MAX = 4
/**
 * Then it would race every turn: the answer to its commit waits for the end of the turn after it, at most so long or as long as
 * that turn may last. Longer than the second pause that clients make before they try again.
 */
export const COURTESY_MS_MAX = 500
/** The answer to a commit waits for its caller's next turn at most so long: DuckDB gives up after 30 seconds. */
export const ANSWER_WAIT_MS_MAX = 20_000

/** Loads that wait for one table at most; more are answered at once. */
export const LINE_LENGTH_MAX = 1_000
/** Connections, crowds and lost races that are remembered for one table at most. */
export const CONNECTIONS_MAX = 10_000
export const CROWDS_MAX = 1_000
export const DEBTS_MAX = 1_000
/** Turns that ended without their commit and are remembered, because the commit may still come. */
export const PAST_TURNS_MAX = 64

/** What a caller was given, or builds on: the snapshot of main as text, or `none` for a table without one. */
export type Head = string

export const NO_SNAPSHOT: Head = 'none'
