import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitFor } from '@timelake/testing/wait-for'
import { readSettings, type Settings } from '@timelake/timelake/contract/settings'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeCommandContext } from './context.ts'
import { info } from './info.ts'
import { recover } from './recover.ts'
import { serve, type RunningServer } from './serve.ts'

// Each test starts several servers, and every start loads a database.
vi.setConfig({ testTimeout: 120_000 })

let directory: string
let directories: string[]
let servers: RunningServer[]

const newDirectory = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'timelake-cli-'))
  directories.push(made)
  return made
}

beforeEach(() => {
  directories = []
  servers = []
  directory = newDirectory()
})

afterEach(async () => {
  for (const server of servers) await server.stop()
  for (const each of directories) rmSync(each, { recursive: true, force: true })
})

const settingsWith = (more: Record<string, string> = {}): Settings =>
  readSettings({
    TIMELAKE_DATA_DIR: directory,
    TIMELAKE_PORT: '0',
    TIMELAKE_LOG_LEVEL: 'error',
    TIMELAKE_MAINTENANCE: 'off',
    ...more,
  })

const start = async (settings = settingsWith()): Promise<RunningServer> => {
  const server = await serve(settings)
  servers.push(server)
  return server
}

const ask = async (url: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url + path, init)
  expect(response.ok, await response.clone().text()).toBe(true)
  return (await response.json()) as Record<string, unknown>
}

const SCHEMA = {
  type: 'struct',
  fields: [{ id: 1, name: 'at', required: false, type: 'timestamptz' }],
}

const makeTable = async (url: string, name: string): Promise<Record<string, unknown>> =>
  ask(url, '/v1/main/namespaces/metrics/tables', { name, schema: SCHEMA })

const commandContext = (settings: Settings) => {
  const lines: string[] = []
  const context = {
    ...makeCommandContext(settings),
    print: (text: string) => void lines.push(text),
  }
  return { context, text: () => lines.join('\n') }
}

const recovering = { isDryRun: false, isForced: false }

describe('serve', () => {
  it('greets with its address, serves the warehouse main, and keeps everything over a restart', async () => {
    const first = await start()
    expect(first.greeting).toContain(first.url)
    expect(first.greeting).toContain(directory)
    await ask(first.url, '/v1/main/namespaces', { namespace: ['metrics'] })
    const made = await makeTable(first.url, 'cpu')
    await first.stop()
    const second = await start()
    const loaded = await ask(second.url, '/v1/main/namespaces/metrics/tables/cpu')
    expect(loaded['metadata-location']).toBe(made['metadata-location'])
  })

  it('I26 refuses a data directory that another server uses, and recovery beside it', async () => {
    await start()
    await expect(serve(settingsWith())).rejects.toThrow(
      `the data directory ${directory} is in use by`,
    )
    const { context } = commandContext(settingsWith())
    await expect(recover(recovering, context)).rejects.toThrow('is in use by')
  })

  it('leaves nothing running when the port is taken', async () => {
    const { url } = await start()
    const other = newDirectory()
    const settings = settingsWith({ TIMELAKE_DATA_DIR: other, TIMELAKE_PORT: new URL(url).port })
    await expect(serve(settings)).rejects.toThrow('EADDRINUSE')
    await start(settingsWith({ TIMELAKE_DATA_DIR: other }))
  })
})

describe('recover', () => {
  it('rebuilds namespaces, names and pointers after the database is gone, without dropped tables', async () => {
    const before = await start()
    await ask(before.url, '/v1/main/namespaces', {
      namespace: ['metrics'],
      properties: { owner: 'ops' },
    })
    const cpu = await makeTable(before.url, 'cpu')
    await makeTable(before.url, 'gone')
    await fetch(`${before.url}/v1/main/namespaces/metrics/tables/gone`, { method: 'DELETE' })
    const rename = {
      source: { namespace: ['metrics'], name: 'cpu' },
      destination: { namespace: ['metrics'], name: 'load' },
    }
    await fetch(`${before.url}/v1/main/tables/rename`, {
      method: 'POST',
      body: JSON.stringify(rename),
    })
    await before.stop()
    rmSync(join(directory, 'database'), { recursive: true })
    await expect(serve(settingsWith())).rejects.toThrow('run `timelake recover`')

    const { context, text } = commandContext(settingsWith())
    expect(await recover(recovering, context)).toBe(0)
    expect(text()).toContain('metrics.load')
    expect(text()).not.toContain('metrics.gone')

    const after = await start()
    const loaded = await ask(after.url, '/v1/main/namespaces/metrics/tables/load')
    expect(loaded['metadata-location']).toBe(cpu['metadata-location'])
    const namespace = await ask(after.url, '/v1/main/namespaces/metrics')
    expect(namespace['properties']).toMatchObject({ owner: 'ops' })
  })

  it('I28 leaves a healthy database alone, and sets it aside when forced', async () => {
    const before = await start()
    await ask(before.url, '/v1/main/namespaces', { namespace: ['metrics'] })
    await makeTable(before.url, 'cpu')
    await before.stop()
    const { context, text } = commandContext(settingsWith())
    await expect(recover(recovering, context)).rejects.toThrow('can be read and has 1 tables')
    expect(await recover({ ...recovering, isForced: true, isDryRun: true }, context)).toBe(0)
    expect(text()).toContain('Nothing was changed.')
    expect(await recover({ ...recovering, isForced: true }, context)).toBe(0)
    expect(text()).toContain('database.before-recovery-')
    const after = await start()
    await ask(after.url, '/v1/main/namespaces/metrics/tables/cpu')
  })
})

describe('recover after a purge', () => {
  it('I30 does not bring back a table whose files were purged', async () => {
    const purging = { TIMELAKE_MAINTENANCE: 'on', TIMELAKE_PURGE_GRACE: '0ms' }
    const before = await start(settingsWith(purging))
    await ask(before.url, '/v1/main/namespaces', { namespace: ['metrics'] })
    await makeTable(before.url, 'cpu')
    const gone = await makeTable(before.url, 'gone')
    const path = String(gone['metadata-location']).slice('file://'.length)
    const query = '?purgeRequested=TRUE'
    const table = `${before.url}/v1/main/namespaces/metrics/tables/gone`
    expect((await fetch(table + query, { method: 'DELETE' })).status).toBe(204)
    await waitFor(() => !existsSync(path), { timeoutMs: 60_000 })
    await before.stop()
    rmSync(join(directory, 'database'), { recursive: true })
    const { context, text } = commandContext(settingsWith())
    expect(await recover({ ...recovering, unnamedInto: 'rescued' }, context)).toBe(0)
    expect(text()).toContain('metrics.cpu')
    expect(text()).not.toContain('gone')
  })
})

describe('recover after damage', () => {
  it('takes a database that cannot be opened for damaged and rebuilds it without force', async () => {
    const before = await start()
    await ask(before.url, '/v1/main/namespaces', { namespace: ['metrics'] })
    await makeTable(before.url, 'cpu')
    await before.stop()
    writeFileSync(join(directory, 'database', 'global', 'pg_control'), Buffer.alloc(8_192, 7))
    await expect(serve(settingsWith())).rejects.toThrow('its files may be damaged')
    const { context, text } = commandContext(settingsWith())
    expect(await recover(recovering, context)).toBe(0)
    expect(text()).toContain('metrics.cpu')
    const after = await start()
    await ask(after.url, '/v1/main/namespaces/metrics/tables/cpu')
  })
})

describe('info', () => {
  it('says what a table holds and what would be done', async () => {
    const { url } = await start(settingsWith({ TIMELAKE_TOKEN: 'sesame' }))
    const settings = settingsWith({ TIMELAKE_URI: url, TIMELAKE_TOKEN: 'sesame' })
    const authorization = { authorization: 'Bearer sesame' }
    const post = (path: string, body: unknown) =>
      fetch(url + path, { method: 'POST', headers: authorization, body: JSON.stringify(body) })
    await post('/v1/main/namespaces', { namespace: ['metrics'] })
    await post('/v1/main/namespaces/metrics/tables', { name: 'cpu', schema: SCHEMA })
    const { context, text } = commandContext(settings)
    const table = { levels: ['metrics'], name: 'cpu' }
    expect(await info({ table, isJson: false }, context)).toBe(0)
    expect(text()).toContain('metrics.cpu')
    expect(text()).toContain('nothing-to-do: the table has no snapshot')
    await expect(
      info({ table: { ...table, name: 'mem' }, isJson: false }, context),
    ).rejects.toThrow('there is no table metrics.mem')
  })
})
