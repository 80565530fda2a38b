/**
 * How long the catalog takes to plan a scan, over HTTP and all plan tasks followed: an hour of one series, and the whole
 * table; with manifests in memory and, by a cache that holds none of them long, without; and the most memory that it had until then. Beside them, where they are found, the clients that
 * plan for themselves: PyIceberg and the Java library, the same table, the same files of the same disk.
 *
 *   npx tsx tools/bench/plan.ts [--files 10000,100000] [--seconds 4] [--python PYTHON] [--java COMMAND]
 *
 * PYTHON is an interpreter with PyIceberg. COMMAND is run with the catalog's URI, the table and the three texts of the
 * selective filter, and prints what plan_times.py prints: see tools/interop/rck/plan-times.sh. Prints Markdown tables.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { CatalogClient } from './catalog-client.ts'
import { ONE_HOUR_ONE_SERIES, registerManyFiles } from './many-files.ts'
import { measureCell, printCells, printTable, type LabelledCell } from './measure.ts'
import { startOwnServer, type ServerUnderTest } from './server-process.ts'

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: '10000,100000' },
    seconds: { type: 'string', default: '4' },
    python: { type: 'string' },
    java: { type: 'string' },
  },
})
const durationMs = Number(options.seconds) * 1000
const COUNT_MAX = 1_000
const CLIENT_TIMEOUT_MS = 600_000
/** Fewer files fit than the tables have that are scanned in turn. */
const NO_CACHE = { TIMELAKE_PLAN_CACHE_BYTES_MAX: '1MiB' }
const UNCACHED_FILES = 40_000
/** Every plan is answered at once. */
const SETTINGS = { TIMELAKE_PLAN_ASYNC_FILES: '1000000000' }
const NAMESPACE = 'bench_plan'

const { hostname, from, to } = ONE_HOUR_ONE_SERIES
const compare = (type: string, term: string, value: string) => ({ type, term, value })
const SELECTIVE = {
  type: 'and',
  left: {
    type: 'and',
    left: compare('gt-eq', 'ts', from),
    right: compare('lt', 'ts', to),
  },
  right: compare('eq', 'hostname', hostname),
}

for (const fileCount of options.files.split(',').map(Number)) {
  const cells = [
    ...(await onServer(NO_CACHE, fileCount, planCold)),
    ...(await onServer({}, fileCount, planWarm)),
  ]
  process.stdout.write(`${printCells(`${fileCount} files`, cells)}\n\n`)
}

/** Runs the cells against a server of its own with the table in it. */
async function onServer(
  settings: Readonly<Record<string, string>>,
  fileCount: number,
  run: (scene: Scene) => Promise<LabelledCell[]>,
): Promise<LabelledCell[]> {
  const server = await startOwnServer({ ...SETTINGS, ...settings })
  try {
    const client = await CatalogClient.connect(server.uri, 'main')
    await client.createNamespace(NAMESPACE)
    const tableCount = settings === NO_CACHE ? Math.ceil(UNCACHED_FILES / fileCount) : 1
    const paths: string[] = []
    for (let index = 0; index < tableCount; index += 1) {
      const table = index === 0 ? 't' : `t${index}`
      paths.push(await registerManyFiles(client, { namespace: NAMESPACE, table, fileCount }))
    }
    const cells = await run({ server, client, paths })
    client.close()
    return cells
  } finally {
    await server.stop()
  }
}

interface Scene {
  readonly server: ServerUnderTest
  readonly client: CatalogClient
  /** Of tables that are alike. */
  readonly paths: readonly string[]
}

async function planCold(scene: Scene): Promise<LabelledCell[]> {
  return [
    await planCell(scene, 'cold, 1 h × 1 series', { filter: SELECTIVE, concurrency: 1 }),
    // Each page would read its manifest again.
    await planCell(scene, 'cold, all, no tasks', { filter: true, concurrency: 1, isFirst: true }),
  ]
}

async function planWarm(scene: Scene): Promise<LabelledCell[]> {
  const cells = [
    await planCell(scene, 'warm, 1 h × 1 series', { filter: SELECTIVE, concurrency: 1 }),
    await planCell(scene, 'warm, 1 h × 1 series, c8', { filter: SELECTIVE, concurrency: 8 }),
    await planCell(scene, 'warm, all', { filter: true, concurrency: 1 }),
    await planCell(scene, 'warm, all, c8', { filter: true, concurrency: 8 }),
  ]
  printClients(scene)
  return cells
}

interface PlanCell {
  readonly filter: object | boolean
  readonly concurrency: number
  /** Ask for the plan and for none of its tasks. */
  readonly isFirst?: boolean
}

async function planCell(scene: Scene, label: string, plan: PlanCell): Promise<LabelledCell> {
  let turn = 0
  const planNext = (): Promise<number> => {
    const path = scene.paths[turn % scene.paths.length] ?? ''
    turn += 1
    return planWhole(scene.client, path, plan)
  }
  let fileCount = await planNext()
  const cell = await measureCell(
    {
      concurrency: plan.concurrency,
      durationMs,
      operationCountMax: COUNT_MAX,
      processIds: scene.server.processIds,
    },
    async () => {
      fileCount = await planNext()
    },
  )
  return { label, ...cell, note: `${fileCount} files, ${peakOf(scene.server)}` }
}

/** The most memory that the server has held so far. Linux only. */
function peakOf({ processIds: [id] }: ServerUnderTest): string {
  const text = readFileSync(`/proc/${id}/status`, 'utf8')
  return `peak ${Math.round(Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024)} MiB`
}

interface Tasks {
  readonly 'file-scan-tasks'?: readonly unknown[]
  readonly 'plan-tasks'?: readonly string[]
}

/** Asks for a plan and follows all its tasks; the number of files. */
async function planWhole(client: CatalogClient, path: string, plan: PlanCell): Promise<number> {
  const ask = async (route: string, body: object): Promise<Tasks> => {
    const answer = await client.call('POST', `${path}/${route}`, { body: JSON.stringify(body) })
    return JSON.parse(answer.body.toString('utf8')) as Tasks
  }
  let count = 0
  const first = await ask('plan', { filter: plan.filter, 'stats-fields': [] })
  const waiting = [first]
  for (let tasks = waiting.pop(); tasks !== undefined; tasks = waiting.pop()) {
    count += tasks['file-scan-tasks']?.length ?? 0
    for (const task of plan.isFirst === true ? [] : (tasks['plan-tasks'] ?? [])) {
      waiting.push(await ask('tasks', { 'plan-task': task }))
    }
  }
  return count
}

/** What the clients that plan for themselves take, when they are given. */
function printClients({ server }: Scene): void {
  const rows: string[][] = []
  const table = `${NAMESPACE}.t`
  const filter = [hostname, from, to]
  if (options.python !== undefined) {
    const script = join(import.meta.dirname, 'plan_times.py')
    rows.push(...runClient('PyIceberg', options.python, [script, server.uri, table, ...filter]))
  }
  if (options.java !== undefined) {
    rows.push(...runClient('Java', options.java, [server.uri, table, ...filter]))
  }
  if (rows.length === 0) return
  process.stdout.write(`${printTable(['client-side', 'plan', 'ms', 'files'], rows)}\n\n`)
}

function runClient(name: string, command: string, args: readonly string[]): string[][] {
  const run = spawnSync(command, args, { encoding: 'utf8', timeout: CLIENT_TIMEOUT_MS })
  if (run.status !== 0) throw new Error(`${name} failed:\n${run.stderr.slice(-2000)}`)
  const lines = run.stdout.split('\n').filter((line) => line.startsWith('plan\t'))
  return lines.map((line) => [name, ...line.split('\t').slice(1)])
}
