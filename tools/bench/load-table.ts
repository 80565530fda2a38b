/**
 * How long `GET …/tables/{table}` takes at 10, 1,000 and 10,000 snapshots: whole, gzipped, `snapshots=refs` and 304.
 *
 *   npx tsx tools/bench/load-table.ts [--seconds 4] [--snapshots 10,1000,10000] [--credentials]
 *
 * `--credentials`: each answer has the caller's own; on PostgreSQL and S3, for which `tools/services/start.sh` must run.
 * Starts a server of ours on a data directory of its own unless told otherwise (bench-options.ts). Prints a Markdown
 * table. The client shares the machine: compare the server's CPU per operation before wall times.
 */
import { readBenchOptions, serverUnderTest } from './bench-options.ts'
import { CatalogClient, type Answer } from './catalog-client.ts'
import { measureCell, printCells, type LabelledCell } from './measure.ts'
import { openLocalClientFiles, openS3ClientFiles } from './client-files.ts'
import { startOwnServer, type ServerUnderTest } from './server-process.ts'
import { openSharedLake, vendCredentials } from './shared-lake.ts'
import { registerDeepTable } from './table-history.ts'

const CONCURRENCIES = [1, 16]
const OPERATION_COUNT_MAX = 50_000
const WARM_UP_MS = 1_000
const NAMESPACE = `bench_load_${process.pid}`

const options = readBenchOptions(process.argv.slice(2))

interface Shape {
  readonly name: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly status: number
}

const headers = options.credentials ? { 'x-iceberg-access-delegation': 'vended-credentials' } : {}

function shapesOf(first: Answer): readonly Shape[] {
  const whole = { query: '?snapshots=all', headers, status: 200 }
  const conditional = { ...headers, 'if-none-match': first.etag ?? '' }
  return [
    { name: 'full', ...whole },
    { name: 'full, gzip', ...whole, headers: { ...headers, 'accept-encoding': 'gzip' } },
    { name: 'refs', ...whole, query: '?snapshots=refs' },
    ...(first.etag === undefined
      ? []
      : [{ name: '304', ...whole, headers: conditional, status: 304 }]),
  ]
}

const lake = options.credentials ? await openSharedLake() : undefined
const files = lake === undefined ? openLocalClientFiles() : openS3ClientFiles(lake.s3)
const server: ServerUnderTest = await (lake === undefined
  ? serverUnderTest(options)
  : startOwnServer(lake.settings))
try {
  if (lake !== undefined) await vendCredentials(server.uri, lake.s3)
  const client = await CatalogClient.connect(server.uri, options.warehouse)
  await client.createNamespace(NAMESPACE)
  const cells: LabelledCell[] = []
  for (const snapshotCount of options.snapshotCounts) {
    const table = `deep_${snapshotCount}`
    const { path } = await registerDeepTable(client, {
      namespace: NAMESPACE,
      table,
      snapshotCount,
      files,
    })
    const shapes = shapesOf(await client.call('GET', `${path}?snapshots=all`, { headers }))
    for (const shape of shapes)
      cells.push(...(await measureShape(client, { path, shape, snapshotCount })))
  }
  client.close()
  process.stdout.write(`${printCells('load', cells)}\n`)
} finally {
  files.close()
  await server.stop()
  await lake?.close()
}

async function measureShape(
  client: CatalogClient,
  { path, shape, snapshotCount }: { path: string; shape: Shape; snapshotCount: number },
): Promise<LabelledCell[]> {
  let bodyBytes = 0
  const load = async () => {
    const answer = await client.call('GET', path + shape.query, { headers: shape.headers })
    if (answer.status !== shape.status) throw new Error(`${shape.name}: ${answer.status}`)
    bodyBytes = answer.bodyBytes
  }
  const cells: LabelledCell[] = []
  for (const concurrency of CONCURRENCIES) {
    const plan = {
      concurrency,
      operationCountMax: OPERATION_COUNT_MAX,
      processIds: server.processIds,
    }
    await measureCell({ ...plan, durationMs: WARM_UP_MS }, load)
    const cell = await measureCell({ ...plan, durationMs: options.durationMs }, load)
    const label = `${snapshotCount} snapshots, ${shape.name}, c${concurrency}`
    cells.push({ label, note: `${bodyBytes} B`, ...cell })
    process.stderr.write(`${label}: p50 ${cell.p50Ms.toFixed(2)} ms\n`)
  }
  return cells
}
