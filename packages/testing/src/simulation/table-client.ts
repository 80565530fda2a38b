import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { readManifestList } from '@timelake/iceberg/manifest/read-manifest-list'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { encodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import { encodeCommitTransactionRequest } from '@timelake/iceberg/rest/commit-transaction-json'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import { printJson } from '@timelake/iceberg/spec/json'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { ObjectStore } from '@timelake/storage/object-store'
import type { ClientLedger, LedgerEntry } from './client-ledger.ts'
import type { SeededRandom } from './seeded-random.ts'
import {
  ConnectionLostError,
  type ServerAnswer,
  type ServerRequest,
  type SimulatedServer,
} from './simulated-server.ts'

/** What a client of the world has to do with. */
export interface SimulatedClient {
  readonly name: string
  readonly server: SimulatedServer
  readonly store: ObjectStore
  readonly ledger: ClientLedger
  readonly random: SeededRandom
  /** A fresh UUID. */
  newUuid(): string
  /** By this client's own clock, which may be wrong. */
  nowMs(): number
  delay(ms: number): Promise<void>
}

/** A table as clients name it. */
export interface ClientTable {
  readonly name: string
  /** Of its routes, without a slash at the end. */
  readonly path: string
  /** Of the routes of Timelake's own protocol. */
  readonly lakePath: string
}

/** Questions in a row after which a client gives up: enough for keys that dead processes hold, one lease after the other. */
const QUESTIONS_MAX = 200
const FIRST_WAIT_MS = 100
export const TRANSACTION_PATH = '/v1/main/transactions/commit'
const WAIT_MS_MAX = 2_000

/** The name has no table now, or another one than before. What was asked of the table may have been done. */
export class TableGoneError extends Error {
  override readonly name = 'TableGoneError'
}

/**
 * Loads the table, again and again until that works. Throws TableGoneError when there is none, or not the one with this UUID.
 */
export async function loadTable(
  client: SimulatedClient,
  table: ClientTable,
  tableUuid?: string,
): Promise<TableMetadata> {
  const answer = await ask(
    client,
    { method: 'GET', path: table.path },
    ({ status }) => status === 200 || status === 404,
  )
  if (answer.status === 404) throw new TableGoneError(table.name)
  const { metadata } = decodeLoadTableResult(answer.body)
  if (tableUuid !== undefined && metadata.tableUuid !== tableUuid) {
    throw new TableGoneError(table.name)
  }
  return metadata
}

/** Runs changes of a table; where it goes away meanwhile, nobody knows any more what became of those that are pending. */
export async function unlessGone(
  entries: readonly LedgerEntry[],
  change: () => Promise<void>,
): Promise<void> {
  try {
    await change()
  } catch (error) {
    if (!(error instanceof TableGoneError)) throw error
    for (const entry of entries) if (entry.outcome === 'pending') entry.outcome = 'unknown'
  }
}

/** An answer to a request that may have been sent before. */
export interface LastAnswer extends ServerAnswer {
  /** Whether any earlier sending may have been applied: nobody took its answer. */
  readonly isRepeated: boolean
}

/** Sends a request until its answer is one that the caller takes. Only for requests that may be repeated. */
export async function ask(
  client: SimulatedClient,
  request: ServerRequest,
  isTaken: (answer: ServerAnswer) => boolean,
): Promise<LastAnswer> {
  let last: unknown
  for (let count = 0; count < QUESTIONS_MAX; count += 1) {
    const answer = await tryOnce(client, request)
    if (answer !== undefined && isTaken(answer)) return { ...answer, isRepeated: count > 0 }
    last = answer
    await client.delay(waitMs(count))
  }
  throw new Error(`${request.method} ${request.path} has no answer: ${JSON.stringify(last)}`)
}

/** The answer; undefined when it was lost. */
export async function tryOnce(
  client: SimulatedClient,
  request: ServerRequest,
): Promise<ServerAnswer | undefined> {
  try {
    return await client.server.call(request)
  } catch (error) {
    if (error instanceof ConnectionLostError) return undefined
    throw error
  }
}

export function waitMs(attempt: number): number {
  return Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** attempt)
}

/**
 * How a commit ended, as a client understands the answer. `conflict`: certainly not applied, and what it wrote may go.
 * `unknown`: nothing may go.
 */
export type CommitAnswer =
  | { readonly outcome: 'committed'; readonly metadata: TableMetadata }
  | { readonly outcome: 'conflict'; readonly message: string }
  | { readonly outcome: 'unknown' }

export interface CommitCall {
  readonly request: CommitRequest
  readonly headers?: Readonly<Record<string, string>>
  /** With a key the request is sent again until its outcome is known. */
  readonly idempotencyKey?: string
  /** Sends it as a transaction of one table. */
  readonly asTransaction?: boolean
}

/** Commits like the Java client does: 4xx is a certain failure, 5xx and silence are not. */
export async function commitOnce(
  client: SimulatedClient,
  table: ClientTable,
  { request, headers = {}, idempotencyKey: key, asTransaction = false }: CommitCall,
): Promise<CommitAnswer> {
  const named = { ...request, identifier: { namespace: ['ns'], name: table.name } }
  const body = asTransaction
    ? encodeCommitTransactionRequest([named])
    : encodeCommitRequest(request)
  const sent: ServerRequest = {
    method: 'POST',
    path: asTransaction ? TRANSACTION_PATH : table.path,
    headers: { ...headers, ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: printJson(body),
  }
  const answer =
    key === undefined ? await tryOnce(client, sent) : await ask(client, sent, isFinalForKey)
  if (answer === undefined || answer.status >= 500) return { outcome: 'unknown' }
  if (answer.status === 204) {
    return { outcome: 'committed', metadata: await loadTable(client, table, uuidIn(request)) }
  }
  if (answer.status !== 200) return { outcome: 'conflict', message: answer.body }
  return { outcome: 'committed', metadata: decodeLoadTableResult(answer.body).metadata }
}

function uuidIn({ requirements }: CommitRequest): string | undefined {
  const found = requirements.find(({ type }) => type === 'assert-table-uuid')
  return found?.type === 'assert-table-uuid' ? found.uuid : undefined
}

/** 409 also says that the first call with the key is still running. */
export function isFinalForKey({ status, body }: ServerAnswer): boolean {
  return status < 500 && !(status === 409 && body.includes('idempotency key'))
}

/** Whether the table has the snapshot, asked until there is an answer. */
export async function hasSnapshot(
  client: SimulatedClient,
  table: ClientTable,
  { snapshotId, tableUuid }: { readonly snapshotId: bigint; readonly tableUuid: string },
): Promise<Snapshot | undefined> {
  const { snapshots } = await loadTable(client, table, tableUuid)
  return snapshots.find((one) => one.snapshotId === snapshotId)
}

/** The manifests of a snapshot, read by the client itself. */
export async function readList(
  { store }: Pick<SimulatedClient, 'store'>,
  snapshot: Snapshot | undefined,
): Promise<readonly ManifestFile[]> {
  if (snapshot?.manifestList === undefined) return []
  return readManifestList(await store.get(snapshot.manifestList), snapshot.manifestList)
}

/** The head of a branch. */
export function headOf(metadata: TableMetadata, branch = 'main'): Snapshot | undefined {
  const id = metadata.refs[branch]?.snapshotId
  return metadata.snapshots.find(({ snapshotId }) => snapshotId === id)
}

/** The updates and requirements of a new snapshot on its parent. */
export function snapshotRequest(
  metadata: TableMetadata,
  snapshot: Snapshot,
  parent: Snapshot | undefined,
): CommitRequest {
  const ref = { snapshotId: snapshot.snapshotId, type: 'branch' as const }
  return {
    requirements: unchangedSince(metadata, parent),
    updates: [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref },
    ],
  }
}

/** That the table is still this one, and its main branch at this head. */
export function unchangedSince(
  { tableUuid }: TableMetadata,
  head: Snapshot | undefined,
): CommitRequest['requirements'] {
  const at = head === undefined ? {} : { snapshotId: head.snapshotId }
  return [
    { type: 'assert-table-uuid', uuid: tableUuid },
    { type: 'assert-ref-snapshot-id', ref: 'main', ...at },
  ]
}
