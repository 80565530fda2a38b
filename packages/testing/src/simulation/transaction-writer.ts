import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { encodeCommitTransactionRequest } from '@timelake/iceberg/rest/commit-transaction-json'
import { printJson } from '@timelake/iceberg/spec/json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { buildAppend, dataFile } from './append-writer.ts'
import type { LedgerEntry } from './client-ledger.ts'
import {
  ask,
  type ClientTable,
  headOf,
  isFinalForKey,
  loadTable,
  readList,
  type SimulatedClient,
  snapshotRequest,
  TRANSACTION_PATH,
  tryOnce,
  unchangedSince,
  unlessGone,
  waitMs,
} from './table-client.ts'

export interface TransactionStyle {
  readonly attemptsMax: number
  readonly usesKeys: boolean
  /** Changes the first table alone, as long as the others have not changed. */
  readonly onlyLooksAtOthers: boolean
}

const ROWS_PER_FILE = 3n

/** An append to one of the tables of a transaction. */
interface Part {
  readonly table: ClientTable
  readonly file: DataFile
  readonly snapshotId: bigint
  readonly entry: LedgerEntry
  /** Manifests and lists of all attempts. */
  readonly written: string[]
}

/**
 * Appends one file to each of the tables, in all of them or in none, on their newest heads. Cleans up like an append to one table:
 * after a certain failure everything goes, after a success what the snapshots do not name, otherwise nothing.
 */
export async function appendToAll(
  client: SimulatedClient,
  tables: readonly ClientTable[],
  style: TransactionStyle,
): Promise<void> {
  const transaction = client.newUuid()
  const loaded: { readonly table: ClientTable; readonly metadata: TableMetadata }[] = []
  for (const table of tables) loaded.push({ table, metadata: await loadTable(client, table) })
  const parts: Part[] = []
  for (const { table, metadata } of loaded) {
    const { location, tableUuid } = metadata
    const file = dataFile(`${location}/data/${client.newUuid()}.parquet`, ROWS_PER_FILE)
    await client.store.putIfAbsent(file.filePath, new Uint8Array(1))
    const named = { client: client.name, table: table.name, tableUuid, transaction }
    const entry = client.ledger.open({ ...named, added: [file.filePath] })
    parts.push({ table, file, snapshotId: client.random.long(), entry, written: [] })
  }
  const changed = style.onlyLooksAtOthers ? parts.slice(0, 1) : parts
  // What is only looked at adds nothing, whatever happens.
  for (const { entry } of parts)
    if (!changed.some((one) => one.entry === entry)) entry.outcome = 'failed'
  const entries = changed.map(({ entry }) => entry)
  await unlessGone(entries, () => tryAll(client, { parts, changed, style }))
}

interface OpenTransaction {
  readonly parts: readonly Part[]
  readonly changed: readonly Part[]
  readonly style: TransactionStyle
}

async function tryAll(client: SimulatedClient, open: OpenTransaction): Promise<void> {
  const { parts, style } = open
  for (let attempt = 1; attempt <= style.attemptsMax; attempt += 1) {
    const outcome = await commitAll(client, open, attempt)
    if (outcome !== 'conflict') return settle(client, open, outcome)
    await client.delay(waitMs(attempt))
  }
  for (const { entry, file, written } of parts) {
    entry.outcome = 'failed'
    for (const location of [...written, file.filePath]) await client.store.delete(location)
  }
}

async function commitAll(
  client: SimulatedClient,
  { parts, changed, style }: OpenTransaction,
  attempt: number,
): Promise<'committed' | 'conflict' | 'unknown'> {
  const changes = []
  for (const part of parts) {
    const { table, entry } = part
    const metadata = await loadTable(client, table, entry.tableUuid)
    const request = changed.includes(part)
      ? await appendRequest(client, { part, metadata, attempt })
      : { requirements: unchangedSince(metadata, headOf(metadata)), updates: [] }
    changes.push({ ...request, identifier: { namespace: ['ns'], name: table.name } })
  }
  const sent = {
    method: 'POST' as const,
    path: TRANSACTION_PATH,
    headers: style.usesKeys ? { 'idempotency-key': client.newUuid() } : {},
    body: printJson(encodeCommitTransactionRequest(changes)),
  }
  const answer = style.usesKeys
    ? await ask(client, sent, isFinalForKey)
    : await tryOnce(client, sent)
  if (answer === undefined || answer.status >= 500) return 'unknown'
  return answer.status === 204 ? 'committed' : 'conflict'
}

async function appendRequest(
  client: SimulatedClient,
  {
    part,
    metadata,
    attempt,
  }: { readonly part: Part; readonly metadata: TableMetadata; readonly attempt: number },
) {
  const parent = headOf(metadata)
  const { file, snapshotId, written } = part
  const append = { parent, attempt, mergesManifests: false, snapshotId, file }
  const { manifests, manifestList, snapshot } = await buildAppend(client, metadata, append)
  for (const { location, bytes } of [...manifests, manifestList]) {
    if (written.includes(location)) continue
    written.push(location)
    await client.store.putIfAbsent(location, bytes)
  }
  return snapshotRequest(metadata, snapshot, parent)
}

/** What the tables have is what happened: the client looks after a success, to clean up, and when the answer was lost. */
async function settle(
  client: SimulatedClient,
  { changed }: OpenTransaction,
  outcome: 'committed' | 'unknown',
): Promise<void> {
  const isKnown = outcome === 'committed'
  for (const { entry, snapshotId } of isKnown ? changed : [])
    Object.assign(entry, { outcome: 'landed', snapshotId })
  for (const { table, entry, snapshotId, written } of changed) {
    const { snapshots } = await loadTable(client, table, entry.tableUuid)
    const saved = snapshots.find((one) => one.snapshotId === snapshotId)
    if (saved === undefined) {
      // I9: whoever answers the next load, it has what was acknowledged.
      if (isKnown)
        throw new Error(`snapshot ${snapshotId} was acknowledged, and a later load lacks it`)
      entry.outcome = 'unknown'
      continue
    }
    Object.assign(entry, { outcome: 'landed', snapshotId })
    const named = new Set((await readList(client, saved)).map(({ manifestPath }) => manifestPath))
    named.add(saved.manifestList ?? '')
    for (const location of written) if (!named.has(location)) await client.store.delete(location)
  }
}
