import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { faultyDatabase, type DatabaseFaults } from '../faulty-database.ts'
import { describeOnEachDatabase } from '../on-each-database.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, viewBody } from '../test-views.ts'
import { setProperty } from '../test-transactions.ts'

const NAMESPACES = '/v1/main/namespaces'
const NS = `${NAMESPACES}/ns`

interface Mutation {
  readonly name: string
  /** A route of operators: no event, and no idempotency key. */
  readonly isAdmin?: boolean
  /** Makes what the mutation needs under names with this suffix. */
  prepare?(suffix: string): Promise<unknown>
  request(suffix: string): readonly [method: string, path: string, body?: JsonObject]
  /** Whether its effect is there. */
  isApplied(suffix: string): Promise<boolean>
}

// It runs on a server that others may be using.
vi.setConfig({ testTimeout: 120_000 })

describeOnEachDatabase('a mutation whose answer is lost', (on) => {
  let catalog: TestCatalog
  let faults: DatabaseFaults = {}
  let count = 0
  beforeAll(async () => {
    catalog = await openTestCatalog({
      on,
      wrapDatabase: (database) => faultyDatabase(database, () => faults),
    })
    await makeNamespace(catalog, ['ns'])
    await makeNamespace(catalog, ['other'])
  })
  afterAll(() => catalog.stop())
  afterEach(() => {
    faults = {}
  })

  const exists = async (path: string) => (await catalog.call('HEAD', path)).status === 204
  const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
  const propertiesOf = async (path: string) =>
    member((await catalog.call('GET', path)).json, 'properties') as JsonObject
  let registered = ''

  const WAREHOUSES = '/admin/v1/warehouses'
  const makeWarehouse = (suffix: string) =>
    catalog.call('POST', WAREHOUSES, { body: warehouseBody(suffix) })
  const warehouseBody = (suffix: string): JsonObject => ({
    name: `w${suffix}`,
    location: `${catalog.warehouse.location}-${suffix}`,
    storage: { type: 'file' },
  })
  const warehouseOf = async (suffix: string) =>
    (await catalog.call('GET', `${WAREHOUSES}/w${suffix}`)).json as JsonObject

  const mutations: readonly Mutation[] = [
    {
      name: 'createWarehouse',
      isAdmin: true,
      request: (suffix) => ['POST', WAREHOUSES, warehouseBody(suffix)],
      isApplied: async (suffix) => (await warehouseOf(suffix))['name'] === `w${suffix}`,
    },
    {
      name: 'updateWarehouse',
      isAdmin: true,
      prepare: makeWarehouse,
      request: (suffix) => ['PATCH', `${WAREHOUSES}/w${suffix}`, { defaults: { k: 'v' } }],
      isApplied: async (suffix) =>
        (member(await warehouseOf(suffix), 'defaults') as JsonObject)['k'] === 'v',
    },
    {
      name: 'deleteWarehouse',
      isAdmin: true,
      prepare: makeWarehouse,
      request: (suffix) => ['DELETE', `${WAREHOUSES}/w${suffix}`],
      isApplied: async (suffix) => (await warehouseOf(suffix))['error'] !== undefined,
    },
    {
      name: 'createNamespace',
      request: (suffix) => ['POST', NAMESPACES, { namespace: [`n${suffix}`] }],
      isApplied: (suffix) => exists(`${NAMESPACES}/n${suffix}`),
    },
    {
      name: 'updateProperties',
      prepare: (suffix) => makeNamespace(catalog, [`n${suffix}`], { old: '1' }),
      request: (suffix) => [
        'POST',
        `${NAMESPACES}/n${suffix}/properties`,
        { updates: { k: 'v' }, removals: ['old'] },
      ],
      isApplied: async (suffix) => {
        const { k, old } = await propertiesOf(`${NAMESPACES}/n${suffix}`)
        return k === 'v' && old === undefined
      },
    },
    {
      name: 'dropNamespace',
      prepare: (suffix) => makeNamespace(catalog, [`n${suffix}`]),
      request: (suffix) => ['DELETE', `${NAMESPACES}/n${suffix}`],
      isApplied: async (suffix) => !(await exists(`${NAMESPACES}/n${suffix}`)),
    },
    {
      name: 'createTable',
      request: (suffix) => ['POST', `${NS}/tables`, { name: `t${suffix}`, schema: SCHEMA }],
      isApplied: (suffix) => exists(`${NS}/tables/t${suffix}`),
    },
    {
      name: 'updateTable',
      prepare: (suffix) => table(`t${suffix}`),
      request: (suffix) => ['POST', `${NS}/tables/t${suffix}`, setProperty('k', 'v')],
      isApplied: async (suffix) => {
        const { json } = await catalog.call('GET', `${NS}/tables/t${suffix}`)
        return (member(json, 'metadata', 'properties') as JsonObject)['k'] === 'v'
      },
    },
    {
      name: 'registerTable',
      prepare: async (suffix) => {
        const made = await table(`gone${suffix}`)
        await catalog.call('DELETE', made.path)
        registered = made.metadataLocation
      },
      request: (suffix) => [
        'POST',
        `${NS}/register`,
        { name: `t${suffix}`, 'metadata-location': registered },
      ],
      isApplied: (suffix) => exists(`${NS}/tables/t${suffix}`),
    },
    {
      name: 'registerTable with overwrite',
      prepare: async (suffix) => {
        const made = await table(`t${suffix}`)
        await catalog.call('POST', made.path, { body: setProperty('k', 'v') })
        registered = made.metadataLocation
      },
      request: (suffix) => [
        'POST',
        `${NS}/register`,
        { name: `t${suffix}`, 'metadata-location': registered, overwrite: true },
      ],
      isApplied: async (suffix) => {
        const { json } = await catalog.call('GET', `${NS}/tables/t${suffix}`)
        return textAt(json, 'metadata-location') === registered
      },
    },
    {
      name: 'renameTable',
      prepare: (suffix) => table(`t${suffix}`),
      request: (suffix) => [
        'POST',
        '/v1/main/tables/rename',
        {
          source: { namespace: ['ns'], name: `t${suffix}` },
          destination: { namespace: ['other'], name: `t${suffix}` },
        },
      ],
      isApplied: async (suffix) =>
        (await exists(`${NAMESPACES}/other/tables/t${suffix}`)) &&
        !(await exists(`${NS}/tables/t${suffix}`)),
    },
    {
      name: 'dropTable',
      prepare: (suffix) => table(`t${suffix}`),
      request: (suffix) => ['DELETE', `${NS}/tables/t${suffix}`],
      isApplied: async (suffix) => !(await exists(`${NS}/tables/t${suffix}`)),
    },
    {
      name: 'createView',
      request: (suffix) => ['POST', `${NS}/views`, viewBody(`v${suffix}`)],
      isApplied: (suffix) => exists(`${NS}/views/v${suffix}`),
    },
    {
      name: 'dropView',
      prepare: (suffix) => makeView(catalog, { levels: ['ns'], name: `v${suffix}` }),
      request: (suffix) => ['DELETE', `${NS}/views/v${suffix}`],
      isApplied: async (suffix) => !(await exists(`${NS}/views/v${suffix}`)),
    },
  ]

  async function begin(mutation: Mutation) {
    count += 1
    const suffix = `${count}`
    await mutation.prepare?.(suffix)
    const [method, path, body] = mutation.request(suffix)
    const headers = (key?: number) =>
      key === undefined
        ? {}
        : { 'idempotency-key': `eeeeeeee-0000-4000-8000-${String(key).padStart(12, '0')}` }
    return {
      isApplied: () => mutation.isApplied(suffix),
      send: (key?: number): Promise<TestAnswer> =>
        catalog.call(method, path, {
          headers: headers(key),
          ...(body === undefined ? {} : { body }),
        }),
      events: async () => (await catalog.database.query('select seq from outbox_event')).length,
    }
  }

  it.each(mutations)(
    '$name is applied once, though it or its answer was lost',
    async (mutation) => {
      for (const lose of ['before', 'after'] as const) {
        const eventCount = mutation.isAdmin === true ? 0 : 1
        for (const key of mutation.isAdmin === true ? [undefined] : [undefined, count + 1_000]) {
          const { send, isApplied, events } = await begin(mutation)
          const before = await events()
          faults = { lose, onLost: () => (faults = {}) }
          const answer = await send(key)
          expect(answer.status, `${lose}: ${answer.text}`).toBeLessThan(300)
          expect(faults).toEqual({})
          expect(await isApplied()).toBe(true)
          expect(await events(), lose).toBe(before + eventCount)
          if (key === undefined) continue
          const again = await send(key)
          expect([again.status, again.text]).toEqual([answer.status, answer.text])
          expect(await events()).toBe(before + 1)
        }
      }
    },
  )

  it.each(mutations)('$name is unknown when nothing can be found out', async (mutation) => {
    const { send, isApplied } = await begin(mutation)
    faults = { lose: 'after', onLost: () => (faults = { isDown: true }) }
    const answer = await send()
    expect(answer.status, answer.text).toBe(500)
    expect(errorOf(answer).type).toBe('CommitStateUnknownException')
    faults = {}
    expect(await isApplied()).toBe(true)
  })

  it.each(mutations)(
    '$name is not applied, and says so, while the database is down',
    async (mutation) => {
      const { send, isApplied } = await begin(mutation)
      for (const key of [undefined, count + 2_000]) {
        faults = { isDown: true }
        const answer = await send(key)
        expect(answer.status, answer.text).toBe(503)
        expect(errorOf(answer).code).toBe(503)
        expect(answer.headers['retry-after']).toBe('1')
        faults = {}
        expect(await isApplied()).toBe(false)
      }
      expect((await send(count + 2_000)).status).toBeLessThan(300)
    },
  )

  it('reads are answered 503 in the envelope while the database is down, and health says why', async () => {
    const fresh = await openTestCatalog({
      on,
      wrapDatabase: (database) => faultyDatabase(database, () => faults),
    })
    faults = { isDown: true }
    for (const path of [
      '/v1/config',
      NAMESPACES,
      NS,
      `${NS}/tables`,
      `${NS}/tables/t`,
      `${NS}/views`,
      `${NS}/views/v`,
      '/admin/v1/tables',
    ]) {
      const answer = await fresh.call('GET', path)
      expect(answer.status, path).toBe(503)
      expect(errorOf(answer)).toMatchObject({ code: 503, type: 'SlowDownException' })
      expect(answer.headers['retry-after']).toBe('1')
      expect(answer.text).not.toContain('down')
    }
    const ready = await fresh.call('GET', '/health/ready')
    expect(ready.status).toBe(503)
    expect(ready.json).toEqual({ status: 'not-ready', reason: 'the database is unreachable' })
    expect((await fresh.call('GET', '/health/live')).status).toBe(200)
    faults = {}
    expect((await fresh.call('GET', '/health/ready')).json).toEqual({ status: 'ready' })
    await fresh.stop()
  })
})
