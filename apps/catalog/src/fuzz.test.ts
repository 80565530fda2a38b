import { afterAll, beforeAll, expect, it } from 'vitest'
import * as fc from 'fast-check'
import { openTestCatalog, type TestCatalog } from './open-test-catalog.ts'
import { makeNamespace, makeTable, segment } from './test-tables.ts'

// prettier-ignore
const MEMBERS = [
  'namespace', 'properties', 'name', 'schema', 'location', 'updates', 'removals', 'requirements', 'type', 'fields', 'id',
  'schema-id', 'spec-id', 'order-id', 'spec', 'sort-order', 'sort-order-id', 'snapshot', 'snapshot-id', 'snapshot-ids',
  'sequence-number', 'timestamp-ms', 'manifest-list', 'summary', 'operation', 'ref-name', 'statistics', 'metadata-location',
  'overwrite', 'stage-create', 'source', 'destination', 'partition-spec', 'write-order', 'format-version', 'uuid', 'action',
  'transform', 'source-id', 'required', 'element', 'key-id', 'encryption-key', 'schema-ids', 'spec-ids', '__proto__',
]
// prettier-ignore
const ACTIONS = [
  'assign-uuid', 'upgrade-format-version', 'add-schema', 'set-current-schema', 'add-spec', 'set-default-spec',
  'add-sort-order', 'set-default-sort-order', 'add-snapshot', 'set-snapshot-ref', 'remove-snapshot-ref', 'remove-snapshots',
  'set-location', 'set-properties', 'remove-properties', 'set-statistics', 'remove-statistics', 'set-partition-statistics',
  'remove-partition-statistics', 'remove-partition-specs', 'remove-schemas', 'add-encryption-key', 'remove-encryption-key',
]

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  await makeTable(catalog, { levels: ['ns'], name: 't' })
})
afterAll(() => catalog.stop())

const RUNS = 150

/** Pieces of paths and names that break servers. */
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '.',
    '..',
    '%',
    '%2F',
    '%1F',
    '%00',
    '\u0000',
    '\u001f',
    '\ud800',
    '__proto__',
    '*',
  ),
  fc.constantFrom('constructor', 'toString', "';drop table x;--", '${jndi:x}', 'a'.repeat(600)),
)

const rawSegment = fc
  .string({ unit: 'grapheme-ascii', maxLength: 30 })
  .map((text) => text.replaceAll(/[\s\u007f]/g, '+'))

const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'PUT')

it('no path gives a server error', async () => {
  const path = fc.tuple(
    fc.constantFrom(
      '/v1/main/namespaces',
      '/v1/main/namespaces/ns/tables',
      '/v1',
      '/admin/v1/tables',
      '',
    ),
    fc.array(rawSegment, { maxLength: 4 }),
  )
  await fc.assert(
    fc.asyncProperty(method, path, async (verb, [prefix, segments]) => {
      const answer = await catalog.call(verb, `${[prefix, ...segments].join('/')}` || '/')
      expect(answer.status).toBeLessThan(500)
    }),
    { numRuns: RUNS },
  )
})

it('no name gives a server error, and what is created can be loaded and dropped', async () => {
  await fc.assert(
    fc.asyncProperty(oddText, oddText, async (level, name) => {
      const made = await catalog.call('POST', '/v1/main/namespaces', {
        body: json({ namespace: [level] }),
      })
      expect([200, 400, 409]).toContain(made.status)
      if (made.status !== 200) return
      const namespace = `/v1/main/namespaces/${segment(level)}`
      const table = await catalog.call('POST', `${namespace}/tables`, {
        body: json({ name, schema: PLAIN }),
      })
      expect([200, 400]).toContain(table.status)
      if (table.status === 200) {
        const path = `${namespace}/tables/${segment(name)}`
        expect((await catalog.call('GET', path)).text).toBe(table.text)
        expect((await catalog.call('DELETE', path)).status).toBe(204)
      }
      expect((await catalog.call('DELETE', namespace)).status).toBe(204)
    }),
    { numRuns: RUNS },
  )
})

/** JSON values near what the routes expect. */
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      1e300,
      'main',
      '',
      'x',
      'file:///etc',
      'append',
      '\ud800',
    ),
    oddText,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...MEMBERS), tie('any'), { maxKeys: 6 }),
  ),
})).any

it('no body gives a server error', async () => {
  const paths = [
    '/v1/main/namespaces',
    '/v1/main/namespaces/ns/properties',
    '/v1/main/namespaces/ns/tables',
    '/v1/main/namespaces/ns/register',
    '/v1/main/namespaces/ns/tables/t',
    '/v1/main/namespaces/ns/tables/t/metrics',
    '/v1/main/tables/rename',
  ]
  const body = fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 8 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, content) => {
      const answer = await catalog.call('POST', path, { body: json(content) })
      expect(answer.status, answer.text).toBeLessThan(500)
    }),
    { numRuns: 4 * RUNS },
  )
})

it('no commit gives a server error or leaves a table that cannot be loaded', async () => {
  const action = fc.constantFrom(...ACTIONS)
  const update = fc
    .tuple(action, fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 4 }))
    .map(([name, members]) => ({ ...members, action: name }))
  await fc.assert(
    fc.asyncProperty(fc.array(update, { maxLength: 3 }), async (updates) => {
      const path = '/v1/main/namespaces/ns/tables/t'
      const answer = await catalog.call('POST', path, { body: json({ requirements: [], updates }) })
      expect(answer.status, answer.text).toBeLessThan(500)
      expect((await catalog.call('GET', path)).status).toBe(200)
    }),
    { numRuns: 4 * RUNS },
  )
})

/** Plain JSON numbers are what is wanted here. */
const json = (content: unknown): string => JSON.stringify(content)

const PLAIN = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }
