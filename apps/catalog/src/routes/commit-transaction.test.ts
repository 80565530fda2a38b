import { afterAll, beforeAll, expect, it } from 'vitest'
import { takeUndispatchedEvents } from '@timelake/database/outbox'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { expectWholeState } from '../expect-whole-state.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, createCommitBody, SCHEMA } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { changeOf, setProperty, transact } from '../test-transactions.ts'

let catalog: TestCatalog
let count = 0
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const NEVER: JsonObject = { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 99n }

/** Tables of a new prefix, for one test. */
async function tables(size: number) {
  count += 1
  const names = Array.from({ length: size }, (_, at) => `t${count}-${at}`)
  const made: TestTable[] = []
  for (const name of names) made.push(await makeTable(catalog, { levels: ['ns'], name }))
  return { names, made }
}

const load = async (path: string) => (await catalog.call('GET', path)).json
const loadAll = (made: readonly TestTable[]) =>
  Promise.all(made.map(async ({ path }) => (await catalog.call('GET', path)).text))
const change = (name: string, commit: JsonObject) => changeOf(['ns'], name, commit)
const place = (name: string) => `${catalog.warehouse.location}/placed/${name}`
const uuid = (digit: number) =>
  `0189bbbb-0000-7000-8000-${String(count).padStart(8, '0')}000${digit}`

it('I1 I9 changes all tables, each in one new metadata file, and answers 204 without a body', async () => {
  const { names, made } = await tables(3)
  const changes = names.map((name, at) =>
    change(
      name,
      appendBody({ id: BigInt(at + 1), sequenceNumber: 1n, location: made[at]!.location }),
    ),
  )
  const answer = await transact(catalog, changes)
  expect([answer.status, answer.text]).toEqual([204, ''])
  for (const [at, { path }] of made.entries()) {
    const json = await load(path)
    expect(member(json, 'metadata', 'current-snapshot-id')).toBe(BigInt(at + 1))
    expect(textAt(json, 'metadata-location')).toMatch(/\/00001-/)
    expect(member(json, 'metadata', 'metadata-log')).toHaveLength(1)
  }
  const events = await takeUndispatchedEvents(catalog.database, { limit: 1_000 })
  const committed = events.filter(({ kind }) => kind === 'table-committed')
  expect(committed.map(({ name }) => name).sort()).toEqual(names)
})

it.each([0, 1, 2, 3, 4])(
  'I1 I2 changes nothing and leaves no file when requirement %i of 5 fails',
  async (failing) => {
    const { names, made } = await tables(5)
    const before = await loadAll(made)
    const files = countFiles(catalog.directory)
    const changes = names.map((name, at) =>
      change(name, { ...setProperty('k', 'v'), requirements: at === failing ? [NEVER] : [] }),
    )
    const answer = await transact(catalog, changes)
    expect(answer.status).toBe(409)
    const { type, message } = errorOf(answer)
    expect(type).toBe('CommitFailedException')
    expect(message).toContain('Requirement failed: last assigned field id changed')
    expect(await loadAll(made)).toEqual(before)
    expect(countFiles(catalog.directory)).toBe(files)
  },
)

it('B024: creates a table, with its first snapshot, in the step that changes another', async () => {
  const { names, made } = await tables(1)
  const [name = '', existing] = [names[0], made[0]!]
  const location = place(`${name}-new`)
  const { updates } = appendBody({ id: 7n, sequenceNumber: 1n, location })
  const created = createCommitBody({ uuid: uuid(1), location, more: updates as JsonObject[] })
  const append = appendBody({ id: 5n, sequenceNumber: 1n, location: existing.location })
  const both = [change(name, append), change(`${name}-new`, created)]
  expect((await transact(catalog, both)).status).toBe(204)
  const path = `/v1/main/namespaces/ns/tables/${name}-new`
  expect(await load(path)).toMatchObject({
    metadata: { 'table-uuid': uuid(1), 'current-snapshot-id': 7n, 'last-column-id': 20n },
  })
  expect(member(await load(existing.path), 'metadata', 'current-snapshot-id')).toBe(5n)

  const before = await loadAll(made)
  const files = countFiles(catalog.directory)
  const other = createCommitBody({ uuid: uuid(2), location: place(`${name}-other`) })
  const again = await transact(catalog, [
    change(
      name,
      appendBody({ id: 6n, sequenceNumber: 2n, parent: 5n, location: existing.location }),
    ),
    change(`${name}-new`, other),
  ])
  expect(again.status).toBe(409)
  expect(errorOf(again).message).toContain('Requirement failed: table already exists')
  expect(await loadAll(made)).toEqual(before)
  expect(countFiles(catalog.directory)).toBe(files)
})

it('makes a table that was staged', async () => {
  const { names } = await tables(1)
  const name = `${names[0]}-staged`
  const body = { name, schema: SCHEMA, 'stage-create': true }
  const staged = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
  const location = textAt(staged.json, 'metadata', 'location')
  const create = createCommitBody({ uuid: textAt(staged.json, 'metadata', 'table-uuid'), location })
  const changes = [change(names[0]!, setProperty('a', '1')), change(name, create)]
  expect((await transact(catalog, changes)).status).toBe(204)
  const json = await load(`/v1/main/namespaces/ns/tables/${name}`)
  expect(textAt(json, 'metadata', 'location')).toBe(location)
})

it('applies several changes of one table one after another, in one metadata file', async () => {
  const { names, made } = await tables(2)
  const [name = '', other = ''] = names
  const [table] = made
  const { location } = table!
  const first = appendBody({ id: 1n, sequenceNumber: 1n, location })
  const second = appendBody({ id: 2n, sequenceNumber: 2n, parent: 1n, location })
  const changes = [
    change(name, first),
    change(other, setProperty('k', 'v')),
    change(name, second),
    change(name, setProperty('k', 'v')),
  ]
  expect((await transact(catalog, changes)).status).toBe(204)
  const json = await load(table!.path)
  expect(member(json, 'metadata', 'current-snapshot-id')).toBe(2n)
  expect(member(json, 'metadata', 'snapshots')).toHaveLength(2)
  expect(textAt(json, 'metadata', 'properties', 'k')).toBe('v')
  expect(textAt(json, 'metadata-location')).toMatch(/\/00001-/)
  const log = member(json, 'metadata', 'metadata-log') as JsonObject[]
  expect(log.map((entry) => entry['metadata-file'])).toEqual([table!.metadataLocation])
})

it('checks requirements of the same table on what its earlier changes left', async () => {
  const { names, made } = await tables(1)
  const [name = ''] = names
  const { location, path } = made[0]!
  const first = appendBody({ id: 1n, sequenceNumber: 1n, location })
  const unaware = appendBody({ id: 2n, sequenceNumber: 2n, location })
  const before = await loadAll(made)
  const answer = await transact(catalog, [change(name, first), change(name, unaware)])
  expect(answer.status).toBe(409)
  expect(await loadAll(made)).toEqual(before)
  const created = createCommitBody({ uuid: uuid(1), location: place(`${name}-twice`) })
  const twice = `${name}-twice`
  const creates = [change(twice, created), change(twice, setProperty('k', 'v'))]
  expect((await transact(catalog, creates)).status).toBe(204)
  const json = await load(path.replace(name, twice))
  expect(textAt(json, 'metadata', 'properties', 'k')).toBe('v')
  expect(textAt(json, 'metadata-location')).toMatch(/\/00000-/)
})

it('I15 refuses new tables that would lie inside each other, and a table that moves into a new one', async () => {
  const { names, made } = await tables(1)
  const [name = ''] = names
  const outer = place(`${name}-outer`)
  const create = (digit: number, location: string) =>
    createCommitBody({ uuid: uuid(digit), location })
  const nested = [
    change(`${name}-a`, create(1, outer)),
    change(`${name}-b`, create(2, `${outer}/inner`)),
  ]
  const moved = [
    change(`${name}-a`, create(1, outer)),
    change(name, { updates: [{ action: 'set-location', location: `${outer}/moved` }] }),
  ]
  const data = [
    change(`${name}-a`, create(1, outer)),
    change(name, setProperty('write.data.path', `${outer}/data`)),
  ]
  const files = countFiles(catalog.directory)
  const before = await loadAll(made)
  for (const changes of [nested, nested.toReversed(), moved, data]) {
    const answer = await transact(catalog, changes)
    expect(answer.status, answer.text).toBe(400)
    expect(errorOf(answer).message).toContain('overlaps with the location of another table')
  }
  expect(countFiles(catalog.directory)).toBe(files)
  expect(await loadAll(made)).toEqual(before)
  await expectWholeState(catalog)
})

it('B204: checks every table before it changes one: a place outside, and files of another table', async () => {
  const { names, made } = await tables(2)
  const [a = '', b = ''] = names
  const before = await loadAll(made)
  const outside = change(b, {
    updates: [{ action: 'set-location', location: 'file:///somewhere/else' }],
  })
  const foreign = change(b, appendBody({ id: 1n, sequenceNumber: 1n, location: made[0]!.location }))
  for (const bad of [outside, foreign]) {
    const answer = await transact(catalog, [change(a, setProperty('k', 'v')), bad])
    expect(answer.status).toBe(400)
    expect(await loadAll(made)).toEqual(before)
  }
})

it('answers 404 for a table that is not there, naming it, and 404 for a namespace', async () => {
  const { names, made } = await tables(1)
  const before = await loadAll(made)
  const first = change(names[0]!, setProperty('k', 'v'))
  const noTable = await transact(catalog, [first, change('nothing', setProperty('k', 'v'))])
  expect(noTable.status).toBe(404)
  expect(errorOf(noTable)).toMatchObject({
    type: 'NoSuchTableException',
    message: 'Table does not exist: ns.nothing',
  })
  const create = createCommitBody({ uuid: uuid(1), location: place('nowhere') })
  const noNamespace = await transact(catalog, [first, changeOf(['nowhere'], 't', create)])
  expect(noNamespace.status).toBe(404)
  expect(errorOf(noNamespace).type).toBe('NoSuchNamespaceException')
  expect(await loadAll(made)).toEqual(before)
})

it.each([
  ['an empty list', { 'table-changes': [] }],
  ['no list', {}],
  ['a change without its table', { 'table-changes': [{ updates: [] }] }],
  [
    'an unknown update',
    {
      'table-changes': [
        { identifier: { namespace: ['ns'], name: 't' }, updates: [{ action: 'x' }] },
      ],
    },
  ],
  [
    'assert-create beside another requirement',
    {
      'table-changes': [
        {
          identifier: { namespace: ['ns'], name: 't' },
          requirements: [{ type: 'assert-create' }, { type: 'assert-table-uuid', uuid: 'x' }],
          updates: [],
        },
      ],
    },
  ],
])('refuses %s with 400', async (_name, body) => {
  const answer = await catalog.call('POST', '/v1/main/transactions/commit', { body })
  expect(answer.status, answer.text).toBe(400)
})

it('changes nothing for requirements that hold and updates that change nothing', async () => {
  const { names, made } = await tables(2)
  const before = await loadAll(made)
  const changes = names.map((name, at) =>
    change(name, {
      requirements: [{ type: 'assert-table-uuid', uuid: made[at]!.uuid }],
      updates: [],
    }),
  )
  expect((await transact(catalog, changes)).status).toBe(204)
  expect(await loadAll(made)).toEqual(before)
})

it('I5 a repetition of a landed transaction succeeds and adds nothing, with commits in between', async () => {
  const { names, made } = await tables(3)
  const append = (at: number) =>
    appendBody({ id: BigInt(at + 1), sequenceNumber: 1n, location: made[at]!.location })
  const changes = [
    change(names[0]!, append(0)),
    change(names[1]!, append(1)),
    change(names[2]!, setProperty('k', 'first')),
  ]
  expect((await transact(catalog, changes)).status).toBe(204)
  const next = await catalog.call('POST', made[2]!.path, { body: setProperty('k', 'second') })
  expect(next.status).toBe(200)
  const before = await loadAll(made)
  const files = countFiles(catalog.directory)
  for (const again of [changes, changes.toReversed()]) {
    expect((await transact(catalog, again)).status).toBe(204)
    expect(await loadAll(made)).toEqual(before)
  }
  // One of its tables is enough to know it again, whatever became of the others.
  expect((await catalog.call('DELETE', made[0]!.path)).status).toBe(204)
  expect((await transact(catalog, changes)).status).toBe(204)
  expect(countFiles(catalog.directory)).toBe(files)
})

it('a repetition of a landed creation beside a change succeeds', async () => {
  const { names } = await tables(1)
  const create = createCommitBody({ uuid: uuid(1), location: place(`${names[0]}-made`) })
  const changes = [change(names[0]!, setProperty('k', 'v')), change(`${names[0]}-made`, create)]
  const files = () => countFiles(catalog.directory)
  expect((await transact(catalog, changes)).status).toBe(204)
  const after = files()
  expect((await transact(catalog, changes)).status).toBe(204)
  expect(files()).toBe(after)
})

it('answers a repetition under the same key with 204, and another body under it with 409', async () => {
  const { names, made } = await tables(2)
  const key = { 'idempotency-key': 'cccccccc-0000-4000-8000-000000000001' }
  const changes = names.map((name) => change(name, setProperty('k', 'v')))
  expect((await transact(catalog, changes, key)).status).toBe(204)
  await catalog.call('POST', made[0]!.path, { body: setProperty('k', 'later') })
  const before = await loadAll(made)
  const again = await transact(catalog, changes, key)
  expect([again.status, again.text]).toEqual([204, ''])
  expect(await loadAll(made)).toEqual(before)
  expect((await transact(catalog, changes.slice(1), key)).status).toBe(409)

  const refused = { 'idempotency-key': 'cccccccc-0000-4000-8000-000000000002' }
  const failing = [...changes, change(names[0]!, { requirements: [NEVER], updates: [] })]
  const first = await transact(catalog, failing, refused)
  const second = await transact(catalog, failing, refused)
  expect([first.status, second.status]).toEqual([409, 409])
  expect(second.text).toBe(first.text)
})

it('a single change behaves as the commit of its table does, on either route', async () => {
  const { names, made } = await tables(2)
  const [name = '', twin = ''] = names
  const bodies = (table: TestTable): JsonObject[] => [
    appendBody({ id: 1n, sequenceNumber: 1n, location: table.location }),
    appendBody({ id: 1n, sequenceNumber: 1n, location: table.location }),
    appendBody({ id: 2n, sequenceNumber: 2n, location: table.location }),
    { requirements: [NEVER], updates: [] },
    { updates: [{ action: 'set-current-schema', 'schema-id': 77n }] },
    { updates: [{ action: 'set-location', location: 'file:///elsewhere' }] },
    { updates: [] },
    setProperty('k', 'v'),
  ]
  for (const [at, body] of bodies(made[0]!).entries()) {
    const single = await transact(catalog, [change(name, body)])
    const own = await catalog.call('POST', made[1]!.path, { body: bodies(made[1]!)[at]! })
    expect(single.status, single.text).toBe(own.status === 200 ? 204 : own.status)
    if (own.status === 200) continue
    const texts = [single, own].map((answer) =>
      answer.text.replaceAll(made[0]!.location, '').replaceAll(made[1]!.location, ''),
    )
    expect(texts[0]).toBe(texts[1])
  }
  expect(twin).not.toBe(name)
  const landed = bodies(made[0]!)[0]!
  expect((await catalog.call('POST', made[0]!.path, { body: landed })).status).toBe(200)
})

it('is announced', async () => {
  const { json } = await catalog.call('GET', '/v1/config')
  expect(member(json, 'endpoints')).toContain('POST /v1/{prefix}/transactions/commit')
})
