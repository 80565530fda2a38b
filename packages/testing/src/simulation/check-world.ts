import type { ResolvedEntry } from '@timelake/iceberg/manifest/data-file'
import { readManifestEntries, readSnapshotManifests } from '@timelake/iceberg/io/snapshot-files'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { ObjectNotFoundError } from '@timelake/storage/object-store'
import type { ClientLedger, LedgerEntry } from './client-ledger.ts'
import type { SeenEvent } from './feed-follower.ts'
import type { SimulatedWorld } from './simulated-world.ts'

/** What must not happen, found after everybody has come to rest. Sentences; none when all is well. */
export async function checkWorld(
  world: SimulatedWorld,
  { ledger, seen }: { readonly ledger: ClientLedger; readonly seen: readonly SeenEvent[] },
): Promise<readonly string[]> {
  const problems: string[] = []
  const { tables, dropped } = world.database.rows
  const found = new FoundFiles()
  for (const row of [...tables.values(), ...dropped.values()]) {
    const report = (sentence: string): void => void problems.push(`${row.name}: ${sentence}`)
    const text = world.objects.objects.get(row.metadata_location)
    if (text === undefined) {
      report(`the current metadata file ${row.metadata_location} is missing`)
      continue
    }
    const metadata = decodeTableMetadata(text)
    const entries = ledger.entries.filter(({ tableUuid }) => tableUuid === row.table_uuid)
    const contents = await readContents(world, metadata, report)
    checkRows({ metadata, contents, entries, found, report })
    checkNumbers(metadata, report)
    checkTimes(metadata, report)
    checkRowIds({ metadata, contents, report })
    checkFeed(
      seen.filter(({ tableId }) => tableId === row.id),
      { lastNumber: row.event_number, isDropped: dropped.has(row.id) },
      report,
    )
  }
  problems.push(...halfTransactions(ledger, found), ...checkNames(world, ledger))
  return problems
}

/** The changes whose files are live, in tables that could be read. */
class FoundFiles {
  readonly isThere = new Map<LedgerEntry, boolean>()
}

/** A transaction is there in all of its tables or in none, whatever its client knows. */
function halfTransactions({ entries }: ClientLedger, { isThere }: FoundFiles): readonly string[] {
  const problems: string[] = []
  const ids = new Set(entries.flatMap(({ transaction }) => transaction ?? []))
  for (const id of ids) {
    // Those that failed did not ask for anything, or are looked for one by one.
    const parts = entries.filter((one) => one.transaction === id && one.outcome !== 'failed')
    const signs = new Set(parts.map((part) => isThere.get(part)).filter((one) => one !== undefined))
    if (signs.size < 2) continue
    const where = parts.map((part) => `${part.table} ${String(isThere.get(part))}`).join(', ')
    problems.push(`half of transaction ${id} of ${parts[0]?.client} is there: ${where}`)
  }
  return problems
}

/**
 * Tables of a name were made as often as was acknowledged, and none of either more often than was asked. A drop says that the
 * table is gone: where answers of the database are lost, two who asked at the same moment may both hear so.
 */
function checkNames(
  { database, seed }: SimulatedWorld,
  { names }: ClientLedger,
): readonly string[] {
  const { tables, dropped } = database.rows
  const problems: string[] = []
  const report = (sentence: string): void => void problems.push(sentence)
  const all = [...tables.values(), ...dropped.values()]
  for (const { change, outcome, tableUuid, table, client } of names) {
    if (change === 'drop' || outcome !== 'landed') continue
    const count = all.filter((row) => row.table_uuid === tableUuid).length
    if (count !== 1) report(`${table}: what ${client} made is there ${count} times`)
  }
  for (const name of new Set(names.map(({ table }) => table))) {
    const gone = [...dropped.values()].filter((row) => row.name === name)
    const made = all.filter((row) => row.name === name && row.id !== row.name)
    const asked = (change: string, outcome: string): number =>
      names.filter((one) => one.table === name && one.change === change && one.outcome === outcome)
        .length
    for (const [change, count] of [
      ['create', made.length],
      ['drop', gone.length],
    ] as const) {
      const [landed, unknown] = [asked(change, 'landed'), asked(change, 'unknown')]
      const least = change === 'drop' ? Math.min(1, landed) : landed
      if (count >= least && count <= landed + unknown) continue
      report(
        `${name}: ${count} times ${change}, ${landed} acknowledged and ${unknown} unknown (seed ${seed})`,
      )
    }
  }
  return problems
}

type Report = (sentence: string) => void

/** The entries of each snapshot that can be read, with what they inherit. */
type Contents = ReadonlyMap<bigint, readonly LiveEntry[]>

interface LiveEntry {
  readonly entry: ResolvedEntry
}

/** Reads every snapshot: no file that one of them refers to may be missing after the clean-up of the clients. */
async function readContents(
  { objects: { objects } }: SimulatedWorld,
  metadata: TableMetadata,
  report: Report,
): Promise<Contents> {
  const contents = new Map<bigint, readonly LiveEntry[]>()
  for (const snapshot of metadata.snapshots) {
    const needs = (location: string): void =>
      report(`snapshot ${snapshot.snapshotId} needs ${location}, which is missing`)
    try {
      const live = await readLive(objects, metadata, snapshot)
      contents.set(snapshot.snapshotId, live)
      const paths = live.map(({ entry }) => entry.dataFile.filePath)
      for (const path of paths.filter((one) => !objects.has(one))) needs(path)
    } catch (error) {
      if (!(error instanceof ObjectNotFoundError)) throw error
      needs(error.location)
    }
  }
  return contents
}

async function readLive(
  objects: ReadonlyMap<string, Uint8Array>,
  metadata: TableMetadata,
  snapshot: Snapshot,
): Promise<readonly LiveEntry[]> {
  const read = (location: string): Promise<Uint8Array> => {
    const bytes = objects.get(location)
    return bytes === undefined
      ? Promise.reject(new ObjectNotFoundError(location))
      : Promise.resolve(bytes)
  }
  const options = { allowedPrefixes: [metadata.location] }
  const list = await readSnapshotManifests(read, { metadata, snapshot }, options)
  if (list.outcome !== 'read') throw new Error(`${list.location}: ${list.outcome}`)
  const source = { metadata, manifests: list.manifests }
  const opened = await readManifestEntries(read, source, options)
  if (opened.outcome !== 'read') throw new Error(`${opened.location}: ${opened.outcome}`)
  return [...opened.entriesByManifest.values()]
    .flat()
    .filter(({ status }) => status !== 'deleted')
    .map((entry) => ({ entry }))
}

interface Checked {
  readonly metadata: TableMetadata
  readonly contents: Contents
  readonly report: Report
}

/** No acknowledged change is lost, nothing that failed is there, and no file is there twice. */
function checkRows({
  metadata,
  contents,
  entries,
  found,
  report,
}: Checked & { readonly entries: readonly LedgerEntry[]; readonly found: FoundFiles }): void {
  const { currentSnapshotId } = metadata
  const live = currentSnapshotId === undefined ? [] : contents.get(currentSnapshotId)
  // It could not be read, which was reported.
  if (live === undefined) return
  const counts = new Map<string, number>()
  for (const { entry } of live) {
    for (const path of originsOf(entry.dataFile.filePath, entries)) {
      counts.set(path, (counts.get(path) ?? 0) + 1)
    }
  }
  for (const entry of entries) {
    const { added, replaced, outcome, client, snapshotId } = entry
    const isAppend = replaced.length === 0
    for (const path of isAppend ? added : []) {
      const count = counts.get(path) ?? 0
      const name = `the append of ${path} by ${client}`
      found.isThere.set(entry, count > 0)
      if (count > 1) report(`${name} is there ${count} times`)
      if (count === 0 && outcome === 'landed') report(`${name} was acknowledged and is lost`)
      if (count > 0 && outcome === 'failed') report(`${name} was refused and is there`)
    }
    if (outcome !== 'landed') continue
    checkLogged(metadata, { entry, snapshotId }, report)
    checkAdded(contents, entry, report)
  }
}

/** The appends whose rows a live file holds. */
function originsOf(path: string, entries: readonly LedgerEntry[]): readonly string[] {
  const origin = entries.find(({ added }) => added.includes(path))
  if (origin === undefined || origin.replaced.length === 0) return [path]
  return origin.replaced.flatMap((input) => originsOf(input, entries))
}

/** One entry of the snapshot log for each acknowledged commit. */
function checkLogged(
  { snapshotLog, snapshots }: TableMetadata,
  { entry, snapshotId }: { readonly entry: LedgerEntry; readonly snapshotId: bigint | undefined },
  report: Report,
): void {
  const logged = snapshotLog.filter((one) => one.snapshotId === snapshotId).length
  const present = snapshots.filter((one) => one.snapshotId === snapshotId).length
  if (logged === 1 && present === 1) return
  report(
    `snapshot ${snapshotId} of ${entry.client} is in the log ${logged} times and in the list ${present} times`,
  )
}

/** Whoever reads what a snapshot added finds the files there, as its own. */
function checkAdded(contents: Contents, entry: LedgerEntry, report: Report): void {
  const { added, client, snapshotId } = entry
  const its = snapshotId === undefined ? undefined : contents.get(snapshotId)
  if (its === undefined) return
  for (const path of added) {
    const isThere = its.some(
      ({ entry: { status, snapshotId: by, dataFile } }) =>
        status === 'added' && by === snapshotId && dataFile.filePath === path,
    )
    if (!isThere) report(`snapshot ${snapshotId} of ${client} does not add ${path}`)
  }
}

function checkNumbers(
  { formatVersion, snapshots, lastSequenceNumber }: TableMetadata,
  report: Report,
): void {
  if (formatVersion === 1) return
  let last = 0n
  for (const { snapshotId, sequenceNumber } of snapshots) {
    if (sequenceNumber <= last)
      report(`snapshot ${snapshotId} has the number ${sequenceNumber} after ${last}`)
    last = sequenceNumber
  }
  if (last > lastSequenceNumber)
    report(`the last sequence number is ${lastSequenceNumber}, below ${last}`)
}

function checkTimes(
  { snapshotLog, metadataLog, lastUpdatedMs }: TableMetadata,
  report: Report,
): void {
  for (const [name, log] of Object.entries({ snapshotLog, metadataLog })) {
    const times = [...log.map(({ timestampMs }) => timestampMs), lastUpdatedMs]
    const isSorted = times.every((timeMs, index) => timeMs >= (times[index - 1] ?? 0))
    if (!isSorted) report(`the times of ${name} go backwards: ${times.join(', ')}`)
  }
}

/** Row ids of live files never overlap and lie below the next one. */
function checkRowIds({ metadata, contents, report }: Checked): void {
  const { currentSnapshotId, nextRowId } = metadata
  if (nextRowId === undefined || currentSnapshotId === undefined) return
  const ranges = (contents.get(currentSnapshotId) ?? []).map(({ entry: { dataFile } }) => ({
    path: dataFile.filePath,
    first: dataFile.firstRowId,
    end: (dataFile.firstRowId ?? 0n) + dataFile.recordCount,
  }))
  const sorted = ranges.sort((a, b) => Number((a.first ?? -1n) - (b.first ?? -1n)))
  sorted.forEach(({ path, first, end }, index) => {
    if (first === undefined) return report(`${path} has no row ids`)
    if (end > nextRowId) report(`${path} has row ids up to ${end}, beyond ${nextRowId}`)
    const before = sorted[index - 1]
    if (before !== undefined && before.end > first)
      report(`${path} shares row ids with ${before.path}`)
  })
  checkSnapshotRowIds(metadata.snapshots, report)
}

function checkSnapshotRowIds(snapshots: readonly Snapshot[], report: Report): void {
  let next = 0n
  for (const { snapshotId, firstRowId = 0n, addedRows = 0n } of snapshots) {
    if (firstRowId < next)
      report(`snapshot ${snapshotId} begins at row id ${firstRowId}, below ${next}`)
    next = firstRowId + addedRows
  }
}

/** Every event once, in order, without a gap, to the last; a drop is the last one. */
function checkFeed(
  seen: readonly SeenEvent[],
  { lastNumber, isDropped }: { readonly lastNumber: bigint; readonly isDropped: boolean },
  report: Report,
): void {
  const numbers = seen.map(({ eventNumber }) => eventNumber)
  const ends = seen.filter(({ kind }) => kind === 'table-dropped').length
  const isEnd = seen.at(-1)?.kind === 'table-dropped'
  if (ends !== (isDropped ? 1 : 0) || isEnd !== isDropped) {
    report(
      `the feed tells of ${ends} drops, and the table ${isDropped ? 'was' : 'was not'} dropped`,
    )
  }
  const isDense = numbers.every((number, index) => number === BigInt(index) + 1n)
  if (!isDense || BigInt(numbers.length) !== lastNumber) {
    report(`the feed gave the events ${numbers.join(', ')}, and the last one is ${lastNumber}`)
  }
}
