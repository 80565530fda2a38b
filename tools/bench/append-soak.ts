import { setTimeout as pause } from 'node:timers/promises'
import { appendByIntent, appendRebased, LANDED, type AppendTarget } from './append-lanes.ts'
import { CatalogClient } from './catalog-client.ts'
import { compareFiles } from './contention-cell.ts'
import type { OpenPlace } from './contention-places.ts'
import {
  createHotTable,
  liveFiles,
  openAppendWriter,
  readHead,
  type HotTableHead,
} from './hot-table.ts'
import { percentile } from './measure.ts'

const WAREHOUSE = 'main'
const NAMESPACE = 'bench_soak'
const WRITER_COUNT = 16

/** What keeps a table small that is appended to for ever. */
const PROPERTIES = {
  'commit.rebase-appends': 'true',
  'timelake.history.trim.enabled': 'true',
  'timelake.history.max-snapshots': '100',
  'write.metadata.delete-after-commit.enabled': 'true',
  'write.metadata.previous-versions-max': '20',
}

export interface SoakPlan {
  readonly ratePerSecond: number
  readonly durationMs: number
  readonly windowMs: number
}

/** What one stretch of the soak was like; times from the moment at which an append was due. */
export interface SoakWindow {
  readonly landedCount: number
  readonly failedCount: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Size of a loaded table at the end. */
  readonly metadataBytes: number
}

export interface SoakReport {
  readonly windows: readonly SoakWindow[]
  readonly metadataFileCount: number
  readonly manifestCount: number
  /** What is wrong with the table afterwards; empty when every landed append is live once and nothing else is. */
  readonly faults: readonly string[]
}

interface Soak {
  readonly target: AppendTarget
  readonly idle: CatalogClient[]
  readonly reader: CatalogClient
  readonly landedPaths: string[]
  readonly timesMs: number[]
  /** The newest that any writer has seen. */
  head: HotTableHead
  failedCount: number
}

/**
 * Appends at a steady rate for as long as the plan says, every second append by intent, the others rebased, on a table with bounded
 * history. An append that waits for a writer is late, and its time says so.
 */
export async function runAppendSoak(place: OpenPlace, plan: SoakPlan): Promise<SoakReport> {
  const [uri = ''] = place.uris
  const idle: CatalogClient[] = []
  for (let index = 0; index < WRITER_COUNT; index++) {
    idle.push(await CatalogClient.connect(uri, WAREHOUSE))
  }
  const reader = await CatalogClient.connect(uri, WAREHOUSE)
  await reader.createNamespace(NAMESPACE)
  const made = { namespace: NAMESPACE, name: 'hot', properties: PROPERTIES }
  const { table, head: first } = await createHotTable(reader, made)
  const target = { table, appends: openAppendWriter(table, place.files) }
  const tally = { landedPaths: [], timesMs: [], failedCount: 0 }
  const soak: Soak = { target, idle, reader, head: first, ...tally }
  const windows = await appendSteadily(soak, plan)
  const answer = await reader.call('GET', reader.tablePath(NAMESPACE, 'hot'))
  const head = readHead(answer.body.toString('utf8'))
  const { manifestCount, paths } = await liveFiles(place.files, head)
  const stored = await place.files.list(`${table.location}/metadata`)
  for (const client of [...idle, reader]) client.close()
  return {
    windows,
    metadataFileCount: stored.filter((location) => location.includes('.metadata.json')).length,
    manifestCount,
    faults: compareFiles(soak.landedPaths, paths),
  }
}

async function appendSteadily(soak: Soak, plan: SoakPlan): Promise<SoakWindow[]> {
  const windows: SoakWindow[] = []
  const running = new Set<Promise<void>>()
  const startedMs = performance.now()
  for (let index = 0; (index * 1000) / plan.ratePerSecond < plan.durationMs; index++) {
    const dueMs = (index * 1000) / plan.ratePerSecond
    await pause(Math.max(0, startedMs + dueMs - performance.now()))
    if (dueMs >= (windows.length + 1) * plan.windowMs) windows.push(await closeWindow(soak))
    while (soak.idle.length === 0) await Promise.race(running)
    const client = soak.idle.pop()
    if (client === undefined) throw new Error('no writer is idle')
    const isIntent = index % 2 === 0
    const work = appendOnce(soak, client, { isIntent, dueMs: startedMs + dueMs }).finally(() => {
      soak.idle.push(client)
      running.delete(work)
    })
    running.add(work)
  }
  await Promise.all(running)
  windows.push(await closeWindow(soak))
  return windows
}

async function appendOnce(
  soak: Soak,
  client: CatalogClient,
  { isIntent, dueMs }: { readonly isIntent: boolean; readonly dueMs: number },
): Promise<void> {
  const { target } = soak
  const outcome = isIntent
    ? await appendByIntent(target, client)
    : await appendRebased(target, client, soak.head)
  if (outcome.status !== LANDED) {
    soak.failedCount++
    return
  }
  soak.timesMs.push(performance.now() - dueMs)
  soak.landedPaths.push(outcome.filePath)
  const { head } = outcome
  if (head !== undefined && head.sequenceNumber > soak.head.sequenceNumber) soak.head = head
}

async function closeWindow(soak: Soak): Promise<SoakWindow> {
  const { reader, target } = soak
  const path = reader.tablePath(target.table.namespace, target.table.name)
  const { bodyBytes } = await reader.call('GET', path)
  const timesMs = soak.timesMs.splice(0).sort((left, right) => left - right)
  const { failedCount } = soak
  soak.failedCount = 0
  return {
    landedCount: timesMs.length,
    failedCount,
    p50Ms: percentile(timesMs, 0.5),
    p99Ms: percentile(timesMs, 0.99),
    metadataBytes: bodyBytes,
  }
}
