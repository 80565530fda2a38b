import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureWarehouse } from '@timelake/database/warehouses'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { waitFor } from '@timelake/testing/wait-for'
import type { TestAnswer, TestCatalog } from '../open-test-catalog.ts'
import { giveRole, makeAccount, openGuardedCatalog, type CallAs } from '../test-accounts.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, segment, type TestTable } from '../test-tables.ts'
import { makeView, viewBody, type TestView } from '../test-views.ts'

let catalog: TestCatalog
let table: TestTable
let foreign: TestTable
let view: TestView
let reader: CallAs
let writer: CallAs
let warehouseWriter: CallAs
let deep: CallAs

const NS = '/v1/main/namespaces'

beforeAll(async () => {
  catalog = await openGuardedCatalog()
  const { database, clock, warehouse } = catalog
  const nowMs = clock.nowMs()
  await ensureWarehouse(database, {
    id: 'hidden-warehouse',
    name: 'hidden',
    location: `${warehouse.location}-hidden`,
    nowMs,
  })
  for (const levels of [['own'], ['foreign'], ['foreign', 'deep'], ['foreign', 'deep', 'mine']]) {
    await makeNamespace(catalog, levels, { note: `of ${levels.join(' ')}` })
  }
  table = await makeTable(catalog, { levels: ['own'], name: 't' })
  foreign = await makeTable(catalog, { levels: ['foreign'], name: 't' })
  view = await makeView(catalog, { levels: ['own'], name: 'v' })
  const own = { warehouse: 'main', namespace: ['own'] }
  reader = await makeAccount(catalog, 'reader', [{ role: 'reader', ...own }])
  writer = await makeAccount(catalog, 'writer', [{ role: 'writer', ...own }])
  warehouseWriter = await makeAccount(catalog, 'warehouse-writer', [
    { role: 'writer', warehouse: 'main' },
  ])
  deep = await makeAccount(catalog, 'deep', [
    { role: 'reader', warehouse: 'main', namespace: ['foreign', 'deep', 'mine'] },
  ])
})
afterAll(() => catalog.stop())

const setProperty = (value: string): JsonObject => ({
  updates: [{ action: 'set-properties', updates: { value } }],
})
const forbids = (answer: TestAnswer): void => {
  expect(answer.status, answer.text).toBe(403)
  expect(errorOf(answer).type).toBe('ForbiddenException')
}
const change = (levels: readonly string[], name: string, more: JsonObject = {}): JsonObject => ({
  identifier: { namespace: levels, name },
  requirements: [],
  updates: [],
  ...more,
})
const transaction = (...changes: JsonObject[]): JsonObject => ({ 'table-changes': changes })
const valueOf = async (path: string): Promise<unknown> => {
  const { json } = await catalog.call('GET', path)
  return (member(json, 'metadata', 'properties') as JsonObject)['value']
}

describe('a reader', () => {
  it('loads and lists', async () => {
    for (const path of [table.path, view.path, `${NS}/own`, `${NS}/own/tables`, `${NS}/own/views`])
      expect((await reader('GET', path)).status).toBe(200)
    for (const path of [table.path, view.path, `${NS}/own`])
      expect((await reader('HEAD', path)).status).toBe(204)
  })

  it.each<[string, string, () => string, JsonObject?]>([
    ['commits', 'POST', () => table.path, setProperty('x')],
    ['drops a table', 'DELETE', () => table.path],
    ['commits a view', 'POST', () => view.path, setProperty('x')],
    ['drops a view', 'DELETE', () => view.path],
    ['drops a namespace', 'DELETE', () => `${NS}/own`],
    ['sets properties', 'POST', () => `${NS}/own/properties`, { updates: { a: 'b' } }],
    ['creates a table', 'POST', () => `${NS}/own/tables`, { name: 'n', schema: SCHEMA }],
    ['stages a table', 'POST', () => `${NS}/own/tables`, { name: 'n', 'stage-create': true }],
    ['creates a view', 'POST', () => `${NS}/own/views`, viewBody('n')],
    ['creates a namespace below', 'POST', () => NS, { namespace: ['own', 'below'] }],
    ['appends', 'POST', () => `/lake${table.path}/appends`, {}],
  ])('never %s', async (_what, method, path, body) => {
    forbids(await reader(method, path(), body === undefined ? {} : { body }))
  })
})

describe('a writer of a namespace', () => {
  it('changes what is in it, and namespaces below', async () => {
    expect((await writer('POST', table.path, { body: setProperty('1') })).status).toBe(200)
    const body = { namespace: ['own', 'below'] }
    expect((await writer('POST', NS, { body })).status).toBe(200)
    const made = await writer('POST', `${NS}/${segment('own', 'below')}/tables`, {
      body: { name: 'n', schema: SCHEMA },
    })
    expect(made.status, made.text).toBe(200)
  })

  it('makes no namespace beside it, and is told the same whether that is there', async () => {
    const answers = [
      await writer('POST', NS, { body: { namespace: ['foreign'] } }),
      await writer('POST', NS, { body: { namespace: ['unknown'] } }),
    ]
    answers.forEach(forbids)
    expect(answers[0]?.text.replaceAll('foreign', 'unknown')).toBe(answers[1]?.text)
  })

  it.each(['tables', 'views'])('renames %s only where it writes at both ends', async (kind) => {
    const own = { namespace: ['own'], name: kind === 'tables' ? 't' : 'v' }
    for (const other of ['foreign', 'unknown']) {
      const there = { namespace: [other], name: 't' }
      const path = `/v1/main/${kind}/rename`
      forbids(await writer('POST', path, { body: { source: own, destination: there } }))
      forbids(await writer('POST', path, { body: { source: there, destination: own } }))
    }
  })

  it('B204: is refused a whole transaction that names a table elsewhere, and not told whether it is there', async () => {
    const before = await valueOf(table.path)
    const mine = change(['own'], 't', setProperty('by transaction'))
    const uuid = { requirements: [{ type: 'assert-table-uuid', uuid: foreign.uuid }] }
    const others = [
      change(['foreign'], 't', uuid),
      change(['foreign'], 't', setProperty('x')),
      change(['foreign'], 'unknown', uuid),
      change(['unknown'], 't', uuid),
    ]
    const texts = new Set<string>()
    for (const other of others) {
      for (const body of [transaction(mine, other), transaction(other, mine)]) {
        const answer = await writer('POST', '/v1/main/transactions/commit', { body })
        forbids(answer)
        texts.add(answer.text.replaceAll('foreign', 'unknown'))
      }
    }
    expect([...texts]).toHaveLength(1)
    expect(await valueOf(table.path)).toBe(before)
    const body = transaction(mine)
    expect((await writer('POST', '/v1/main/transactions/commit', { body })).status).toBe(204)
    expect(await valueOf(table.path)).toBe('by transaction')
  })
})

describe('what lies where the caller has no role', () => {
  it.each<[string, string, string, JsonObject?]>([
    ['NoSuchTableException', 'GET', 'tables/t'],
    ['NoSuchTableException', 'POST', 'tables/t', { updates: [] }],
    ['NoSuchTableException', 'DELETE', 'tables/t'],
    ['NoSuchTableException', 'POST', 'tables/t/metrics', {}],
    ['NoSuchTableException', 'GET', 'tables/t/credentials'],
    ['NoSuchTableException', 'POST', 'tables/t/plan', {}],
    ['NoSuchTableException', 'POST', 'tables/t/tasks', { 'plan-task': 'x' }],
    ['NoSuchViewException', 'GET', 'views/v'],
    ['NoSuchNamespaceException', 'GET', 'tables'],
    ['NoSuchNamespaceException', 'GET', 'views'],
    ['NoSuchNamespaceException', 'POST', 'tables', { name: 'n', schema: SCHEMA }],
    ['NoSuchNamespaceException', 'POST', 'register', { name: 'n', 'metadata-location': 'x' }],
    ['NoSuchNamespaceException', 'POST', 'properties', { updates: {} }],
  ])('is missing like what is not there: %s for %s %s', async (type, method, rest, body) => {
    const answers: TestAnswer[] = []
    for (const namespace of ['foreign', 'unknown']) {
      const path = `${NS}/${namespace}/${rest}`
      answers.push(await writer(method, path, body === undefined ? {} : { body }))
    }
    const [hidden, unknown] = answers
    expect(hidden?.status).toBe(404)
    expect(hidden && errorOf(hidden).type).toBe(type)
    expect(hidden?.text.replaceAll('foreign', 'unknown')).toBe(unknown?.text)
  })

  it('is a warehouse, which is unknown then', async () => {
    for (const path of [
      '/v1/NAME/namespaces',
      '/v1/config?warehouse=NAME',
      '/lake/v1/NAME/events',
    ]) {
      const hidden = await writer('GET', path.replace('NAME', 'hidden'))
      const unknown = await writer('GET', path.replace('NAME', 'missin'))
      expect(hidden.status).toBe(404)
      expect(hidden.text.replaceAll('hidden', 'missin')).toBe(unknown.text)
    }
    expect((await catalog.call('GET', '/v1/hidden/namespaces')).status).toBe(200)
  })
})

describe('listings', () => {
  const names = (answer: TestAnswer): unknown => member(answer.json, 'namespaces')

  it('B227: show the namespaces that the caller sees, in whole pages', async () => {
    const own = [['own']]
    expect(names(await reader('GET', NS))).toEqual(own)
    expect(names(await deep('GET', NS))).toEqual([['foreign']])
    expect(names(await deep('GET', `${NS}?parent=foreign`))).toEqual([['foreign', 'deep']])
    const parent = segment('foreign', 'deep')
    expect(names(await deep('GET', `${NS}?parent=${parent}`))).toEqual([
      ['foreign', 'deep', 'mine'],
    ])
    const page = await reader('GET', `${NS}?pageSize=1`)
    expect(names(page)).toEqual(own)
    expect(member(page.json, 'next-page-token')).toBeNull()
    expect((await reader('GET', `${NS}?parent=foreign`)).status).toBe(404)
  })

  it('B227: page through what is seen alone, however much lies between', async () => {
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) await makeNamespace(catalog, [name])
    const some = await makeAccount(
      catalog,
      'some',
      ['p2', 'p4', 'p5'].map((name) => ({ role: 'reader', warehouse: 'main', namespace: [name] })),
    )
    const first = await some('GET', `${NS}?pageSize=2`)
    expect(names(first)).toEqual([['p2'], ['p4']])
    const token = textAt(first.json, 'next-page-token')
    const second = await some('GET', `${NS}?pageSize=2&pageToken=${token}`)
    expect(names(second)).toEqual([['p5']])
    expect(member(second.json, 'next-page-token')).toBeNull()
  })

  it('B227: of tables and views are forbidden, never empty, where only something below is seen', async () => {
    for (const kind of ['tables', 'views']) forbids(await deep('GET', `${NS}/foreign/${kind}`))
    expect((await deep('GET', foreign.path)).status).toBe(404)
  })
})

it('a namespace that holds one with a role shows its name alone', async () => {
  const { status, json } = await deep('GET', `${NS}/foreign`)
  expect(status).toBe(200)
  expect(json).toEqual({ namespace: ['foreign'], properties: {} })
  expect((await deep('HEAD', `${NS}/foreign`)).status).toBe(204)
  expect((await deep('HEAD', `${NS}/own`)).status).toBe(404)
  forbids(await deep('DELETE', `${NS}/foreign`))
  const mine = await deep('GET', `${NS}/${segment('foreign', 'deep', 'mine')}`)
  expect(textAt(mine.json, 'properties', 'note')).toBe('of foreign deep mine')
})

describe('I58, B193, B195: a writer of a namespace places nothing', () => {
  const places = (): readonly string[] => [
    `${catalog.warehouse.location}/elsewhere`,
    foreign.location,
    `${foreign.location}/inside`,
    foreign.location.slice(0, foreign.location.lastIndexOf('/')),
  ]

  it('outside the location of its namespace, by a new table, view or namespace', async () => {
    for (const location of places()) {
      const bodies: [string, JsonObject][] = [
        [`${NS}/own/tables`, { name: 'n', schema: SCHEMA, location }],
        [`${NS}/own/tables`, { name: 'n', schema: SCHEMA, location, 'stage-create': true }],
        [
          `${NS}/own/tables`,
          { name: 'n', schema: SCHEMA, properties: { 'write.data.path': location } },
        ],
        [`${NS}/own/views`, viewBody('n', { location })],
        [NS, { namespace: ['own', 'placed'], properties: { location } }],
        [`${NS}/own/properties`, { updates: { location } }],
      ]
      for (const [path, body] of bodies) {
        const answer = await writer('POST', path, { body })
        expect([400, 403], answer.text).toContain(answer.status)
      }
    }
  })

  it('by a commit, alone or in a transaction', async () => {
    for (const location of places()) {
      const moves = [
        { updates: [{ action: 'set-location', location }] },
        { updates: [{ action: 'set-properties', updates: { 'write.data.path': location } }] },
        { updates: [{ action: 'set-properties', updates: { 'write.metadata.path': location } }] },
      ]
      for (const body of moves) {
        forbids(await writer('POST', table.path, { body }))
        const both = transaction(change(['own'], 't', body))
        forbids(await writer('POST', '/v1/main/transactions/commit', { body: both }))
      }
    }
    const moved = { updates: [{ action: 'set-location', location: places()[0] ?? '' }] }
    forbids(await writer('POST', view.path, { body: moved }))
  })

  it('but below its location, and where its table is already', async () => {
    const { json } = await writer('GET', `${NS}/own`)
    const location = `${textAt(json, 'properties', 'location')}/placed`
    const made = await writer('POST', `${NS}/own/tables`, {
      body: { name: 'placed', schema: SCHEMA, location },
    })
    expect(made.status, made.text).toBe(200)
    const stays = { updates: [{ action: 'set-location', location: table.location }] }
    expect((await writer('POST', table.path, { body: stays })).status).toBe(200)
  })

  it('by registering a metadata file of somebody else, whose text it would read then', async () => {
    const dropped = await makeTable(catalog, { levels: ['foreign'], name: 'dropped' })
    await catalog.call('DELETE', dropped.path)
    const body = { name: 'mine', 'metadata-location': dropped.metadataLocation }
    const answer = await writer('POST', `${NS}/own/register`, { body })
    expect([400, 403], answer.text).toContain(answer.status)
    expect(answer.text).not.toContain(dropped.uuid)
    const everywhere = await warehouseWriter('POST', `${NS}/own/register`, { body })
    expect(everywhere.status, everywhere.text).toBe(200)
  })
})

describe('an Idempotency-Key', () => {
  const key = 'aaaaaaaa-0000-4000-8000-000000000001'
  const create = (call: CallAs, name: string) =>
    call('POST', `${NS}/own/tables`, {
      headers: { 'idempotency-key': key },
      body: { name, schema: SCHEMA },
    })

  it('belongs to its caller: nobody is answered, refused or told anything for that of another', async () => {
    expect((await create(writer, 'keyed')).status).toBe(200)
    const same = await create(warehouseWriter, 'keyed')
    expect([same.status, errorOf(same).type]).toEqual([409, 'AlreadyExistsException'])
    expect((await create(warehouseWriter, 'keyed')).text).toBe(same.text)
    expect((await create(writer, 'keyed')).status).toBe(200)
    const other = await create(writer, 'keyed-2')
    expect(errorOf(other).type).toBe('IdempotencyConflictException')
  })

  it('gives nothing to a caller whose role was taken away', async () => {
    const short = await makeAccount(catalog, 'short', [])
    const { json } = await giveRole(catalog, 'short', { role: 'writer', warehouse: 'main' })
    expect((await create(short, 'short-keyed')).status).toBe(200)
    await catalog.call('DELETE', `/admin/v1/grants/${textAt(json, 'id')}`)
    expect((await create(short, 'short-keyed')).status).toBe(404)
  })

  it('is found again by its caller alone', async () => {
    const path = `/lake${table.path}/commits?idempotency-key=${key.replace('1', '2')}`
    const headers = { 'idempotency-key': key.replace('1', '2') }
    await writer('POST', table.path, { headers, body: setProperty('found') })
    expect(textAt((await writer('GET', path)).json, 'outcome')).toBe('landed')
    expect(textAt((await warehouseWriter('GET', path)).json, 'outcome')).toBe('unknown')
  })
})

it('events are those of namespaces where the caller has a role', async () => {
  const secret = await makeTable(catalog, { levels: ['foreign'], name: 'secret-name' })
  const rename = (source: string, destination: string) =>
    catalog.call('POST', '/v1/main/tables/rename', {
      body: {
        source: { namespace: [source], name: 'secret-name' },
        destination: { namespace: [destination], name: 'secret-name' },
      },
    })
  await rename('foreign', 'own')
  await rename('own', 'foreign')
  const events = await reader('GET', '/lake/v1/main/events?limit=1000')
  expect(events.status).toBe(200)
  const listed = member(events.json, 'events') as { namespace: string[] }[]
  expect(listed.length).toBeGreaterThan(0)
  expect(listed.every(({ namespace }) => namespace[0] === 'own')).toBe(true)
  expect(events.text).not.toContain('secret-name')
  expect(events.text).not.toContain(secret.uuid)
  const all = await warehouseWriter('GET', '/lake/v1/main/events?limit=1000')
  expect(all.text).toContain('secret-name')
  const asked = await reader('GET', '/lake/v1/main/events?namespace=foreign')
  expect(member(asked.json, 'events')).toEqual([])
})

describe('tables by id', () => {
  let id: string
  let admin: CallAs
  beforeAll(async () => {
    const { json } = await catalog.call('GET', '/admin/v1/tables?warehouse=main')
    const rows = member(json, 'tables') as { id: string; 'table-uuid': string }[]
    id = rows.find((row) => row['table-uuid'] === table.uuid)?.id ?? ''
    const own = { warehouse: 'main', namespace: ['own'] }
    admin = await makeAccount(catalog, 'own-admin', [{ role: 'admin', ...own }])
  })

  it.each(['', '/maintenance', '/queue'])(
    'are for those who administer the namespace: %s',
    async (rest) => {
      expect((await admin('GET', `/admin/v1/tables/${id}${rest}`)).status).toBe(200)
      forbids(await writer('GET', `/admin/v1/tables/${id}${rest}`))
      const hidden = await deep('GET', `/admin/v1/tables/${id}${rest}`)
      const unknown = await deep('GET', `/admin/v1/tables/${id.replace(/^./, 'x')}${rest}`)
      expect([hidden.status, unknown.status]).toEqual([404, 404])
    },
  )

  it('are listed for those who administer the warehouse', async () => {
    for (const path of ['/admin/v1/tables', '/admin/v1/dropped-tables']) {
      forbids(await admin('GET', path))
      expect((await admin('GET', `${path}?warehouse=hidden`)).status).toBe(404)
    }
  })

  it('come back for those who administer both where they were and where they go', async () => {
    const dropped = await makeTable(catalog, { levels: ['own'], name: 'back' })
    const { json } = await catalog.call('GET', '/admin/v1/tables?warehouse=main')
    const rows = member(json, 'tables') as { id: string; 'table-uuid': string }[]
    const row = rows.find((one) => one['table-uuid'] === dropped.uuid)
    await catalog.call('DELETE', dropped.path)
    const path = `/admin/v1/dropped-tables/${row?.id}/undrop`
    forbids(await writer('POST', path))
    expect((await deep('POST', path)).status).toBe(404)
    forbids(await admin('POST', path, { body: { namespace: ['foreign'] } }))
    expect((await admin('POST', path)).status).toBe(200)
  })
})

describe('the audit log', () => {
  const entries = async (query: string) => {
    const { json } = await catalog.call('GET', `/admin/v1/audit?${query}`)
    return member(json, 'entries') as JsonObject[]
  }

  it('tells changes, denials and who it was, with what they were about', async () => {
    await writer('POST', `${NS}/own/tables`, { body: { name: 'audited', schema: SCHEMA } })
    await reader('DELETE', `${NS}/own/tables/audited`)
    await writer('GET', `${NS}/foreign/tables/t`)
    await writer('POST', '/v1/main/transactions/commit', {
      body: transaction(change(['own'], 't'), change(['foreign'], 't')),
    })
    await reader('DELETE', `${NS}/own/tables/last`)
    await waitFor(async () => (await entries('action=dropTable'))[0]?.['object'] === 'last', {
      timeoutMs: 10_000,
    })
    const [created] = await entries('action=createTable&caller=writer&outcome=done')
    expect(created).toMatchObject({
      'caller-name': 'writer',
      'caller-kind': 'account',
      status: 200n,
      warehouse: 'main',
      namespace: ['own'],
      object: 'audited',
    })
    const [, denied] = await entries('action=dropTable&caller=reader')
    expect(denied).toMatchObject({ outcome: 'denied', status: 403n, object: 'audited' })
    const [hidden] = await entries('action=loadTable&caller=writer')
    expect(hidden).toMatchObject({ outcome: 'denied', status: 404n, namespace: ['foreign'] })
    const [whole] = await entries('action=commitTransaction&outcome=denied')
    expect(whole).toMatchObject({ detail: 'own.t, foreign.t' })
    const [grant] = await entries('caller=operator&action=createGrant')
    expect(grant).toMatchObject({ object: 'own-admin', detail: 'admin in main.own' })
    // Reading leaves no trace where it was let in.
    expect(await entries('action=loadTable&outcome=done')).toEqual([])
  })
})
