/*
 * Turns of catalog processes on one hot table. Two processes that both have commits waiting would swap against each
 * other, and each lost swap wastes a metadata file; so after a lost swap a process asks for a turn and waits for it, and
 * whoever has it gives it to whoever asked. A turn is a hint: what decides is the comparison of the pointer, and a process
 * that dies in its turn is passed over after a while.
 * Errors: those of the session.
 */
import type { SqlSession } from './sql-session.ts'

/** Where the turns of a table stand. */
export interface CommitTurn {
  /** Whose turn it is; undefined when nobody asked. */
  readonly turn: string | undefined
  /** Who gets it then; undefined when nobody asked. */
  readonly next: string | undefined
  readonly metadataLocation: string
}

interface TurnRow {
  readonly commit_turn: string | null
  readonly commit_next: string | null
  readonly metadata_location: string
}

const ASK = `
update catalog_table set commit_turn = coalesce(commit_turn, $2::text),
  commit_next = case when commit_turn is null or commit_turn = $2::text then commit_next else coalesce(commit_next, $2::text) end
where id = $1
returning commit_turn, commit_next, metadata_location`

/** Takes the turn when nobody has it, otherwise the place behind it when that is free. Undefined: there is no such table. */
export async function askForTurn(
  session: SqlSession,
  { tableId, processId }: { readonly tableId: string; readonly processId: string },
): Promise<CommitTurn | undefined> {
  return turnOf(await session.query<TurnRow>(ASK, [tableId, processId]))
}

const READ = 'select commit_turn, commit_next, metadata_location from catalog_table where id = $1'

/** Where the turns of the table stand; undefined when there is no such table. */
export async function readTurn(
  session: SqlSession,
  tableId: string,
): Promise<CommitTurn | undefined> {
  return turnOf(await session.query<TurnRow>(READ, [tableId]))
}

const SEIZE = `
update catalog_table set commit_turn = $2::text, commit_next = nullif(commit_next, $2::text)
where id = $1 and commit_turn = $3::text and metadata_location = $4::text`

/** Takes the turn away from a process that was seen with it and has done nothing since. */
export async function seizeTurn(
  session: SqlSession,
  seizure: {
    readonly tableId: string
    readonly processId: string
    readonly seen: Pick<CommitTurn, 'turn' | 'metadataLocation'>
  },
): Promise<void> {
  const { tableId, processId, seen } = seizure
  await session.query(SEIZE, [tableId, processId, seen.turn ?? null, seen.metadataLocation])
}

const PASS = `
update catalog_table set commit_turn = commit_next, commit_next = null where id = $1 and commit_turn = $2`

/** Gives the turn to whoever is next; a process that does not have it changes nothing. */
export async function passTurn(
  session: SqlSession,
  { tableId, processId }: { readonly tableId: string; readonly processId: string },
): Promise<void> {
  await session.query(PASS, [tableId, processId])
}

function turnOf([row]: readonly TurnRow[]): CommitTurn | undefined {
  if (row === undefined) return undefined
  return {
    turn: row.commit_turn ?? undefined,
    next: row.commit_next ?? undefined,
    metadataLocation: row.metadata_location,
  }
}
