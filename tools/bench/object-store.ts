/**
 * What a small read and a small write of an S3 store cost this process: our object store against the AWS SDK, 4 KiB
 * objects, 1 and 16 in flight.
 *
 *   npx tsx tools/bench/object-store.ts [--seconds 4] [--pid PID of the server]
 *
 * Takes the server of the variables in packages/testing/src/test-services.ts, or else a double in this process (then the
 * CPU of both sides is one number: compare only with another server). Prints a Markdown table; `client CPU` is this
 * process's, per operation. Objects lie below a prefix of their own, which is removed.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { openS3Double } from '@timelake/testing/open-s3-double'
import { testServices } from '@timelake/testing/test-services'
import { measureCell, printCells, type LabelledCell } from './measure.ts'

const OBJECT_BYTES = 4_096
const CONCURRENCIES = [1, 16]
const OPERATION_COUNT_MAX = 50_000
const WARM_UP_MS = 500

interface Client {
  readonly name: string
  put(name: string): Promise<unknown>
  get(name: string): Promise<{ readonly length: number }>
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    pid: { type: 'string', multiple: true, default: [] },
  },
})
const durationMs = Number(values.seconds) * 1000
const processIds = values.pid.map(Number)

const { s3 } = testServices()
const double = s3 === undefined ? await openS3Double() : undefined
const server = s3 ?? double
if (server === undefined) throw new Error('there is no server')
const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server
const folder = `bench-${randomUUID()}`
const body = randomBytes(OBJECT_BYTES)
const store = openS3ObjectStore({
  profile: { type: 's3', endpoint, region, pathStyle: true },
  credentials: { accessKeyId, secretAccessKey },
})
const sdk = new S3Client({
  endpoint,
  region,
  credentials: { accessKeyId, secretAccessKey },
  forcePathStyle: true,
  maxAttempts: 1,
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
})

const clients: readonly Client[] = [
  {
    name: 'object store',
    put: (name) => store.putIfAbsent(`s3://${bucket}/${folder}/${name}`, body),
    get: (name) => store.get(`s3://${bucket}/${folder}/${name}`),
  },
  {
    name: 'AWS SDK',
    put: (name) =>
      sdk.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: `${folder}/${name}`,
          Body: body,
          IfNoneMatch: '*',
        }),
      ),
    async get(name) {
      const command = new GetObjectCommand({ Bucket: bucket, Key: `${folder}/${name}` })
      const answer = await sdk.send(command)
      if (answer.Body === undefined) throw new Error('an answer without a body')
      return answer.Body.transformToByteArray()
    },
  },
]

try {
  process.stdout.write(`${printCells('S3, 4 KiB', await measureAll())}\n`)
} finally {
  const locations: string[] = []
  for await (const { location } of store.list(`s3://${bucket}/${folder}`)) locations.push(location)
  await store.deleteMany(locations)
  store.close()
  sdk.destroy()
  await double?.close()
}

async function measureAll(): Promise<LabelledCell[]> {
  let serial = 0
  const cells: LabelledCell[] = []
  for (const concurrency of CONCURRENCIES) {
    for (const { name, put, get } of clients) {
      const read = `${name}-read-${concurrency}`.replace(' ', '-')
      await put(read)
      const label = `${name}, c${concurrency}`
      cells.push(await measure(`put, ${label}`, concurrency, () => put(`put-${serial++}`)))
      cells.push(await measure(`get, ${label}`, concurrency, () => readWhole(get(read))))
    }
  }
  return cells
}

async function readWhole(reading: Promise<{ readonly length: number }>): Promise<void> {
  const { length } = await reading
  if (length !== OBJECT_BYTES) throw new Error(`read ${length} bytes`)
}

async function measure(
  label: string,
  concurrency: number,
  operation: () => Promise<unknown>,
): Promise<LabelledCell> {
  const plan = { concurrency, operationCountMax: OPERATION_COUNT_MAX, processIds }
  const run = async () => void (await operation())
  await measureCell({ ...plan, durationMs: WARM_UP_MS }, run)
  const before = process.cpuUsage()
  const cell = await measureCell({ ...plan, durationMs }, run)
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1000 / cell.operationCount
  process.stderr.write(`${label}: client CPU ${cpuMs.toFixed(3)} ms\n`)
  return { label, note: `client CPU ${cpuMs.toFixed(3)} ms`, ...cell }
}
