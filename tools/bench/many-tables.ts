/**
 * How fast a catalog commits when it has very many tables, most of them not in any cache: makes them, then changes a
 * property of tables in a fixed scattered order, so that nearly every commit reads a metadata file first.
 *
 *   npx tsx tools/bench/many-tables.ts [--tables 100000] [--seconds 20]
 *
 * Takes the flags of bench-options.ts. Making 100,000 tables takes minutes. Prints a Markdown table.
 */
import { readBenchOptions, serverUnderTest } from './bench-options.ts'
import { CatalogClient } from './catalog-client.ts'
import { measureCell, printCells, type LabelledCell } from './measure.ts'

const CREATE_CONCURRENCY = 16
const COMMIT_CONCURRENCY = 32
const TABLES_PER_NAMESPACE = 10_000
/** A prime that no count of tables divides: consecutive turns land far apart and none comes twice in a round. */
const STRIDE = 7_368_787
const SCHEMA = {
  type: 'struct',
  fields: [{ id: 1, name: 'ts', required: true, type: 'timestamptz' }],
}

const options = readBenchOptions(process.argv.slice(2))
const tableCount = process.argv.includes('--tables') ? options.tableCount : 100_000
const server = await serverUnderTest(options)
try {
  const client = await CatalogClient.connect(server.uri, options.warehouse)
  const cells = [await createAll(client), await commitScattered(client)]
  client.close()
  process.stdout.write(`${printCells(`${tableCount} tables`, cells)}\n`)
} finally {
  await server.stop()
}

async function createAll(client: CatalogClient): Promise<LabelledCell> {
  for (let index = 0; index * TABLES_PER_NAMESPACE < tableCount; index += 1) {
    await client.createNamespace(namespaceOf(index * TABLES_PER_NAMESPACE))
  }
  const cell = await measureCell(
    {
      concurrency: CREATE_CONCURRENCY,
      durationMs: Number.POSITIVE_INFINITY,
      operationCountMax: tableCount,
      processIds: server.processIds,
    },
    async (turn) => {
      const path = `${client.namespacePath(namespaceOf(turn))}/tables`
      const body = JSON.stringify({ name: `t${turn}`, schema: SCHEMA })
      await client.call('POST', path, { body })
    },
  )
  return { label: `create, c${CREATE_CONCURRENCY}`, ...cell }
}

async function commitScattered(client: CatalogClient): Promise<LabelledCell> {
  const cell = await measureCell(
    {
      concurrency: COMMIT_CONCURRENCY,
      durationMs: options.durationMs,
      operationCountMax: tableCount,
      processIds: server.processIds,
    },
    async (turn) => {
      const table = (turn * STRIDE) % tableCount
      const path = client.tablePath(namespaceOf(table), `t${table}`)
      const updates = [{ action: 'set-properties', updates: { turn: String(turn) } }]
      await client.call('POST', path, { body: JSON.stringify({ requirements: [], updates }) })
    },
  )
  return { label: `property, scattered, c${COMMIT_CONCURRENCY}`, ...cell }
}

function namespaceOf(table: number): string {
  return `many_${process.pid}_${Math.floor(table / TABLES_PER_NAMESPACE)}`
}
