/**
 * How long a commit takes on tables with 10, 1,000 and 10,000 snapshots: appends by one writer, property changes by 16
 * on one table, and appends spread over many tables.
 *
 *   npx tsx tools/bench/commit.ts [--seconds 4] [--snapshots 10,1000,10000] [--tables 16]
 *
 * Starts a server of ours on a data directory of its own unless told otherwise (bench-options.ts). An append
 * that fails ends the run. Prints a Markdown table.
 */
import { readBenchOptions, serverUnderTest } from './bench-options.ts'
import { CatalogClient } from './catalog-client.ts'
import { measureCell, printCells, type LabelledCell } from './measure.ts'
import { nextAppend, propertyCommit, registerDeepTable, type TableHead } from './table-history.ts'

const ONE_TABLE_WRITERS = 16
const OPERATION_COUNT_MAX = 20_000
const WARM_UP_MS = 1_000
const WARM_UP_COUNT_MAX = 20
/** Appends deepen the table that they measure, so a cell makes only so many of them per table. */
const APPENDS_PER_TABLE_MAX = 200
const NAMESPACE = `bench_commit_${process.pid}`

const options = readBenchOptions(process.argv.slice(2))
const server = await serverUnderTest(options)
try {
  const client = await CatalogClient.connect(server.uri, options.warehouse)
  await client.createNamespace(NAMESPACE)
  const cells: LabelledCell[] = []
  for (const snapshotCount of options.snapshotCounts) {
    cells.push(...(await measureDepth(client, snapshotCount)))
  }
  client.close()
  process.stdout.write(`${printCells('commit', cells)}\n`)
} finally {
  await server.stop()
}

async function measureDepth(client: CatalogClient, snapshotCount: number): Promise<LabelledCell[]> {
  const heads: TableHead[] = []
  for (let index = 0; index < options.tableCount; index++) {
    const table = `deep_${snapshotCount}_${index}`
    heads.push(await registerDeepTable(client, { namespace: NAMESPACE, table, snapshotCount }))
  }
  const [first] = heads
  if (first === undefined) throw new Error('no table was made')
  const commit = (head: TableHead, body: string) => client.call('POST', head.path, { body })
  const append = async (head: TableHead) => void (await commit(head, nextAppend(head)))
  // Nothing in a property change can conflict; a server that races its own commits answers 409 all the same.
  let lostCount = 0
  const setProperty = async (turn: number) => {
    const body = propertyCommit(first, turn)
    const answer = await client.call('POST', first.path, { body, alsoFine: [409] })
    if (answer.status === 409) lostCount++
  }
  const label = `${snapshotCount} snapshots`
  return [
    await measure(
      `${label}, one table, append, c1`,
      { concurrency: 1, countMax: APPENDS_PER_TABLE_MAX },
      () => append(first),
    ),
    {
      ...(await measure(
        `${label}, one table, property, c${ONE_TABLE_WRITERS}`,
        { concurrency: ONE_TABLE_WRITERS, countMax: OPERATION_COUNT_MAX },
        setProperty,
      )),
      note: `${lostCount} answered 409`,
    },
    // One writer per table, so no two appends meet on one.
    await measure(
      `${label}, ${heads.length} tables, append, c${heads.length}`,
      { concurrency: heads.length, countMax: APPENDS_PER_TABLE_MAX * heads.length },
      (_, lane) => append(heads[lane] ?? first),
    ),
  ]
}

async function measure(
  label: string,
  { concurrency, countMax }: { readonly concurrency: number; readonly countMax: number },
  operation: (turn: number, lane: number) => Promise<void>,
): Promise<LabelledCell> {
  const { processIds } = server
  const warmUp = { concurrency, processIds, durationMs: WARM_UP_MS }
  await measureCell({ ...warmUp, operationCountMax: WARM_UP_COUNT_MAX }, operation)
  const plan = { ...warmUp, durationMs: options.durationMs, operationCountMax: countMax }
  const cell = await measureCell(plan, operation)
  process.stderr.write(`${label}: p50 ${cell.p50Ms.toFixed(2)} ms\n`)
  return { label, ...cell }
}
