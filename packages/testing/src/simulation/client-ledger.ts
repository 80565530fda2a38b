/**
 * What a client knows of one of its changes. `unknown`: the answer was lost, and the client could not find out: it may have
 * landed, or land later.
 */
export type ClientOutcome = 'pending' | 'landed' | 'failed' | 'unknown'

/** One change that a client asked for. */
export interface LedgerEntry {
  readonly client: string
  readonly table: string
  /** Data files that it adds. */
  readonly added: readonly string[]
  /** Data files that it replaces by the added ones, which hold the same rows. */
  readonly replaced: readonly string[]
  outcome: ClientOutcome
  /** Of the landed change. */
  snapshotId?: bigint
}

/** Everything that all clients of a world asked for. */
export class ClientLedger {
  readonly entries: LedgerEntry[] = []

  open(
    entry: Pick<LedgerEntry, 'client' | 'table' | 'added'> & {
      readonly replaced?: readonly string[]
    },
  ): LedgerEntry {
    const opened: LedgerEntry = { replaced: [], ...entry, outcome: 'pending' }
    this.entries.push(opened)
    return opened
  }
}
