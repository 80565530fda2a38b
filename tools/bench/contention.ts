/**
 * Many writers on one table: how many of their appends land, how fast, and what it costs.
 *
 *   npx tsx tools/bench/contention.ts [--writers 1,2,4,8,16,32,64] [--appends 20] [--lanes strict,strict-once,rebase,intents]
 *     [--on embedded,services,two-processes,slow-store] [--think-ms 0] [--cell-seconds 60] [--peers reference-memory,seaweedfs]
 *
 * The writers are all in this process; what they take of the cores that they share with the servers is in the table.
 * Lanes and places are explained in contention-cell.ts and contention-places.ts; all but `embedded` need the variables that
 * `tools/services/start.sh` prints. Prints a Markdown table for each place. Every cell looks at its table afterwards: exit status 1 when
 * an acknowledged append is not live exactly once, or something else is. `--peers` runs the same through peerbench's W3 on other
 * catalogs (../interop/peerbench/peers.sh) and on ours afterwards, in the same sitting.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { CatalogClient } from './catalog-client.ts'
import { LANES, runContentionCell, type ContentionCell, type Lane } from './contention-cell.ts'
import { openPlace, PLACES, type OpenPlace, type Place } from './contention-places.ts'
import { printTable } from './measure.ts'
import { sampleProcesses } from './server-process.ts'

const NAMESPACE = `bench_contention_${process.pid}`
const WAREHOUSE = 'main'
/** Before anything is measured: a server that has just started needs several times as long for the same. */
const WARM_UP = {
  lane: 'strict',
  writerCount: 8,
  appendsPerWriter: 20,
  thinkMs: 0,
  durationMsMax: 10_000,
} as const
const RACES_METRIC = 'timelake_commit_races_total'
const HEADER = [
  'success',
  'per s',
  'p50 ms',
  'p99 ms',
  'server CPU ms/append',
  'writers CPU ms/append',
  'metadata files/append',
  'catalog files/append',
  'swaps lost',
  'other answers',
]

const { values: flags } = parseArgs({
  options: {
    writers: { type: 'string', default: '1,2,4,8,16,32,64' },
    appends: { type: 'string', default: '20' },
    lanes: { type: 'string', default: LANES.join(',') },
    on: { type: 'string', default: 'embedded' },
    'think-ms': { type: 'string', default: '0' },
    'cell-seconds': { type: 'string', default: '60' },
    peers: { type: 'string' },
  },
})
const writerCounts = flags.writers.split(',').map(Number)
const lanes = chosen<Lane>(flags.lanes, LANES)
let isWhole = true
for (const place of chosen<Place>(flags.on, PLACES)) {
  const running = await openPlace(place)
  try {
    process.stdout.write(`${await measurePlace(place, running)}\n\n`)
  } finally {
    await running.close()
  }
}
if (flags.peers !== undefined && !runPeers(flags.peers)) isWhole = false
process.exitCode = isWhole ? 0 : 1

function chosen<Word extends string>(text: string, known: readonly Word[]): readonly Word[] {
  return text.split(',').map((word) => {
    const found = known.find((one) => one === word)
    if (found === undefined) throw new Error(`expected one of ${known.join(', ')}, found ${word}`)
    return found
  })
}

async function measurePlace(place: Place, running: OpenPlace): Promise<string> {
  const { uris, files, processIds } = running
  const [uri = ''] = uris
  const client = await CatalogClient.connect(uri, WAREHOUSE)
  await client.createNamespace(NAMESPACE)
  client.close()
  const contenders = { uris, warehouse: WAREHOUSE, files, namespace: NAMESPACE }
  const rows: string[][] = []
  await runContentionCell(contenders, WARM_UP)
  for (const lane of lanes) {
    for (const writerCount of writerCounts) {
      const before = sampleProcesses(processIds)
      const racesBefore = await lostSwaps(uris)
      const cell = await runContentionCell(contenders, {
        lane,
        writerCount,
        appendsPerWriter: Number(flags.appends),
        thinkMs: Number(flags['think-ms']),
        durationMsMax: Number(flags['cell-seconds']) * 1000,
      })
      const cpuMs = sampleProcesses(processIds).cpuMs - before.cpuMs
      const races = (await lostSwaps(uris)) - racesBefore
      const label = `${lane} N=${writerCount}`
      rows.push([label, ...fieldsOf(cell, { cpuMs, races })])
      process.stderr.write(`${place} ${rows.at(-1)?.join('  ')}\n`)
      for (const fault of cell.faults) process.stderr.write(`WRONG ${place} ${label}: ${fault}\n`)
      if (cell.faults.length > 0) isWhole = false
    }
  }
  return printTable([`contention, ${place}`, ...HEADER], rows)
}

function fieldsOf(
  cell: ContentionCell,
  cost: { readonly cpuMs: number; readonly races: number },
): string[] {
  const { landedCount, triedCount, tookMs, otherAnswers } = cell
  const each = (total: number, digits: number) => (total / Math.max(1, landedCount)).toFixed(digits)
  const other = Object.entries(otherAnswers).map(([status, count]) => `${count} × ${status}`)
  return [
    `${((100 * landedCount) / Math.max(1, triedCount)).toFixed(1)} % of ${triedCount}`,
    ((landedCount * 1000) / tookMs).toFixed(1),
    cell.p50Ms.toFixed(1),
    cell.p99Ms.toFixed(1),
    each(cost.cpuMs, 2),
    each(cell.writersCpuMs, 2),
    each(cell.metadataFileCount, 3),
    each(cell.catalogFileCount, 3),
    String(cost.races),
    other.join(', '),
  ]
}

/** Commits that had to be applied again because another process was first, in all processes since they started. */
async function lostSwaps(uris: readonly string[]): Promise<number> {
  let sum = 0
  for (const uri of uris) {
    const text = await fetch(`${uri}/metrics`).then((answer) => answer.text())
    sum += Number(new RegExp(`^${RACES_METRIC} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
  }
  return sum
}

function runPeers(peers: string): boolean {
  const script = fileURLToPath(new URL('peers.sh', import.meta.url))
  const same = ['--writers', flags.writers, '--appends', flags.appends]
  const limits = ['--think-ms', flags['think-ms'], '--cell-seconds', flags['cell-seconds']]
  const words = ['--peers', `${peers},timelake`, '--workloads', 'W3', ...same, ...limits]
  return spawnSync('bash', [script, ...words], { stdio: 'inherit' }).status === 0
}
