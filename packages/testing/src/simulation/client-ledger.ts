/**
 * What a client knows of one of its changes. `unknown`: the answer was lost, and the client could not find out: it may have
 * landed, or land later.
 */
export type ClientOutcome = 'pending' | 'landed' | 'failed' | 'unknown'

/** One change that a client asked for. */
export interface LedgerEntry {
  readonly client: string
  readonly table: string
  /** Of the table: another one may get its name. */
  readonly tableUuid: string
  /** What it names lands in all of its tables or in none. */
  readonly transaction?: string
  /** Data files that it adds. */
  readonly added: readonly string[]
  /** Data files that it replaces by the added ones, which hold the same rows. */
  readonly replaced: readonly string[]
  outcome: ClientOutcome
  /** Of the landed change. */
  snapshotId?: bigint
}

/** A name that a client asked for, or asked to be given up. */
export interface NameEntry {
  readonly client: string
  readonly table: string
  readonly change: 'create' | 'drop'
  outcome: ClientOutcome
  /** Of the table that was made. */
  tableUuid?: string
}

/** Everything that all clients of a world asked for. */
export class ClientLedger {
  readonly entries: LedgerEntry[] = []
  readonly names: NameEntry[] = []

  open(
    entry: Pick<LedgerEntry, 'client' | 'table' | 'tableUuid' | 'added' | 'transaction'> & {
      readonly replaced?: readonly string[]
    },
  ): LedgerEntry {
    const opened: LedgerEntry = { replaced: [], ...entry, outcome: 'pending' }
    this.entries.push(opened)
    return opened
  }

  openName(entry: Pick<NameEntry, 'client' | 'table' | 'change'>): NameEntry {
    const opened: NameEntry = { ...entry, outcome: 'pending' }
    this.names.push(opened)
    return opened
  }
}
