import { randomUUID } from 'node:crypto'
import {
  appendByIntent,
  appendRebased,
  appendStrictly,
  CONFLICT,
  LANDED,
  type AppendOutcome,
  type AppendTarget,
} from './append-lanes.ts'
import { CatalogClient } from './catalog-client.ts'
import type { ClientFiles } from './client-files.ts'
import {
  createHotTable,
  liveFiles,
  openAppendWriter,
  readHead,
  type HotTableHead,
} from './hot-table.ts'
import { percentile } from './measure.ts'

/**
 * How the writers of a cell append. `strict`: load, write, commit; after a 409 again, as Java does by default.
 * `strict-once`: the same without retries. `rebase`: by table property, each writer on what it last saw, without retries.
 * `intents`: the file alone, through the route for appends.
 */
export type Lane = (typeof LANES)[number]
export const LANES = ['strict', 'strict-once', 'rebase', 'intents'] as const

export interface CellOrder {
  readonly lane: Lane
  readonly writerCount: number
  readonly appendsPerWriter: number
  /** Between reading the table and committing, half as much to one and a half times as much; strict lanes only. */
  readonly thinkMs: number
  /** No writer begins another append after this. */
  readonly durationMsMax: number
}

/** The processes of one catalog, to which the writers are dealt in turn, each with a client and so a connection of its own. */
export interface Contenders {
  readonly uris: readonly string[]
  readonly warehouse: string | undefined
  readonly files: ClientFiles
  readonly namespace: string
}

export interface ContentionCell {
  readonly triedCount: number
  readonly landedCount: number
  readonly lostCount: number
  /** Answers that are neither success nor a lost race, by status. */
  readonly otherAnswers: Readonly<Record<string, number>>
  readonly tookMs: number
  /** What the writers themselves cost, all of them in this process. */
  readonly writersCpuMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Files that the catalog left in the table's metadata folder, for all appends. */
  readonly metadataFileCount: number
  readonly catalogFileCount: number
  /** What is wrong with the table afterwards; empty when every landed append is live once and nothing else is. */
  readonly faults: readonly string[]
}

const RETRY_COUNT = 4

interface Tally {
  triedCount: number
  readonly landedPaths: string[]
  readonly timesMs: number[]
  lostCount: number
  readonly otherAnswers: Record<string, number>
}

interface Stage extends AppendTarget {
  readonly first: HotTableHead
  readonly order: CellOrder
}

/**
 * Runs one cell on a new table of the namespace, which exists, and looks at the table afterwards. Throws when the table
 * cannot be made or read.
 */
export async function runContentionCell(
  contenders: Contenders,
  order: CellOrder,
): Promise<ContentionCell> {
  const clients = await connectWriters(contenders, order.writerCount)
  try {
    const [client] = clients
    if (client === undefined) throw new Error('no writer')
    const { table, head: first } = await createHotTable(client, {
      namespace: contenders.namespace,
      name: `hot_${order.lane.replace('-', '_')}_${order.writerCount}_${randomUUID().slice(0, 8)}`,
      properties: order.lane === 'rebase' ? { 'commit.rebase-appends': 'true' } : {},
    })
    const appends = openAppendWriter(table, contenders.files)
    return await race({ table, first, appends, order }, clients, contenders.files)
  } finally {
    for (const client of clients) client.close()
  }
}

function connectWriters({ uris, warehouse }: Contenders, count: number): Promise<CatalogClient[]> {
  const uriOf = (index: number) => uris[index % uris.length] ?? ''
  const writers = Array.from({ length: count }, (_, index) => index)
  return Promise.all(writers.map((index) => CatalogClient.connect(uriOf(index), warehouse)))
}

async function race(
  stage: Stage,
  clients: readonly CatalogClient[],
  files: ClientFiles,
): Promise<ContentionCell> {
  const tally: Tally = {
    triedCount: 0,
    landedPaths: [],
    timesMs: [],
    lostCount: 0,
    otherAnswers: {},
  }
  const cpuBefore = process.cpuUsage()
  const startedMs = performance.now()
  await Promise.all(clients.map((client) => runWriter(stage, tally, { client, startedMs })))
  const tookMs = performance.now() - startedMs
  const cpu = process.cpuUsage(cpuBefore)
  const outcome = await examine(stage, { client: clients[0], files, tally })
  const { timesMs, landedPaths, triedCount, lostCount, otherAnswers } = tally
  timesMs.sort((left, right) => left - right)
  return {
    triedCount,
    landedCount: landedPaths.length,
    lostCount,
    otherAnswers,
    tookMs,
    writersCpuMs: (cpu.user + cpu.system) / 1000,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
    ...outcome,
  }
}

async function runWriter(
  stage: Stage,
  tally: Tally,
  { client, startedMs }: { readonly client: CatalogClient; readonly startedMs: number },
): Promise<void> {
  const { order } = stage
  let base = stage.first
  for (let turn = 0; turn < order.appendsPerWriter; turn++) {
    if (performance.now() - startedMs > order.durationMsMax) return
    tally.triedCount++
    const beganMs = performance.now()
    const outcome = await append(stage, client, base)
    if (outcome.status === LANDED) {
      tally.landedPaths.push(outcome.filePath)
      tally.timesMs.push(performance.now() - beganMs)
      base = outcome.head ?? base
    } else if (outcome.status === CONFLICT) tally.lostCount++
    else tally.otherAnswers[outcome.status] = (tally.otherAnswers[outcome.status] ?? 0) + 1
  }
}

function append(stage: Stage, client: CatalogClient, base: HotTableHead): Promise<AppendOutcome> {
  const { lane, thinkMs } = stage.order
  switch (lane) {
    case 'strict':
      return appendStrictly(stage, client, { retryCount: RETRY_COUNT, thinkMs })
    case 'strict-once':
      return appendStrictly(stage, client, { retryCount: 0, thinkMs })
    case 'rebase':
      return appendRebased(stage, client, base)
    case 'intents':
      return appendByIntent(stage, client)
  }
}

async function examine(
  { table, appends }: Stage,
  parts: {
    readonly client: CatalogClient | undefined
    readonly files: ClientFiles
    readonly tally: Tally
  },
): Promise<Pick<ContentionCell, 'metadataFileCount' | 'catalogFileCount' | 'faults'>> {
  const { client, files, tally } = parts
  if (client === undefined) throw new Error('no writer')
  const answer = await client.call('GET', client.tablePath(table.namespace, table.name))
  const { paths } = await liveFiles(files, readHead(answer.body.toString('utf8')))
  const stored = await files.list(`${table.location}/metadata`)
  return {
    metadataFileCount: stored.filter((location) => location.includes('.metadata.json')).length,
    catalogFileCount: stored.length - appends.writtenCount,
    faults: compareFiles(tally.landedPaths, paths),
  }
}

/** Sentences about appends that are acknowledged and not live, live and not acknowledged, or live more than once. */
export function compareFiles(landed: readonly string[], live: readonly string[]): string[] {
  const [wanted, found] = [new Set(landed), new Set(live)]
  const lost = [...wanted].filter((path) => !found.has(path))
  const strange = [...found].filter((path) => !wanted.has(path))
  const doubledCount = live.length - found.size
  return [
    ...(lost.length === 0 ? [] : [`${lost.length} acknowledged and lost, such as ${lost[0]}`]),
    ...(strange.length === 0 ? [] : [`${strange.length} live, not acknowledged: ${strange[0]}`]),
    ...(doubledCount === 0 ? [] : [`${doubledCount} live more than once`]),
  ]
}
