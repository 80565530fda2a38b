import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  openEmptyPostgresTestDatabase,
  type PostgresTestDatabase,
} from '@timelake/testing/open-postgres-test-database'
import { openTestS3Store, type TestS3Store } from '@timelake/testing/open-test-s3'
import { testServices } from '@timelake/testing/test-services'
import { readSettings, type Settings } from '@timelake/timelake/contract/settings'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeCommandContext } from './context.ts'
import { recover } from './recover.ts'
import { serve, type RunningServer } from './serve.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const { databaseUrl, s3 } = testServices()

let directory: string
let place: TestS3Store | undefined
let databases: PostgresTestDatabase[]
let servers: RunningServer[]

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'timelake-recover-'))
  place = openTestS3Store()
  databases = []
  servers = []
})

afterEach(async () => {
  for (const server of servers) await server.stop()
  for (const database of databases) await database.close()
  await place?.remove()
  rmSync(directory, { recursive: true, force: true })
})

const newDatabase = async (): Promise<string> => {
  const database = await openEmptyPostgresTestDatabase()
  databases.push(database)
  return database.url
}

const settingsOn = (variables: Record<string, string>): Settings =>
  readSettings({
    TIMELAKE_DATA_DIR: directory,
    TIMELAKE_PORT: '0',
    TIMELAKE_LOG_LEVEL: 'error',
    TIMELAKE_MAINTENANCE: 'off',
    TIMELAKE_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    TIMELAKE_WAREHOUSE_LOCATION: place?.location ?? '',
    TIMELAKE_S3_ENDPOINT: s3?.endpoint ?? '',
    TIMELAKE_S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
    TIMELAKE_S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
    ...variables,
  })

const start = async (settings: Settings): Promise<RunningServer> => {
  const server = await serve(settings)
  servers.push(server)
  return server
}

const stopAll = async (): Promise<void> => {
  for (const server of servers.splice(0)) await server.stop()
}

const ask = async (url: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url + path, init)
  const text = await response.text()
  expect(response.ok, text).toBe(true)
  // `as`: the server's own answer.
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

const NAMESPACE = '/v1/main/namespaces/metrics'
const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [{ id: 1, name: 'at', required: false, type: 'timestamptz' }],
}
const VIEW = {
  name: 'seen',
  schema: SCHEMA,
  properties: {},
  'view-version': {
    'version-id': 1,
    'schema-id': 0,
    'timestamp-ms': 1,
    summary: {},
    'default-namespace': ['metrics'],
    representations: [{ type: 'sql', sql: 'select at from cpu', dialect: 'spark' }],
  },
}

const recovering = { isDryRun: false, isForced: false }

const contextFor = (settings: Settings) => {
  const lines: string[] = []
  const context = {
    ...makeCommandContext(settings),
    print: (text: string) => void lines.push(text),
  }
  return { context, text: () => lines.join('\n') }
}

const fill = async (url: string): Promise<Record<string, unknown>> => {
  await ask(url, '/v1/main/namespaces', { namespace: ['metrics'], properties: { owner: 'ops' } })
  await ask(url, `${NAMESPACE}/tables`, { name: 'raw', schema: SCHEMA })
  const gone = await ask(url, `${NAMESPACE}/tables`, { name: 'gone', schema: SCHEMA })
  await fetch(`${url}${NAMESPACE}/tables/gone`, { method: 'DELETE' })
  await ask(url, `${NAMESPACE}/views`, VIEW)
  return gone
}

const rename = (url: string) =>
  ask(url, '/v1/main/tables/rename', {
    source: { namespace: ['metrics'], name: 'raw' },
    destination: { namespace: ['metrics'], name: 'cpu' },
  })

const commit = (url: string) =>
  ask(url, `${NAMESPACE}/tables/cpu`, {
    requirements: [],
    updates: [{ action: 'set-properties', updates: { moved: 'yes' } }],
  })

const expectRecovered = async (url: string, cpu: Record<string, unknown>): Promise<void> => {
  const loaded = await ask(url, `${NAMESPACE}/tables/cpu`)
  expect(loaded['metadata-location']).toBe(cpu['metadata-location'])
  const view = await ask(url, `${NAMESPACE}/views/seen`)
  expect(JSON.stringify(view)).toContain('select at from cpu')
  expect((await ask(url, NAMESPACE))['properties']).toMatchObject({ owner: 'ops' })
  expect((await fetch(`${url}${NAMESPACE}/tables/gone`)).status).toBe(404)
}

describe.skipIf(databaseUrl === undefined || s3 === undefined)(
  'recover from S3 into PostgreSQL (TEST_DATABASE_URL and S3_ENDPOINT)',
  () => {
    it('I28 rebuilds tables and views of two processes, and refuses what is not empty', async () => {
      const lost = settingsOn({ TIMELAKE_DATABASE_URL: await newDatabase() })
      const first = await start(lost)
      await fill(first.url)
      const second = await start({ ...lost, dataDirectory: join(directory, 'second') })
      await rename(second.url)
      const cpu = await commit(first.url)
      await stopAll()

      const empty = settingsOn({ TIMELAKE_DATABASE_URL: await newDatabase() })
      const dry = contextFor(empty)
      expect(await recover({ ...recovering, isDryRun: true }, dry.context)).toBe(0)
      expect(dry.text()).toContain('1 namespaces, 1 tables, 1 views')
      const { context, text } = contextFor(empty)
      expect(await recover(recovering, context)).toBe(0)
      expect(text()).toContain('metrics.cpu')
      expect(text()).not.toContain('metrics.gone')
      await expectRecovered((await start(empty)).url, cpu)
      await expect(recover(recovering, context)).rejects.toThrow('only what is empty')
      await expect(recover({ ...recovering, isForced: true }, context)).rejects.toThrow('--force')
    })

    it('fills a further warehouse whose row was made again', async () => {
      const settings = settingsOn({ TIMELAKE_DATABASE_URL: await newDatabase() })
      await fill((await start(settings)).url)
      await stopAll()
      const again = settingsOn({
        TIMELAKE_DATABASE_URL: await newDatabase(),
        TIMELAKE_WAREHOUSE_LOCATION: `${place?.location}/elsewhere`,
      })
      await start(again)
      await stopAll()
      const { context } = contextFor(again)
      const named = { ...recovering, warehouse: 'cold' }
      await expect(recover(named, context)).rejects.toThrow('has no warehouse cold')
      const [, database] = databases
      await database?.query(
        `insert into warehouse (id, name, location, storage_profile, created_at_ms)
         select $1, 'cold', $2, storage_profile, 1 from warehouse where name = 'main'`,
        [randomUUID(), place?.location ?? ''],
      )
      expect(await recover(named, context)).toBe(0)
      const { url } = await start(again)
      await ask(url, '/v1/cold/namespaces/metrics/tables/raw')
      await ask(url, '/v1/cold/namespaces/metrics/views/seen')
    })
  },
)

describe.skipIf(s3 === undefined)('recover from S3 into an embedded database (S3_ENDPOINT)', () => {
  it('rebuilds the database of a lost data directory', async () => {
    const settings = settingsOn({})
    const server = await start(settings)
    await fill(server.url)
    await rename(server.url)
    const cpu = await commit(server.url)
    await stopAll()
    rmSync(directory, { recursive: true })
    const { context } = contextFor(settings)
    expect(await recover(recovering, context)).toBe(0)
    await expectRecovered((await start(settings)).url, cpu)
  })

  it('says in a sentence that the store cannot be reached', async () => {
    const settings = settingsOn({ TIMELAKE_S3_SECRET_ACCESS_KEY: 'wrong' })
    const { context } = contextFor(settings)
    await expect(recover(recovering, context)).rejects.toMatchObject({
      name: 'CommandError',
      message: expect.stringContaining('cannot read the warehouse s3://') as string,
    })
  })
})
