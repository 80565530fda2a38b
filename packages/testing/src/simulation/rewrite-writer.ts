import { readLiveFiles } from '@timelake/iceberg/io/snapshot-files'
import type { NewSnapshotFiles } from '@timelake/iceberg/snapshot/new-snapshot'
import { rewriteFiles } from '@timelake/iceberg/snapshot/rewrite-files'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import { dataFile } from './append-writer.ts'
import type { LedgerEntry } from './client-ledger.ts'
import {
  type ClientTable,
  commitOnce,
  hasSnapshot,
  headOf,
  loadTable,
  readList,
  type SimulatedClient,
  snapshotRequest,
  unlessGone,
  waitMs,
} from './table-client.ts'

export interface RewriteStyle {
  readonly attemptsMax: number
  readonly asksForRebase: boolean
}

const INPUTS_MAX = 3

/**
 * Replaces some live files by one with the same rows, like a compaction: planned once, committed on the newest head as long
 * as the inputs are live there. Cleans up after itself like an append.
 */
export async function rewriteSomeFiles(
  client: SimulatedClient,
  table: ClientTable,
  style: RewriteStyle,
): Promise<void> {
  const metadata = await loadTable(client, table)
  const live = await liveOf(client, metadata)
  if (live === undefined || live.dataFiles.length < 2) return
  const start = client.random.below(live.dataFiles.length - 1)
  const inputs = live.dataFiles.slice(start, start + INPUTS_MAX).map(({ entry }) => entry.dataFile)
  const rows = inputs.reduce((sum, { recordCount }) => sum + recordCount, 0n)
  const output = dataFile(`${metadata.location}/data/${client.newUuid()}.parquet`, rows)
  await client.store.putIfAbsent(output.filePath, new Uint8Array(1))
  const inputPaths = inputs.map(({ filePath }) => filePath)
  const entry = client.ledger.open({
    client: client.name,
    table: table.name,
    tableUuid: metadata.tableUuid,
    added: [output.filePath],
    replaced: inputPaths,
  })
  const written: string[] = []
  const rewrite = { client, table, style, entry, inputPaths, output, written }
  await unlessGone([entry], () => tryRewrite(rewrite))
}

async function tryRewrite(rewrite: OpenRewrite): Promise<void> {
  const { client, style, entry, written, output } = rewrite
  for (let attempt = 1; attempt <= style.attemptsMax; attempt += 1) {
    const outcome = await commitRewrite(rewrite, attempt)
    if (outcome === 'ended') return
    if (outcome === 'pointless') break
    await client.delay(waitMs(attempt))
  }
  entry.outcome = 'failed'
  for (const location of [...written, output.filePath]) await client.store.delete(location)
}

interface OpenRewrite {
  readonly client: SimulatedClient
  readonly table: ClientTable
  readonly style: RewriteStyle
  readonly entry: LedgerEntry
  readonly inputPaths: readonly string[]
  readonly output: ReturnType<typeof dataFile>
  /** Manifests and lists of all attempts. */
  readonly written: string[]
}

async function commitRewrite(
  rewrite: OpenRewrite,
  attempt: number,
): Promise<'ended' | 'conflict' | 'pointless'> {
  const { client, table, style, entry } = rewrite
  const { tableUuid } = entry
  const metadata = await loadTable(client, table, tableUuid)
  const parent = headOf(metadata)
  const live = await liveOf(client, metadata)
  if (parent === undefined || live === undefined) return 'pointless'
  const snapshotId = client.random.long()
  const made = rewriteFiles({
    metadata,
    parent,
    parentManifests: live.manifests,
    entriesByManifest: live.entriesByManifest,
    inputPaths: rewrite.inputPaths,
    outputs: [rewrite.output],
    specId: metadata.defaultSpecId,
    identity: {
      snapshotId,
      timestampMs: client.nowMs(),
      commitUuid: `${client.name}-${snapshotId}`,
      attempt,
      fileLocation: (name) => `${metadata.location}/metadata/${name}`,
    },
  })
  if (made.outcome === 'refused') return 'pointless'
  await writeAll(rewrite, made)
  const answer = await commitOnce(client, table, {
    request: snapshotRequest(metadata, made.snapshot, parent),
    headers: style.asksForRebase ? { 'x-timelake-rebase-appends': 'true' } : {},
  })
  if (answer.outcome === 'conflict') return 'conflict'
  const saved =
    answer.outcome === 'committed'
      ? answer.metadata.snapshots.find((one) => one.snapshotId === snapshotId)
      : await hasSnapshot(client, table, { snapshotId, tableUuid })
  if (answer.outcome === 'unknown' && saved === undefined) entry.outcome = 'unknown'
  else await succeed(rewrite, { snapshotId, saved })
  return 'ended'
}

async function writeAll(
  { client, written }: OpenRewrite,
  { manifests, manifestList }: NewSnapshotFiles,
): Promise<void> {
  for (const { location, bytes } of [...manifests, manifestList]) {
    written.push(location)
    await client.store.putIfAbsent(location, bytes)
  }
}

async function succeed(
  { client, entry, written }: OpenRewrite,
  { snapshotId, saved }: { readonly snapshotId: bigint; readonly saved: Snapshot | undefined },
): Promise<void> {
  entry.outcome = 'landed'
  entry.snapshotId = snapshotId
  if (saved === undefined) return
  const named = new Set((await readList(client, saved)).map(({ manifestPath }) => manifestPath))
  named.add(saved.manifestList ?? '')
  for (const location of written) if (!named.has(location)) await client.store.delete(location)
}

async function liveOf({ store }: SimulatedClient, metadata: Awaited<ReturnType<typeof loadTable>>) {
  const snapshot = headOf(metadata)
  if (snapshot === undefined) return undefined
  const read = (location: string): Promise<Uint8Array> => store.get(location)
  const live = await readLiveFiles(
    read,
    { metadata, snapshot },
    { allowedPrefixes: [metadata.location] },
  )
  if (live.outcome !== 'read') throw new Error(`cannot read ${live.location}: ${live.outcome}`)
  return live
}
