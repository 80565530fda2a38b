import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { ensureWarehouse } from '@timelake/database/warehouses'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { Route } from '../http/route.ts'
import type { TestAnswer, TestCatalog } from '../open-test-catalog.ts'
import { ROUTES } from '../routes.ts'
import { makeAccount, openGuardedCatalog, type CallAs } from '../test-accounts.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { member, textAt } from '../test-json.ts'
import { segment } from '../test-tables.ts'
import { viewBody } from '../test-views.ts'

/*
 * Two tenants against each other with every route of the server. What a tenant is answered about things of the other must be
 * what it is answered about things that do not exist, byte for byte; nothing that only the other knows may come back; and
 * whatever is sent, the other's world stays as it is.
 */

const RUNS = 400

interface Tenant {
  readonly name: string
  readonly call: CallAs
  readonly levels: readonly string[]
  readonly warehouse: string
  readonly table: ThingOf
  readonly view: ThingOf
  readonly droppedId: string
  readonly planId: string
  /** Texts that nobody but the tenant may learn. */
  readonly secrets: readonly string[]
}

interface ThingOf {
  readonly id: string
  readonly uuid: string
  readonly location: string
  readonly metadataLocation: string
}

const KEY = 'bbbbbbbb-0000-4000-8000-00000000000'

let catalog: TestCatalog
let alpha: Tenant
let beta: Tenant

beforeAll(async () => {
  catalog = await openGuardedCatalog()
  await catalog.call('POST', '/v1/main/namespaces', { body: { namespace: ['both'] } })
  alpha = await makeTenant('alpha', 1)
  beta = await makeTenant('betaa', 2)
})
afterAll(() => catalog.stop())

/** A tenant has a namespace below one that both see, a table, a view, a dropped table, and a warehouse of its own. */
async function makeTenant(name: string, number: number): Promise<Tenant> {
  const warehouse = `${name}-lake`
  await ensureWarehouse(catalog.database, {
    id: `warehouse-${number}`,
    name: warehouse,
    location: `${catalog.warehouse.location}-${name}`,
    nowMs: catalog.clock.nowMs(),
  })
  const levels = ['both', name]
  const call = await makeAccount(catalog, name, [
    { role: 'admin', warehouse: 'main', namespace: levels },
    { role: 'admin', warehouse },
  ])
  const secret = `secret-of-${name}`
  const made = await call('POST', '/v1/main/namespaces', {
    body: { namespace: levels, properties: { secret } },
    headers: { 'idempotency-key': `${KEY}${number}` },
  })
  expect(made.status, made.text).toBe(200)
  const base = `/v1/main/namespaces/${segment(...levels)}`
  const properties = { secret }
  const create = async (kind: string, body: JsonObject) => {
    const answer = await call('POST', `${base}/${kind}`, { body })
    expect(answer.status, answer.text).toBe(200)
    return answer
  }
  const tableAnswer = await create('tables', { name: `tbl-${name}`, schema: SCHEMA, properties })
  const viewAnswer = await create('views', { ...viewBody(`view-${name}`), properties })
  await create('tables', { name: 'gone', schema: SCHEMA, properties })
  const listed = await catalog.call('GET', '/admin/v1/tables?warehouse=main')
  // `as`: what the route answers.
  const rows = member(listed.json, 'tables') as { id: string; name: string; namespace: string[] }[]
  const idOf = (thing: string) =>
    rows.find((row) => row.name === thing && row.namespace[1] === name)?.id ?? ''
  await call('DELETE', `${base}/tables/gone`)
  const planned = await call('POST', `${base}/tables/tbl-${name}/plan`, { body: {} })
  const table = thingOf(tableAnswer, idOf(`tbl-${name}`), 'table-uuid')
  const view = thingOf(viewAnswer, '', 'view-uuid')
  return {
    ...{ name, call, levels, warehouse, table, view },
    droppedId: idOf('gone'),
    planId: planned.text.match(/"plan-id":"([^"]*)"/)?.[1] ?? 'none',
    secrets: [secret, table.uuid, view.uuid, table.location, view.location, table.id],
  }
}

function thingOf(answer: TestAnswer, id: string, uuidMember: string): ThingOf {
  const metadata = member(answer.json, 'metadata')
  return {
    id,
    uuid: textAt(metadata, uuidMember),
    location: textAt(metadata, 'location'),
    metadataLocation: textAt(answer.json, 'metadata-location'),
  }
}

/** Names for a request: those of things, or of nothing, in the same places and of the same length. */
interface Names {
  readonly prefix: string
  readonly levels: readonly string[]
  readonly table: string
  readonly view: string
  readonly id: string
  readonly account: string
  readonly planId: string
  readonly uuid: string
  readonly location: string
  readonly metadataLocation: string
}

const namesOf = (tenant: Tenant, prefix = 'main'): Names => ({
  prefix,
  levels: tenant.levels,
  table: `tbl-${tenant.name}`,
  view: `view-${tenant.name}`,
  id: tenant.table.id,
  account: tenant.name,
  planId: tenant.planId,
  uuid: tenant.table.uuid,
  location: tenant.table.location,
  metadataLocation: tenant.table.metadataLocation,
})

/** Names of nothing, each as long as the name that it stands for. */
const missing = (names: Names): Names => ({
  prefix: names.prefix === 'main' ? 'main' : flipped(names.prefix),
  levels: [names.levels[0] ?? '', ...names.levels.slice(1).map(flipped)],
  table: flipped(names.table),
  view: flipped(names.view),
  id: flipped(names.id),
  account: flipped(names.account),
  planId: flipped(names.planId),
  uuid: flipped(names.uuid),
  location: flipped(names.location),
  metadataLocation: flipped(names.metadataLocation),
})

/** Another text of the same length, in which no part of the first one is left at its end. */
function flipped(text: string): string {
  return text.replace(/[a-z0-9](?=[^a-z0-9]*$)/, (last) => (last === '7' ? '8' : '7'))
}

/**
 * The answer with a sign in place of each name. A cursor counts the transactions of the whole server, which everybody may
 * know the number of.
 */
function unnamed(text: string, names: Names): string {
  const signs: [string, string][] = [
    ...Object.entries(names).map(([sign, name]): [string, string] => [sign, namesText(name)]),
    ['level', names.levels.at(-1) ?? ''],
  ]
  const longestFirst = signs.sort(([, one], [, other]) => other.length - one.length)
  return longestFirst
    .reduce((answer, [sign, name]) => answer.replaceAll(name, `<${sign}>`), text)
    .replace(/"next-cursor":"[^"]*"/, '"next-cursor":"<cursor>"')
}

function namesText(name: string | readonly string[]): string {
  return typeof name === 'string' ? name : name.join('.')
}

function pathOf({ template }: Route, names: Names): string {
  const isWarehouse = template.includes('/warehouses/')
  const values: Readonly<Record<string, string>> = {
    prefix: names.prefix,
    namespace: segment(...names.levels),
    table: names.table,
    view: names.view,
    id: names.id,
    name: isWarehouse ? names.prefix : names.account,
    'plan-id': names.planId,
  }
  return template.replaceAll(/\{([^}]*)\}/g, (_all, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`this test has no value for {${name}}`)
    return name === 'namespace' ? value : encodeURIComponent(value)
  })
}

const change = ({ levels, table, uuid }: Names): JsonObject => ({
  identifier: { namespace: levels, name: table },
  requirements: [{ type: 'assert-table-uuid', uuid }],
  updates: [{ action: 'set-properties', updates: { by: 'the other' } }],
})
const identifier = (levels: readonly string[], name: string): JsonObject => ({
  namespace: levels,
  name,
})

/** Bodies for every route that takes one. */
const BODIES: Readonly<Record<string, (names: Names, own: Tenant) => readonly JsonValue[]>> = {
  createNamespace: ({ levels, location }, own) => [
    { namespace: levels },
    { namespace: [...levels, 'below'] },
    { namespace: levels.slice(-1) },
    { namespace: [...own.levels, 'placed'], properties: { location } },
  ],
  updateProperties: ({ location }) => [{ updates: { by: 'the other', location } }],
  registerTable: ({ table, metadataLocation }) => [
    { name: table, 'metadata-location': metadataLocation, overwrite: true },
  ],
  createTable: ({ table, location }) => [
    { name: table, schema: SCHEMA },
    { name: 'new', schema: SCHEMA, location, 'stage-create': true },
  ],
  updateTable: (names) => [
    change(names),
    appendBody({ id: 9n, sequenceNumber: 1n, location: names.location }),
  ],
  loadCredentials: () => [null],
  signRequest: ({ location }) => [
    { region: 'us-east-1', uri: location.replace('file', 'http'), method: 'GET', headers: {} },
  ],
  reportMetrics: () => [{ 'report-type': 'scan-report' }],
  planTableScan: () => [{}, { 'snapshot-id': 9n }],
  fetchScanTasks: ({ planId }) => [{ 'plan-task': planId }],
  renameTable: ({ levels, table }, own) => [
    { source: identifier(levels, table), destination: identifier(own.levels, 'stolen') },
    {
      source: identifier(own.levels, `tbl-${own.name}`),
      destination: identifier(levels, 'pushed'),
    },
    { source: identifier(own.levels, `tbl-${own.name}`), destination: identifier(levels, table) },
  ],
  renameView: ({ levels, view }, own) => [
    { source: identifier(levels, view), destination: identifier(own.levels, 'stolen') },
    { source: identifier(own.levels, `view-${own.name}`), destination: identifier(levels, view) },
  ],
  registerView: ({ view, metadataLocation }) => [
    { name: view, 'metadata-location': metadataLocation },
  ],
  createView: ({ view, location }) => [viewBody(view), viewBody('new', { location })],
  replaceView: () => [{ updates: [{ action: 'set-properties', updates: { by: 'the other' } }] }],
  commitTransaction: (names, own) => [
    { 'table-changes': [change(names)] },
    { 'table-changes': [change(namesOf(own)), change(names)] },
  ],
  appendFiles: () => [{ 'batch-id': 'b', branch: 'main', paths: [] }],
  getToken: () => ['grant_type=client_credentials&client_id=x&client_secret=y'],
  compactTable: () => [{}],
  undropTable: ({ levels, table }) => [{}, identifier(levels, table)],
  keepDroppedTable: () => [{}],
  createWarehouse: ({ prefix, location }) => [
    { name: prefix, location, storage: { type: 'file' } },
    { name: 'grabbed', location, storage: { type: 'file' } },
  ],
  probeNewWarehouse: ({ prefix, location }) => [
    { name: prefix, location, storage: { type: 'file' } },
  ],
  updateWarehouse: () => [{ defaults: { by: 'the other' } }],
  probeWarehouse: () => [{}],
  createWebhook: ({ account }) => [{ name: account, url: 'https://receiver.example/' }],
  updateWebhook: () => [{ url: 'https://receiver.example/' }],
  probeWebhook: () => [{}],
  pauseWebhook: () => [{}],
  resumeWebhook: () => [{}],
  rotateWebhookSecret: () => [{}],
  replayWebhook: () => [{ after: 'start' }],
  createAccount: ({ account }) => [{ name: account }],
  updateAccount: () => [{ disabled: true }],
  rotateAccountSecret: () => [{}],
  createGrant: ({ account, prefix }, own) => [
    { account, role: 'admin', warehouse: prefix },
    { account: own.name, role: 'admin', warehouse: prefix },
    { account: own.name, role: 'admin' },
  ],
}

/** Further texts behind a path: what a listing is asked for. */
const QUERIES: Readonly<Record<string, (names: Names) => readonly string[]>> = {
  getConfig: ({ prefix }) => [`warehouse=${prefix}`],
  listNamespaces: ({ levels }) => [
    `parent=${segment(...levels)}`,
    `parent=${segment(...levels.slice(-1))}`,
  ],
  listEvents: ({ levels, table, id }) => [
    `namespace=${segment(...levels)}`,
    `table=${segment(...levels, table)}`,
    `table=${id}`,
  ],
  findCommit: () => ['snapshot-id=9', `idempotency-key=${KEY}2`],
  loadTable: () => ['snapshots=refs'],
  loadCredentials: ({ planId }) => [`planId=${planId}`, `ticket=${planId}`],
  dropTable: () => ['purgeRequested=true'],
  listAllTables: ({ prefix }) => [`warehouse=${prefix}`],
  listDroppedTables: ({ prefix }) => [`warehouse=${prefix}`],
  listGrants: ({ account }) => [`account=${account}`],
  listAuditEntries: ({ account }) => [`caller=${account}`],
}

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'idempotency-key': `${KEY}2` },
  { 'x-iceberg-access-delegation': 'vended-credentials,remote-signing' },
  { 'if-none-match': '*' },
]

interface Asked {
  readonly route: Route
  readonly path: string
  readonly body: JsonValue | undefined
}

/** The requests of a route about these names; as many, in the same order, for any names. */
function requestsOf(route: Route, names: Names, own: Tenant): Asked[] {
  const path = pathOf(route, names)
  const paths = [path, ...(QUERIES[route.operationId]?.(names) ?? []).map((q) => `${path}?${q}`)]
  const bodies = BODIES[route.operationId]?.(names, own) ?? [undefined]
  return paths.flatMap((one) => bodies.map((body) => ({ route, path: one, body })))
}

function send(by: Tenant, { route, path, body }: Asked, headers = {}): Promise<TestAnswer> {
  const isForm = typeof body === 'string'
  return by.call(route.method, path, {
    headers: {
      ...(isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
      ...headers,
    },
    ...(body === undefined || body === null ? {} : { body: isForm ? body : printJson(body) }),
  })
}

const expectNoSecret = ({ text, headers }: TestAnswer, of: Tenant, sent = ''): void => {
  const answer = `${text}${JSON.stringify(headers)}`
  for (const secret of of.secrets) if (!sent.includes(secret)) expect(answer).not.toContain(secret)
}

/** Everything that the tenant has, as it sees it and as it is kept. */
async function worldOf({ call, levels, name }: Tenant): Promise<string> {
  const base = `/v1/main/namespaces/${segment(...levels)}`
  const paths = ['', '/tables', '/views', `/tables/tbl-${name}`, `/views/view-${name}`].map(
    (p) => base + p,
  )
  const answers = await Promise.all(paths.map((path) => call('GET', path)))
  const rows = await catalog.database.query(`select * from account where name = $1`, [name])
  const grants = await catalog.database.query(
    `select g.* from access_grant g join account a on a.id = g.account_id where a.name = $1 order by g.id`,
    [name],
  )
  const dropped = await catalog.database.query('select * from dropped_table order by id')
  return [...answers.map(({ text }) => text), ...[rows, grants, dropped].map(shown)].join('\n')
}

function shown(rows: readonly unknown[]): string {
  return JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

const OPEN = ROUTES.filter(({ access }) => access === 'open').map((route) => route.operationId)
const CLOSED = ROUTES.filter(({ access }) => access !== 'open')

it('every route that takes a body has one here', () => {
  const taking = ROUTES.filter(({ method }) => method === 'POST' || method === 'PATCH')
  for (const { operationId } of taking) expect(Object.keys(BODIES)).toContain(operationId)
})

it('only these routes answer callers that prove nothing', async () => {
  expect(OPEN).toEqual(['getToken', 'healthLive', 'healthReady'])
  for (const route of CLOSED) {
    for (const authorization of ['', 'Bearer wrong', 'Basic YWxwaGE6eA==']) {
      const answer = await catalog.call(route.method, pathOf(route, namesOf(beta)), {
        headers: { authorization },
      })
      expect(answer.status, route.operationId).toBe(401)
    }
  }
})

describe('I57: to a tenant, what belongs to the other is what does not exist', () => {
  it.each(CLOSED.map((route) => [route.operationId, route] as const))(
    'for %s',
    async (_id, route) => {
      const before = await worldOf(beta)
      for (const prefix of ['main', beta.warehouse]) {
        const there = namesOf(beta, prefix)
        const nowhere = missing(there)
        const asked = requestsOf(route, there, alpha)
        const unknown = requestsOf(route, nowhere, alpha)
        for (const [at, request] of asked.entries()) {
          const other = unknown[at]
          if (other === undefined) throw new Error('as many requests for both')
          for (const headers of HEADERS) {
            const hidden = await send(alpha, request, freshKey(headers))
            const sent = `${request.path}${printJson(request.body ?? null)}`
            expectNoSecret(hidden, beta, sent)
            const answered = await send(alpha, other, freshKey(headers))
            const what = `${request.path} ${printJson(request.body ?? null)}`
            expect([hidden.status, unnamed(hidden.text, there)], what).toEqual([
              answered.status,
              unnamed(answered.text, nowhere),
            ])
            expect(headersOf(hidden), what).toEqual(headersOf(answered))
          }
        }
      }
      expect(await worldOf(beta)).toBe(before)
    },
  )
})

let keyCount = 0

/** With a key of its own, because keys that were used are refused for another request. */
function freshKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  if (headers['idempotency-key'] === undefined) return headers
  keyCount += 1
  return {
    ...headers,
    'idempotency-key': `cccccccc-0000-4000-8000-${String(keyCount).padStart(12, '0')}`,
  }
}

function headersOf({ headers }: TestAnswer): string[] {
  return Object.keys(headers).sort()
}

it('listings and feeds hold nothing of the other', async () => {
  for (const path of [
    '/v1/main/namespaces',
    '/v1/main/namespaces?parent=both',
    '/v1/main/namespaces?pageSize=1',
    '/v1/main/namespaces/both',
    '/lake/v1/main/events?limit=1000',
    '/v1/config',
  ]) {
    const answer = await alpha.call('GET', path)
    expect(answer.status, answer.text).toBe(200)
    expectNoSecret(answer, beta)
    expect(answer.text).not.toContain(beta.name)
  }
})

it('whatever a tenant mixes, nothing of the other is read or changed', async () => {
  const before = await worldOf(beta)
  const request = fc.record({
    route: fc.constantFrom(...CLOSED.filter(({ operationId }) => operationId !== 'listEvents')),
    prefix: fc.constantFrom('main', beta.warehouse, alpha.warehouse, 'no-lake'),
    levels: fc.constantFrom(
      beta.levels,
      ['both'],
      [...beta.levels, 'below'],
      ['betaa'],
      ['both', 'betaa '],
      ['both\u002fbetaa'],
      ['both.betaa'],
    ),
    place: fc.constantFrom(beta.table, beta.view, alpha.table),
    headers: fc.constantFrom(...HEADERS),
    pick: fc.nat(7),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ route, prefix, levels, place, headers, pick }) => {
      const names: Names = { ...namesOf(beta, prefix), levels, ...place, id: beta.table.id }
      const requests = requestsOf(route, names, alpha)
      const one = requests[pick % requests.length]
      if (one === undefined) return
      const answer = await send(alpha, one, headers)
      expect(answer.status, answer.text).toBeLessThan(500)
      expectNoSecret(answer, beta, `${one.path}${printJson(one.body ?? null)}`)
    }),
    { numRuns: RUNS },
  )
  expect(await worldOf(beta)).toBe(before)
})
