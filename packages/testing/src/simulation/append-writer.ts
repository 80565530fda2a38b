import type { DataFile, ManifestEntry } from '@timelake/iceberg/manifest/data-file'
import { partitionType } from '@timelake/iceberg/manifest/partition-type'
import { readManifestEntries } from '@timelake/iceberg/io/snapshot-files'
import { appendFiles } from '@timelake/iceberg/snapshot/append-files'
import {
  finishSnapshot,
  type NewSnapshotFiles,
  schemasNewestFirst,
  type SnapshotIdentity,
  writeManifests,
} from '@timelake/iceberg/snapshot/new-snapshot'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
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

export interface AppendStyle {
  /** Commits of one append, each on the newest head. */
  readonly attemptsMax: number
  /** Asks the server to attach the append to whatever the head is by then. */
  readonly asksForRebase: boolean
  /** Sends an idempotency key with each commit, and repeats it until the outcome is known. */
  readonly usesKeys: boolean
  /** Puts the live files of all manifests and its own into one manifest, as Java does above a hundred manifests. */
  readonly mergesManifests: boolean
  readonly asTransaction: boolean
}

/** The rows that an append of this world has. */
const ROWS_PER_FILE = 3n

/**
 * Appends one file like the Java client does: the manifest is written once, a manifest list for each attempt; after a
 * certain failure everything goes, after a success whatever the landed snapshot does not name, after an unknown outcome
 * nothing. Notes what it knows in the ledger.
 */
export async function appendOneFile(
  client: SimulatedClient,
  table: ClientTable,
  style: AppendStyle,
): Promise<void> {
  const { location, tableUuid } = await loadTable(client, table)
  const file = dataFile(`${location}/data/${client.newUuid()}.parquet`, ROWS_PER_FILE)
  await client.store.putIfAbsent(file.filePath, new Uint8Array(1))
  const entry = client.ledger.open({
    client: client.name,
    table: table.name,
    tableUuid,
    added: [file.filePath],
  })
  const append = new Append(client, { table, style, file, entry })
  await unlessGone([entry], () => append.run())
}

/** A data file of this world: nobody reads its rows, so there are none. */
export function dataFile(filePath: string, recordCount: bigint): DataFile {
  return {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount,
    fileSizeBytes: 1n,
  }
}

interface AppendPlan {
  readonly table: ClientTable
  readonly style: AppendStyle
  readonly file: DataFile
  readonly entry: LedgerEntry
}

class Append {
  readonly #client: SimulatedClient
  readonly #plan: AppendPlan
  readonly #snapshotId: bigint
  /** Manifests and lists that this append has written. */
  readonly #written: string[] = []

  constructor(client: SimulatedClient, plan: AppendPlan) {
    this.#client = client
    this.#plan = plan
    this.#snapshotId = client.random.long()
  }

  async run(): Promise<void> {
    const { style } = this.#plan
    for (let attempt = 1; attempt <= style.attemptsMax; attempt += 1) {
      const outcome = await this.#attempt(attempt)
      if (outcome !== 'conflict') return
      await this.#client.delay(waitMs(attempt))
    }
    await this.#fail()
  }

  async #attempt(attempt: number): Promise<'ended' | 'conflict'> {
    const client = this.#client
    const { table, style, entry } = this.#plan
    const { tableUuid } = entry
    const metadata = await loadTable(client, table, tableUuid)
    const parent = headOf(metadata)
    const files = await this.#build(metadata, { parent, attempt })
    await this.#write(files)
    const answer = await commitOnce(client, table, {
      request: snapshotRequest(metadata, files.snapshot, parent),
      headers: style.asksForRebase ? { 'x-timelake-rebase-appends': 'true' } : {},
      asTransaction: style.asTransaction,
      ...(style.usesKeys ? { idempotencyKey: client.newUuid() } : {}),
    })
    switch (answer.outcome) {
      case 'committed':
        await this.#succeed(answer.metadata.snapshots.find(this.#isMine))
        await this.#checkVisible()
        return 'ended'
      case 'conflict':
        return 'conflict'
      case 'unknown': {
        const landed = await hasSnapshot(client, table, {
          snapshotId: this.#snapshotId,
          tableUuid,
        })
        if (landed === undefined) entry.outcome = 'unknown'
        else await this.#succeed(landed)
        return 'ended'
      }
    }
  }

  /** I9: whoever answers the next load, it has what was acknowledged. */
  async #checkVisible(): Promise<void> {
    const { table, entry } = this.#plan
    const { snapshots } = await loadTable(this.#client, table, entry.tableUuid)
    if (snapshots.some(this.#isMine)) return
    throw new Error(`snapshot ${this.#snapshotId} was acknowledged, and a later load lacks it`)
  }

  readonly #isMine = ({ snapshotId }: Snapshot): boolean => snapshotId === this.#snapshotId

  #build(
    metadata: TableMetadata,
    on: { readonly parent: Snapshot | undefined; readonly attempt: number },
  ): Promise<NewSnapshotFiles> {
    const { style, file } = this.#plan
    const snapshotId = this.#snapshotId
    return buildAppend(this.#client, metadata, { ...on, ...style, snapshotId, file })
  }

  async #write({ manifests, manifestList }: NewSnapshotFiles): Promise<void> {
    for (const { location, bytes } of [...manifests, manifestList]) {
      if (this.#written.includes(location)) continue
      this.#written.push(location)
      await this.#client.store.putIfAbsent(location, bytes)
    }
  }

  async #succeed(saved: Snapshot | undefined): Promise<void> {
    const { entry } = this.#plan
    entry.outcome = 'landed'
    entry.snapshotId = this.#snapshotId
    // @NOTE Java logs and cleans nothing up when it does not find its own snapshot.
    if (saved === undefined) return
    const named = new Set(
      (await readList(this.#client, saved)).map(({ manifestPath }) => manifestPath),
    )
    named.add(saved.manifestList ?? '')
    for (const location of this.#written) {
      if (!named.has(location)) await this.#client.store.delete(location)
    }
  }

  async #fail(): Promise<void> {
    const { entry, file } = this.#plan
    entry.outcome = 'failed'
    for (const location of [...this.#written, file.filePath]) {
      await this.#client.store.delete(location)
    }
  }
}

/** An append of one file to a head. */
export interface NewAppend {
  readonly parent: Snapshot | undefined
  readonly attempt: number
  readonly mergesManifests: boolean
  readonly snapshotId: bigint
  readonly file: DataFile
}

/** The snapshot that appends a file to a head, with its list and the manifest, which is the same for every attempt unless it is merged. */
export async function buildAppend(
  client: SimulatedClient,
  metadata: TableMetadata,
  { parent, attempt, mergesManifests, snapshotId, file }: NewAppend,
): Promise<NewSnapshotFiles> {
  const parentManifests = await readList(client, parent)
  const identity: SnapshotIdentity = {
    snapshotId,
    timestampMs: client.nowMs(),
    commitUuid: `${client.name}-${snapshotId}${mergesManifests ? `-${attempt}` : ''}`,
    attempt,
    fileLocation: (name) => `${metadata.location}/metadata/${name}`,
  }
  const base = {
    metadata,
    identity,
    parentManifests,
    ...(parent === undefined ? {} : { parent }),
  }
  if (!mergesManifests || parentManifests.length === 0) {
    return appendFiles({ ...base, files: [file] })
  }
  return mergedAppend(client, { ...base, parent, file })
}

interface MergedAppend {
  readonly metadata: TableMetadata
  readonly identity: SnapshotIdentity
  readonly parent: Snapshot | undefined
  readonly parentManifests: Parameters<typeof appendFiles>[0]['parentManifests']
  readonly file: DataFile
}

/** One manifest with what is live and what is new. */
async function mergedAppend(
  { store }: SimulatedClient,
  { metadata, identity, parent, parentManifests, file }: MergedAppend,
): Promise<NewSnapshotFiles> {
  const read = (location: string): Promise<Uint8Array> => store.get(location)
  const source = { metadata, manifests: parentManifests }
  const opened = await readManifestEntries(read, source, { allowedPrefixes: [metadata.location] })
  if (opened.outcome !== 'read')
    throw new Error(`cannot read ${opened.location}: ${opened.outcome}`)
  const live = [...opened.entriesByManifest.values()]
    .flat()
    .filter(({ status }) => status !== 'deleted')
  const entries: ManifestEntry[] = [
    { status: 'added', snapshotId: identity.snapshotId, dataFile: file },
    ...live.map((entry) => ({ ...entry, status: 'existing' as const })),
  ]
  const spec = metadata.partitionSpecs[0]
  if (spec === undefined) throw new Error('a table of this world has a partition spec')
  const partition = partitionType(spec, schemasNewestFirst(metadata))
  const plan = { metadata, identity, spec, partition, content: 'data' } as const
  return finishSnapshot({
    metadata,
    parent,
    identity,
    newManifests: writeManifests(plan, entries, 0),
    keptManifests: [],
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': String(file.recordCount),
    },
  })
}
