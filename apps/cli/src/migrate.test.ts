import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestCatalog, type TestCatalog } from '@timelake/catalog/open-test-catalog'
import { openLocalObjectStore } from '@timelake/storage/local-object-store'
import { readSettings } from '@timelake/timelake/contract/settings'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { realClock } from './context.ts'
import { migrate, type MigrateCommand } from './migrate.ts'

let source: TestCatalog
let target: TestCatalog
let directory: string
/** The namespace of one test; reports call it `a`. */
let top: string

beforeEach(() => {
  top = `a${randomUUID()}`
})

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'timelake-migrate-'))
  source = await openTestCatalog({ config: { pageSizeMax: 2 } })
  target = await openTestCatalog({
    config: { extraAllowedLocations: [source.warehouse.location], pageSizeMax: 2 },
    wrapStore: () => openLocalObjectStore(),
  })
  // Both take their ids from one sequence; this puts them out of step.
  await makeNamespace(target, ['ids'])
})

afterAll(async () => {
  await source.stop()
  await target.stop()
  rmSync(directory, { recursive: true })
})

const SCHEMA = { type: 'struct', fields: [{ id: 1n, name: 'x', required: false, type: 'int' }] }

const makeNamespace = async (catalog: TestCatalog, levels: string[], properties = {}) => {
  const body = { namespace: levels, properties }
  expect((await catalog.call('POST', '/v1/main/namespaces', { body })).status).toBe(200)
}

const tablePath = (levels: string[], name: string): string =>
  `/v1/main/namespaces/${levels.map(encodeURIComponent).join('%1F')}/tables/${encodeURIComponent(name)}`

const makeTable = async (catalog: TestCatalog, levels: string[], name: string) => {
  const path = tablePath(levels, '').replace(/\/$/, '')
  const answer = await catalog.call('POST', path, { body: { name, schema: SCHEMA } })
  expect(answer.status, answer.text).toBe(200)
}

const commit = async (catalog: TestCatalog, levels: string[], name: string, value: string) => {
  const updates = [{ action: 'set-properties', updates: { value } }]
  const body = { requirements: [], updates }
  expect((await catalog.call('POST', tablePath(levels, name), { body })).status).toBe(200)
}

/** A view `v` in the namespace of the test; answers the path of its views. */
const makeView = async (): Promise<string> => {
  const viewVersion = {
    'version-id': 1n,
    'schema-id': 0n,
    'timestamp-ms': 1n,
    summary: {},
    'default-namespace': [top],
    representations: [{ type: 'sql', sql: 'select 1 as x', dialect: 'spark' }],
  }
  const body = { name: 'v', schema: SCHEMA, 'view-version': viewVersion, properties: {} }
  const path = `/v1/main/namespaces/${top}/views`
  expect((await source.call('POST', path, { body })).status).toBe(200)
  return path
}

interface Pointer {
  readonly location: unknown
  readonly uuid: unknown
}

const pointerOf = async (
  catalog: TestCatalog,
  levels: string[],
  name: string,
): Promise<Pointer> => {
  const { status, text } = await catalog.call('GET', tablePath(levels, name))
  expect(status, text).toBe(200)
  // `as`: the catalog's own answer.
  const loaded = JSON.parse(text) as Record<string, unknown> & { metadata: Record<string, unknown> }
  return { location: loaded['metadata-location'], uuid: loaded.metadata['table-uuid'] }
}

const run = async (
  options: Partial<MigrateCommand> = {},
  wrapSend = (send: (request: Request) => Promise<Response>) => send,
) => {
  const lines: string[] = []
  const reportPath = join(directory, 'report.jsonl')
  const context = {
    ...realClock,
    settings: readSettings({ TIMELAKE_URI: target.running.url }),
    print: (text: string) => void lines.push(text),
    send: wrapSend((request) => fetch(request)),
    pause: async () => {},
  }
  const command: MigrateCommand = {
    sourceUri: `${source.running.url}/v1/`,
    namespaces: [[top]],
    reportPath,
    isDryRun: false,
    isOverwriting: false,
    isDiscarding: false,
    isCheckingFreeze: false,
    concurrency: 4,
    ...options,
  }
  const exitCode = await migrate(command, context)
  const report = readFileSync(reportPath, 'utf8')
    .replaceAll(top, 'a')
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const outcomes = Object.fromEntries(
    report.map(({ kind, namespace, name, outcome }) => [
      `${String(kind)} ${[...(namespace as string[]), ...(name === undefined ? [] : [name])].join('.')}`,
      outcome,
    ]),
  )
  return { exitCode, text: lines.join('\n').replaceAll(top, 'a'), report, outcomes }
}

describe('migrate', () => {
  it('registers nested namespaces and tables of any name, page by page, and keeps their uuids', async () => {
    await makeNamespace(source, [top], { owner: 'ops' })
    await makeNamespace(source, [top, 'b.c'])
    const names = ['t1', 't 2', 'ü/3', '4%']
    for (const name of names) await makeTable(source, [top, 'b.c'], name)
    await makeTable(source, [top], 'top')
    const { exitCode, text, outcomes } = await run()
    expect(exitCode, text).toBe(0)
    expect(Object.values(outcomes)).toEqual(Array.from({ length: 7 }, () => 'migrated'))
    for (const name of names) {
      const levels = [top, 'b.c']
      expect(await pointerOf(target, levels, name)).toEqual(await pointerOf(source, levels, name))
    }
    const namespace = await target.call('GET', `/v1/main/namespaces/${top}`)
    expect(JSON.parse(namespace.text)).toMatchObject({ properties: { owner: 'ops' } })
    expect(namespace.text).toContain(target.warehouse.location)
    expect(namespace.text).not.toContain(source.warehouse.location)
  })

  it('does what is missing when it is run again, and says what is there', async () => {
    await makeNamespace(source, [top])
    await makeTable(source, [top], 't1')
    await run()
    await makeTable(source, [top], 't2')
    const { exitCode, outcomes } = await run()
    expect(exitCode).toBe(0)
    expect(outcomes).toEqual({
      'namespace a': 'already-there',
      'table a.t1': 'already-there',
      'table a.t2': 'migrated',
    })
  })

  it('changes nothing in a dry run', async () => {
    await makeNamespace(source, [top])
    await makeTable(source, [top], 't1')
    const { exitCode, outcomes, text } = await run({ isDryRun: true })
    expect(exitCode).toBe(0)
    expect(outcomes).toEqual({ 'namespace a': 'to-migrate', 'table a.t1': 'to-migrate' })
    expect(text).toContain('Nothing was changed.')
    expect((await target.call('GET', `/v1/main/namespaces/${top}`)).status).toBe(404)
  })

  it('moves a table that is behind only when told to, and never takes commits away unasked', async () => {
    await makeNamespace(source, [top])
    await makeTable(source, [top], 't')
    await run()
    await commit(source, [top], 't', 'later')
    const reported = await run()
    expect(reported).toMatchObject({ exitCode: 4, outcomes: { 'table a.t': 'skipped' } })
    expect(reported.text).toContain('--overwrite would move it')
    expect(await run({ isOverwriting: true })).toMatchObject({ exitCode: 0 })
    const moved = await pointerOf(source, [top], 't')
    expect(await pointerOf(target, [top], 't')).toEqual(moved)
    await commit(target, [top], 't', 'here')
    const ahead = await run({ isOverwriting: true })
    expect(ahead).toMatchObject({ exitCode: 4, outcomes: { 'table a.t': 'skipped' } })
    expect(ahead.text).toContain('--discard-target')
    expect(await run({ isOverwriting: true, isDiscarding: true })).toMatchObject({ exitCode: 0 })
    expect(await pointerOf(target, [top], 't')).toEqual(moved)
  })

  it('reports a name that another table has and leaves it alone', async () => {
    await makeNamespace(source, [top])
    await makeTable(source, [top], 't')
    await makeNamespace(target, [top])
    await makeTable(target, [top], 't')
    const before = await pointerOf(target, [top], 't')
    const { exitCode, outcomes } = await run({ isOverwriting: true, isDiscarding: true })
    expect(exitCode).toBe(4)
    expect(outcomes).toMatchObject({ 'table a.t': 'conflict' })
    expect(await pointerOf(target, [top], 't')).toEqual(before)
  })

  it('brings over only the wanted namespaces, with their parents', async () => {
    await makeNamespace(source, [top])
    await makeNamespace(source, [top, 'b'])
    await makeNamespace(source, [`${top}-other`])
    await makeTable(source, [top], 'not-this')
    await makeTable(source, [top, 'b'], 't')
    const { outcomes } = await run({ namespaces: [[top, 'b']] })
    expect(outcomes).toEqual({
      'namespace a': 'migrated',
      'namespace a.b': 'migrated',
      'table a.b.t': 'migrated',
    })
  })

  it('tries again when answers are lost, and knows what it did before', async () => {
    await makeNamespace(source, [top])
    await makeTable(source, [top], 't')
    let isLost = false
    const { exitCode, outcomes } = await run({}, (send) => async (request) => {
      const answer = await send(request)
      if (!request.url.endsWith('/register') || isLost) return answer
      isLost = true
      throw new Error('reset')
    })
    expect(isLost).toBe(true)
    expect(exitCode).toBe(0)
    expect(outcomes).toMatchObject({ 'table a.t': 'migrated' })
  })

  it('fails the tables that a catalog refuses and goes on with the others', async () => {
    await makeNamespace(source, [top])
    for (const name of ['t1', 't2']) await makeTable(source, [top], name)
    const { exitCode, outcomes, text } = await run(
      {},
      (send) => async (request) =>
        request.url.includes('/tables/t1')
          ? new Response('<html>', { status: 502 })
          : send(request),
    )
    expect(exitCode).toBe(1)
    expect(outcomes).toMatchObject({ 'table a.t1': 'failed', 'table a.t2': 'migrated' })
    expect(text).toContain('table a.t1: failed: the catalog answered 502')
  })

  it('gives up on a catalog that is gone', async () => {
    await makeNamespace(source, [top])
    for (let index = 0; index < 12; index += 1) await makeTable(source, [top], `t${index}`)
    const lost = run({}, (send) => async (request) => {
      if (request.url.includes('/tables/')) throw new Error('refused')
      return send(request)
    })
    await expect(lost).rejects.toThrow('run the same command again later')
  })

  it('finds out which tables moved on while it copied', async () => {
    await makeNamespace(source, [top])
    for (const name of ['t1', 't2', 't3']) await makeTable(source, [top], name)
    let isDone = false
    const { exitCode, text } = await run(
      { isCheckingFreeze: true, concurrency: 1 },
      (send) => async (request) => {
        const answer = await send(request)
        if (request.url.endsWith('/register') && !isDone) {
          isDone = true
          await commit(source, [top], 't1', 'meanwhile')
          await makeTable(source, [top], 't4')
        }
        return answer
      },
    )
    expect(exitCode).toBe(4)
    expect(text).toContain('table a.t1: moved-on: the source went on to')
    expect(text).toContain('table a.t4: moved-on: it is new')
    expect(text).not.toContain('table a.t2')
  })

  it('does not send the own token to another catalog', async () => {
    const seen = new Map<string, string | null>()
    const settings = readSettings({ TIMELAKE_URI: target.running.url, TIMELAKE_TOKEN: 'own' })
    const context = {
      ...realClock,
      settings,
      print: () => {},
      send: async (request: Request) => {
        seen.set(new URL(request.url).origin, request.headers.get('authorization'))
        return fetch(request)
      },
      pause: async () => {},
    }
    const command = { sourceUri: source.running.url, namespaces: [], concurrency: 1 }
    const flags = {
      isDryRun: true,
      isOverwriting: false,
      isDiscarding: false,
      isCheckingFreeze: false,
    }
    await migrate({ ...command, ...flags }, context)
    expect(seen.get(source.running.url)).toBe(null)
    expect(seen.get(target.running.url)).toBe('Bearer own')
  })

  it('skips a table outside the target and names the settings that would allow it', async () => {
    await makeNamespace(target, [top])
    await makeTable(target, [top], 't')
    const back = {
      sourceUri: target.running.url,
      targetUri: source.running.url,
      targetWarehouse: 'main',
    }
    const dry = await run({ ...back, isDryRun: true })
    expect(dry.outcomes).toMatchObject({ 'table a.t': 'to-migrate' })
    expect(dry.text).toContain('TIMELAKE_EXTRA_ALLOWED_LOCATIONS')
    const { exitCode, outcomes, text } = await run(back)
    expect(exitCode).toBe(4)
    expect(outcomes).toMatchObject({ 'table a.t': 'skipped' })
    expect(text).toContain("is outside the target's warehouse")
    expect(text).toContain('TIMELAKE_EXTRA_ALLOWED_LOCATIONS')
  })

  it('registers views, keeps their uuids and knows them again', async () => {
    await makeNamespace(source, [top])
    const views = await makeView()
    expect(await run()).toMatchObject({ exitCode: 0, outcomes: { 'view a.v': 'migrated' } })
    const [there, here] = [
      await source.call('GET', `${views}/v`),
      await target.call('GET', `${views}/v`),
    ]
    expect(JSON.parse(here.text)).toMatchObject({
      'metadata-location': (JSON.parse(there.text) as Record<string, unknown>)['metadata-location'],
    })
    expect(await run()).toMatchObject({ exitCode: 0, outcomes: { 'view a.v': 'already-there' } })
  })

  it('makes a view anew where views cannot be registered, once', async () => {
    await makeNamespace(source, [top])
    const views = await makeView()
    const withoutRegisterView =
      (send: (request: Request) => Promise<Response>) => async (request: Request) => {
        const answer = await send(request)
        if (!request.url.includes('/v1/config')) return answer
        const text = (await answer.text()).replace(/"POST [^"]*register-view",?/, '')
        return new Response(text.replace(',]', ']'))
      }
    const first = await run({}, withoutRegisterView)
    expect(first).toMatchObject({ exitCode: 0, outcomes: { 'view a.v': 'migrated' } })
    expect(first.text).toContain('made anew')
    expect((await target.call('GET', `${views}/v`)).text).toContain('select 1 as x')
    const second = await run({}, withoutRegisterView)
    expect(second).toMatchObject({ exitCode: 0, outcomes: { 'view a.v': 'already-there' } })
  })

  it('refuses to migrate a catalog into itself', async () => {
    await expect(run({ targetUri: source.running.url })).rejects.toThrow('the same catalog')
  })
})
