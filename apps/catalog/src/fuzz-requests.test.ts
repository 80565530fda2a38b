import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectWholeState } from './expect-whole-state.ts'
import { openTestCatalog, type TestCatalog } from './open-test-catalog.ts'
import { ROUTES } from './routes.ts'
import { appendBody } from './test-bodies.ts'
import { member } from './test-json.ts'
import { makeNamespace, makeTable, segment, type TestTable } from './test-tables.ts'
import { makeView, type TestView } from './test-views.ts'

const RUNS = 120
const NS = '/v1/main/namespaces/ns'

let catalog: TestCatalog
let table: TestTable
let view: TestView
let tableId = ''
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  table = await makeTable(catalog, { levels: ['ns'], name: 't' })
  view = await makeView(catalog, { levels: ['ns'], name: 'v' })
  const { json } = await catalog.call('GET', '/admin/v1/tables')
  tableId = String((member(json, 'tables') as { id: string }[])[0]?.id)
})
afterAll(() => catalog.stop())

type Plain = null | boolean | number | string | Plain[] | { [name: string]: Plain }

const ODD: readonly Plain[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 53,
  1e300,
  '',
  '.',
  '..',
  '\u0000',
  '\u001f',
  '\ud800',
  'a'.repeat(600),
  '%2F../..',
  'file:///etc/passwd',
  'file:///etc/../..',
  's3://bucket/x',
  '__proto__',
  'bucket[0]',
  'decimal(99,1)',
  'list',
  [],
  [[]],
  {},
  { type: 'struct', fields: [] },
]

/** A change of one place of a value: another value, nothing at all, or twice the same. */
interface Change {
  readonly place: number
  readonly odd: Plain
  readonly kind: 'replace' | 'remove' | 'repeat'
}
const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(200),
  odd: fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: 'binary', maxLength: 12 })),
  kind: fc.constantFrom('replace', 'replace', 'remove', 'repeat'),
})

function changed(value: Plain, { place, odd, kind }: Change): Plain {
  const copy: Holder = { root: structuredClone(value) }
  const places = placesOf(copy)
  const [holder, key] = places[place % places.length] ?? [copy, 'root']
  if (kind === 'replace') holder[key] = odd
  else if (kind === 'remove') delete holder[key]
  else if (Array.isArray(holder)) holder.push(holder[Number(key)] ?? null)
  else holder[`${key} `] = holder[key] ?? null
  return copy.root ?? null
}

type Holder = { [name: string]: Plain }

function placesOf(holder: Holder): [Holder, string][] {
  return Object.keys(holder).flatMap((key) => {
    const inner = holder[key]
    const below = inner !== null && typeof inner === 'object' ? placesOf(inner as Holder) : []
    return [[holder, key] as [Holder, string], ...below]
  })
}

const FIELDS = [
  { id: 1, name: 'ts', required: false, type: 'timestamptz', 'initial-default': null },
  {
    id: 2,
    name: 'm',
    required: false,
    type: {
      type: 'map',
      'key-id': 3,
      key: 'string',
      'value-id': 4,
      value: 'double',
      'value-required': false,
    },
  },
]
const STRUCT = { type: 'struct', 'schema-id': 0, 'identifier-field-ids': [], fields: FIELDS }
const SPEC = {
  'spec-id': 0,
  fields: [{ name: 'd', transform: 'day', 'source-id': 1, 'field-id': 1000 }],
}
const ORDER = {
  'order-id': 1,
  fields: [{ transform: 'identity', 'source-id': 1, direction: 'asc', 'null-order': 'nulls-last' }],
}
const IDENTIFIER = { namespace: ['ns'], name: 't' }
const VIEW_VERSION = {
  'version-id': 2,
  'schema-id': -1,
  'timestamp-ms': 1_700_000_000_000,
  summary: { a: 'b' },
  representations: [
    { type: 'sql', sql: 'select 1', dialect: 'spark' },
    { type: 'other', plan: [] },
  ],
  'default-catalog': 'c',
  'default-namespace': ['ns'],
}

/** A filter with something of each kind. */
const FILTER = {
  type: 'and',
  left: {
    type: 'or',
    left: { type: 'gt-eq', term: 'ts', value: '2026-01-01T00:00:00+00:00' },
    right: { type: 'not', child: { type: 'is-null', term: 'm' } },
  },
  right: {
    type: 'in',
    child: { type: 'apply', function: 'bucket', arguments: [4, { type: 'reference', name: 'ts' }] },
    values: { type: 'literals', values: [1, 2], 'data-type': 'int' },
  },
}

/** A valid body for every route that takes one. */
const VALID: Readonly<Record<string, () => readonly [path: string, body: Plain]>> = {
  createNamespace: () => [
    '/v1/main/namespaces',
    {
      namespace: ['ns', 'below'],
      properties: { a: 'b', location: `${catalog.warehouse.location}/below` },
    },
  ],
  updateProperties: () => [
    `${NS}/properties`,
    { removals: ['a'], updates: { b: 'c', location: `${catalog.warehouse.location}/ns` } },
  ],
  registerTable: () => [
    `${NS}/register`,
    { name: 'r', 'metadata-location': table.metadataLocation, overwrite: true },
  ],
  createTable: () => [
    `${NS}/tables`,
    {
      name: 'new',
      location: `${catalog.warehouse.location}/new`,
      schema: STRUCT,
      'partition-spec': SPEC,
      'write-order': ORDER,
      'stage-create': false,
      properties: { 'format-version': '2', 'write.metadata.compression-codec': 'gzip' },
    },
  ],
  updateTable: () => [table.path, updateBody()],
  appendFiles: () => [
    `/lake${table.path}/appends`,
    {
      'batch-id': 'b',
      branch: 'main',
      'spec-id': 0,
      'data-files': [
        {
          content: 'data',
          'file-path': `${table.location}/data/a.parquet`,
          'file-format': 'parquet',
          'spec-id': 0,
          partition: [],
          'file-size-in-bytes': 1,
          'record-count': 1,
          'split-offsets': [4],
          'sort-order-id': 0,
          'null-value-counts': { keys: [1, 2], values: [0, 1] },
          'lower-bounds': { keys: [1, 2], values: ['0000000000000000', '000000000000f03f'] },
          'upper-bounds': { keys: [1, 2], values: ['0000000000000001', 1] },
        },
      ],
      paths: [],
      summary: { a: 'b' },
    },
  ],
  reportMetrics: () => [
    `${table.path}/metrics`,
    {
      'report-type': 'commit-report',
      'table-name': 't',
      'snapshot-id': 1,
      'sequence-number': 1,
      operation: 'append',
      metrics: {},
    },
  ],
  renameTable: () => [
    '/v1/main/tables/rename',
    { source: IDENTIFIER, destination: { namespace: ['ns'], name: 't' } },
  ],
  createView: () => [
    `${NS}/views`,
    {
      name: 'new-view',
      location: `${catalog.warehouse.location}/new-view`,
      schema: STRUCT,
      'view-version': VIEW_VERSION,
      properties: { 'version.history.num-entries': '2', 'write.metadata.path': '' },
    },
  ],
  replaceView: () => [
    view.path,
    {
      identifier: { namespace: ['ns'], name: 'v' },
      requirements: [{ type: 'assert-view-uuid', uuid: view.uuid }],
      updates: [
        { action: 'assign-uuid', uuid: view.uuid },
        { action: 'upgrade-format-version', 'format-version': 1 },
        { action: 'add-schema', schema: STRUCT },
        { action: 'add-view-version', 'view-version': VIEW_VERSION },
        { action: 'set-current-view-version', 'view-version-id': -1 },
        { action: 'set-location', location: view.location },
        { action: 'set-properties', updates: { 'version.history.num-entries': '3' } },
        { action: 'remove-properties', removals: ['a'] },
      ],
    },
  ],
  renameView: () => [
    '/v1/main/views/rename',
    {
      source: { namespace: ['ns'], name: 'v' },
      destination: { namespace: ['ns'], name: 'v' },
    },
  ],
  registerView: () => [
    `${NS}/register-view`,
    { name: 'registered-view', 'metadata-location': view.metadataLocation },
  ],
  commitTransaction: () => [
    '/v1/main/transactions/commit',
    { 'table-changes': [{ identifier: IDENTIFIER, requirements: [], updates: [] }, updateBody()] },
  ],
  createWarehouse: () => ['/admin/v1/warehouses', warehouseBody('another')],
  probeNewWarehouse: () => ['/admin/v1/warehouses/test', warehouseBody('tested')],
  probeWarehouse: () => ['/admin/v1/warehouses/main/test', {}],
  undropTable: () => [`/admin/v1/dropped-tables/${tableId}/undrop`, IDENTIFIER],
  keepDroppedTable: () => [`/admin/v1/dropped-tables/${tableId}/keep`, {}],
  compactTable: () => [`/admin/v1/tables/${tableId}/compact`, {}],
  createWebhook: () => [
    '/admin/v1/webhooks',
    {
      name: 'w',
      url: 'https://receiver.example/hook',
      secret: `whsec_${'A'.repeat(43)}=`,
      after: 'start',
      filter: {
        warehouses: ['main'],
        namespaces: [['ns']],
        tables: [{ namespace: ['ns'], name: 't' }, { id: tableId }],
        kinds: ['table-committed'],
      },
      'attempts-max': 3,
      'retry-for-ms': 60_000,
    },
  ],
  pauseWebhook: () => ['/admin/v1/webhooks/w/pause', { reason: 'x' }],
  resumeWebhook: () => ['/admin/v1/webhooks/w/resume', {}],
  rotateWebhookSecret: () => ['/admin/v1/webhooks/w/secret', { 'old-secret-for-ms': 1 }],
  replayWebhook: () => ['/admin/v1/webhooks/w/replay', { 'event-id': `${tableId}-1` }],
  planTableScan: () => [
    `${table.path}/plan`,
    {
      'snapshot-id': 1,
      'start-snapshot-id': 1,
      'end-snapshot-id': 2,
      select: ['ts', 'm.key'],
      filter: FILTER,
      'case-sensitive': false,
      'use-snapshot-schema': true,
      'stats-fields': ['ts'],
      'min-rows-requested': 1,
    },
  ],
  fetchScanTasks: () => [`${table.path}/tasks`, { 'plan-task': 'AAAA.AAAA' }],
  signRequest: () => [
    `${table.path}/sign`,
    {
      region: 'eu-central-1',
      uri: 'https://bucket.example/x/y.parquet',
      method: 'POST',
      headers: { host: ['bucket.example'], 'x-amz-date': ['20260101T000000Z'] },
      properties: { a: 'b' },
      body: '<Delete><Object><Key>x</Key></Object></Delete>',
      provider: 's3',
    },
  ],
  getToken: () => [
    '/v1/oauth/tokens',
    { grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' },
  ],
  createAccount: () => ['/admin/v1/accounts', { name: 'a', kind: 'service', description: 'd' }],
  rotateAccountSecret: () => ['/admin/v1/accounts/a/secret', { 'old-secret-for-ms': 1 }],
  createGrant: () => [
    '/admin/v1/grants',
    { account: 'a', role: 'reader', warehouse: 'main', namespace: ['ns'] },
  ],
  // One that is there is waited for.
  probeWebhook: () => ['/admin/v1/webhooks/none/test', {}],
}

function warehouseBody(name: string): Plain {
  return {
    name,
    location: `${catalog.warehouse.location}-${name}`,
    storage: { type: 'file' },
    'allowed-locations': [`${catalog.warehouse.location}-more`],
    defaults: { a: 'b' },
    overrides: { c: 'd' },
    delegation: [],
  }
}

function updateBody(): Plain {
  const snapshot = {
    'snapshot-id': 7,
    'sequence-number': 1,
    'timestamp-ms': 1_700_000_000_000,
    'manifest-list': `${table.location}/metadata/s.avro`,
    summary: { operation: 'append' },
    'schema-id': 0,
  }
  const file = {
    'snapshot-id': 7,
    'statistics-path': `${table.location}/metadata/s.puffin`,
    'file-size-in-bytes': 1,
    'file-footer-size-in-bytes': 1,
    'blob-metadata': [],
  }
  return {
    identifier: IDENTIFIER,
    requirements: [
      { type: 'assert-table-uuid', uuid: table.uuid },
      { type: 'assert-ref-snapshot-id', ref: 'other', 'snapshot-id': null },
    ],
    updates: [
      { action: 'add-schema', schema: STRUCT },
      { action: 'set-current-schema', 'schema-id': -1 },
      { action: 'add-spec', spec: SPEC },
      { action: 'set-default-spec', 'spec-id': -1 },
      { action: 'add-sort-order', 'sort-order': ORDER },
      { action: 'set-default-sort-order', 'sort-order-id': -1 },
      { action: 'remove-snapshots', 'snapshot-ids': [7] },
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        'ref-name': 'branch',
        type: 'branch',
        'snapshot-id': 7,
        'min-snapshots-to-keep': 1,
      },
      { action: 'set-statistics', 'snapshot-id': 7, statistics: file },
      { action: 'set-properties', updates: { 'write.data.path': `${table.location}/data` } },
      { action: 'remove-properties', removals: ['write.data.path'] },
    ],
  }
}

it('every route that takes a body is among those below', () => {
  const posts = ROUTES.filter(({ method }) => method === 'POST').map((route) => route.operationId)
  expect(Object.keys(VALID).sort()).toEqual(posts.sort())
})

it.each(Object.keys(VALID))(
  'a broken %s gives no server error and leaves no half state',
  async (id) => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const [path, valid] = VALID[id]?.() ?? ['', null]
        const body = JSON.stringify(changes.reduce(changed, valid))
        const answer = await catalog.call('POST', path, { body })
        expect(answer.status, answer.text).toBeLessThan(500)
      }),
      { numRuns: id === 'updateTable' || id === 'createTable' ? 3 * RUNS : RUNS },
    )
    await expectWholeState(catalog)
  },
)

const oddQuery = fc.array(
  fc.tuple(
    fc.constantFrom(
      'pageSize',
      'pageToken',
      'parent',
      'snapshots',
      'warehouse',
      'purgeRequested',
      'dry-run',
      'x',
    ),
    fc.oneof(
      fc.constantFrom(
        '',
        '0',
        '-1',
        '99999999999999999999',
        '%',
        '%00',
        '%1F',
        '%251F',
        'MTph',
        'true',
        'refs',
        'ns',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }).map((text) => encodeURIComponent(text)),
    ),
  ),
  { maxLength: 3 },
)
const oddHeaders = fc.dictionary(
  fc.constantFrom(
    'if-none-match',
    'idempotency-key',
    'content-type',
    'content-encoding',
    'accept',
    'accept-encoding',
    'x-iceberg-access-delegation',
    'authorization',
    'origin',
    'range',
    'expect',
  ),
  fc.constantFrom(
    '',
    '*',
    'W/"x"',
    '"',
    'gzip;q=x',
    '018f0000-0000-7000-8000-000000000001',
    'null',
    'Bearer None',
    '=,;',
    'x'.repeat(3_000),
  ),
  { maxKeys: 3 },
)

it('odd queries and headers on every route give no server error and leave no half state', async () => {
  const request = fc.tuple(fc.constantFrom(...ROUTES), oddQuery, oddHeaders, fc.boolean())
  await fc.assert(
    fc.asyncProperty(request, async ([{ method, template }, query, headers, isReal]) => {
      const path = template
        .replace('{prefix}', 'main')
        .replace('{namespace}', isReal ? 'ns' : '%25')
        .replace('{table}', isReal ? 't' : '%2B%2e')
        .replace('{view}', isReal ? 'v' : '%2B%2e')
        .replace('{id}', isReal ? tableId : 'x')
      const text = query.map(([name, value]) => `${name}=${value}`).join('&')
      const answer = await catalog.call(method, `${path}?${text}`, { headers })
      expect(answer.status, answer.text).toBeLessThan(500)
      if (method === 'DELETE' && answer.status === 204) await restore()
    }),
    { numRuns: 4 * RUNS },
  )
  await expectWholeState(catalog)
})

/** Makes what the other tests need again. */
async function restore(): Promise<void> {
  await catalog.call('POST', '/v1/main/namespaces', { body: '{"namespace":["ns"]}' })
  if ((await catalog.call('HEAD', table.path)).status === 404)
    table = await makeTable(catalog, { levels: ['ns'], name: 't' })
  if ((await catalog.call('HEAD', view.path)).status === 404)
    view = await makeView(catalog, { levels: ['ns'], name: 'v' })
}

it('odd names are refused or usable, by create, rename and drop alike, and leave no half state', async () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    fc.constantFrom(
      '.',
      '..',
      '%',
      '%2F',
      '%1F',
      '*',
      '__proto__',
      'constructor',
      'tables',
      '\ud800',
      'a/b',
      'A',
      'a',
      ' ',
      '+',
      '\u00e9',
      'e\u0301',
    ),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 2 }),
      name,
      name,
      async (levels, one, other) => {
        await catalog.call('POST', '/v1/main/namespaces', {
          body: JSON.stringify({ namespace: levels.slice(0, 1) }),
        })
        const made = await catalog.call('POST', '/v1/main/namespaces', {
          body: JSON.stringify({ namespace: levels }),
        })
        expect([200, 400, 409]).toContain(made.status)
        if (made.status === 400) return
        const tables = `/v1/main/namespaces/${segment(...levels)}/tables`
        const body = { name: one, schema: { type: 'struct', fields: [] } }
        const created = await catalog.call('POST', tables, { body: JSON.stringify(body) })
        expect([200, 400, 409]).toContain(created.status)
        const identifier = (text: string) => ({ namespace: levels, name: text })
        const renamed = await catalog.call('POST', '/v1/main/tables/rename', {
          body: JSON.stringify({ source: identifier(one), destination: identifier(other) }),
        })
        expect([204, 400, 404, 409]).toContain(renamed.status)
        if (renamed.status !== 204) return
        const path = `${tables}/${segment(other)}`
        expect((await catalog.call('HEAD', path)).status).toBe(204)
        if (other.length % 2 === 0) expect((await catalog.call('DELETE', path)).status).toBe(204)
      },
    ),
    { numRuns: RUNS },
  )
  await expectWholeState(catalog)
})

const FIXTURES = join(import.meta.dirname, '../../../packages/iceberg/fixtures/pyiceberg-0.12')
const avroFiles = readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.avro'))
  .map((name) => readFileSync(join(FIXTURES, name)))

/** Damage to a file: one byte set, or the end cut off. */
const damage = fc.tuple(fc.nat(100_000), fc.nat(255), fc.boolean())

function damaged(bytes: Uint8Array, [at, byte, isCut]: readonly [number, number, boolean]) {
  const copy = bytes.slice()
  const position = at % Math.max(1, copy.length)
  if (isCut) return copy.subarray(0, position)
  copy[position] = byte
  return copy
}

it('damaged Avro files give no server error where they are read, and never hurt loading', async () => {
  const lake = await makeTable(catalog, { levels: ['ns'], name: 'avro' })
  const body = appendBody({ id: 1n, sequenceNumber: 1n, location: lake.location })
  expect((await catalog.call('POST', lake.path, { body })).status).toBe(200)
  const { json } = await catalog.call('GET', '/admin/v1/tables')
  const found = (member(json, 'tables') as { id: string; name: string }[]).find(
    ({ name }) => name === 'avro',
  )
  const list = `${lake.location}/metadata/snap-1.avro`.replace('file://', '')
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...avroFiles), damage, async (bytes, hurt) => {
      writeFileSync(list, damaged(bytes, hurt))
      const path = `/admin/v1/tables/${found?.id}/compact?dry-run=true`
      const answer = await catalog.call('POST', path)
      expect(answer.status, answer.text).toBeLessThan(500)
      expect((await catalog.call('GET', lake.path)).status).toBe(200)
    }),
    { numRuns: 2 * RUNS },
  )
})

it('a damaged metadata file gives no server error and is registered whole or not at all', async () => {
  const bytes = readFileSync(table.metadataLocation.replace('file://', ''))
  const file = `${catalog.directory}/registered/v1.metadata.json`
  const own = Buffer.from(
    bytes
      .toString()
      .replace(/"location":"[^"]*"/, `"location":"${catalog.warehouse.location}/registered"`),
  )
  await catalog.store.putIfAbsent(`file://${file}`, own)
  expect(existsSync(file)).toBe(true)
  await fc.assert(
    fc.asyncProperty(damage, async (hurt) => {
      writeFileSync(file, damaged(own, hurt))
      const body = JSON.stringify({ name: 'damaged', 'metadata-location': `file://${file}` })
      const answer = await catalog.call('POST', `${NS}/register`, { body })
      expect(answer.status, answer.text).toBeLessThan(500)
      const loaded = await catalog.call('GET', `${NS}/tables/damaged`)
      expect(loaded.status).toBe(answer.status === 200 ? 200 : 404)
      if (answer.status === 200) await catalog.call('DELETE', `${NS}/tables/damaged`)
    }),
    { numRuns: 3 * RUNS },
  )
  await expectWholeState(catalog)
})
