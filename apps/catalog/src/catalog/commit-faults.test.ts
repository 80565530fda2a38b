import { afterAll, beforeAll, afterEach, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import type { Database } from '@timelake/database/sql-session'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import {
  StoreUnavailableError,
  type ObjectStore,
  type PutOutcome,
} from '@timelake/storage/object-store'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

interface Faults {
  put?: (write: () => Promise<PutOutcome>) => Promise<PutOutcome>
  /** Around the statement that moves a pointer or makes a row. */
  swap?: (run: () => Promise<Row[]>) => Promise<Row[]>
  isDown?: boolean
}
type Row = Record<string, unknown>

let faults: Faults = {}
const reached: FaultPoint[] = []

/** The statement runs as if another process had moved the pointer before. */
async function loseRace(run: () => Promise<Row[]>): Promise<Row[]> {
  void run
  return [{ changed: false, allowed: true, current: 'elsewhere', location: 'elsewhere' }]
}

function faultyStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    putIfAbsent: (location, bytes) => {
      const write = () => store.putIfAbsent(location, bytes)
      return faults.put === undefined ? write() : faults.put(write)
    },
  }
}

const CHANGES_A_POINTER = /(update|insert into) catalog_table/

function faultyDatabase(database: Database): Database {
  return {
    query: async <R>(text: string, params?: readonly unknown[]) => {
      if (faults.isDown) throw new DatabaseUnavailableError('down')
      const run = () => database.query<R>(text, params)
      const isSwap = faults.swap !== undefined && CHANGES_A_POINTER.test(text)
      // `as`: the fault passes through the rows that it gets.
      return isSwap ? ((await faults.swap?.(run as () => Promise<Row[]>)) as R[]) : run()
    },
    runScript: (text) => database.runScript(text),
    transaction: (run) => database.transaction(run),
    queuePool: () => database.queuePool(),
    close: () => database.close(),
  }
}

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({
    wrapStore: faultyStore,
    wrapDatabase: faultyDatabase,
    reachFaultPoint: (point) => void reached.push(point),
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const change = (value: string): JsonObject => ({
  updates: [{ action: 'set-properties', updates: { value } }],
})
const commit = (path: string, body: JsonObject, headers = {}) =>
  catalog.call('POST', path, { body, headers })
const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
const folderOf = ({ location }: { location: string }) => location.replace('file://', '')

afterEach(() => {
  faults = {}
})

it('says "not applied" and leaves no file when the store cannot write', async () => {
  const made = await table('store-down')
  faults.put = async () => {
    throw new StoreUnavailableError('disk is full')
  }
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(503)
  expect(answer.headers['retry-after']).toBe('1')
  expect(errorOf(answer).message).not.toContain('disk is full')
  expect(countFiles(folderOf(made))).toBe(1)
  faults = {}
  expect((await commit(made.path, change('1'))).status).toBe(200)
})

it('reads back when the store does not know whether it wrote', async () => {
  const made = await table('unknown-put')
  faults.put = async (write) => {
    await write()
    return 'unknown'
  }
  expect((await commit(made.path, change('1'))).status).toBe(200)
  faults.put = async () => 'unknown'
  expect((await commit(made.path, change('2'))).status).toBe(503)
  faults = {}
  const { json } = await catalog.call('GET', made.path)
  expect(textAt(json, 'metadata', 'properties', 'value')).toBe('1')
})

it('I12 takes another name when the first one is taken', async () => {
  const made = await table('taken-name')
  let attempts = 0
  faults.put = async (write) => ((attempts += 1) === 1 ? 'exists' : write())
  expect((await commit(made.path, change('1'))).status).toBe(200)
  expect(attempts).toBe(2)
})

it('B051: succeeds when the swap happened and its answer was lost', async () => {
  const made = await table('lost-answer')
  faults.swap = async (run) => {
    await run()
    throw new DatabaseUnavailableError('connection lost')
  }
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(200)
  expect((await catalog.call('GET', made.path)).text).toBe(answer.text)
})

it('B051: says "not applied" and removes its file when the swap did not happen', async () => {
  const made = await table('not-swapped')
  faults.swap = async () => {
    throw new DatabaseUnavailableError('connection lost')
  }
  expect((await commit(made.path, change('1'))).status).toBe(503)
  expect(countFiles(folderOf(made))).toBe(1)
})

it('I4 says "unknown" and deletes nothing when that cannot be found out (B051)', async () => {
  const made = await table('unknown')
  faults.swap = async (run) => {
    await run()
    faults.isDown = true
    throw new DatabaseUnavailableError('connection lost')
  }
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(500)
  expect(errorOf(answer).type).toBe('CommitStateUnknownException')
  faults = {}
  const { status, json } = await catalog.call('GET', made.path)
  expect(status).toBe(200)
  expect(textAt(json, 'metadata', 'properties', 'value')).toBe('1')
  expect(countFiles(folderOf(made))).toBe(2)
})

it('B049: a repetition under the same key finds the outcome of an unknown commit', async () => {
  const made = await table('unknown-keyed')
  const headers = { 'idempotency-key': 'bbbbbbbb-0000-4000-8000-000000000001' }
  const body = appendBody({ id: 5n, sequenceNumber: 1n, location: made.location })
  faults.swap = async (run) => {
    await run()
    faults.isDown = true
    throw new DatabaseUnavailableError('connection lost')
  }
  expect((await commit(made.path, body, headers)).status).toBe(500)
  faults = {}
  expect((await commit(made.path, body, headers)).status).toBe(200)
  const { json } = await catalog.call('GET', made.path)
  expect(member(json, 'metadata', 'snapshots')).toHaveLength(1)
})

it('I5 a repetition of a landed append succeeds and adds nothing, with other commits in between (B049)', async () => {
  const made = await table('repeated')
  const body = appendBody({ id: 5n, sequenceNumber: 1n, location: made.location })
  const next = appendBody({ id: 6n, sequenceNumber: 2n, parent: 5n, location: made.location })
  expect((await commit(made.path, body)).status).toBe(200)
  const second = await commit(made.path, next)
  const files = countFiles(folderOf(made))
  for (const again of [body, next]) {
    const answer = await commit(made.path, again)
    expect([answer.status, answer.text]).toEqual([200, second.text])
  }
  expect(countFiles(folderOf(made))).toBe(files)
})

it('recognises a repetition whose requirements and members come in another order', async () => {
  const made = await table('reordered')
  const { updates } = appendBody({ id: 5n, sequenceNumber: 1n, location: made.location })
  const requirements: JsonObject[] = [
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null },
    { type: 'assert-table-uuid', uuid: made.uuid },
  ]
  await commit(made.path, { requirements, updates })
  const reordered = requirements.map((item) => Object.fromEntries(Object.entries(item).reverse()))
  const answer = await commit(made.path, { updates, requirements: reordered.reverse() })
  expect(answer.status).toBe(200)
})

it('refuses another body under a snapshot id that is there', async () => {
  const made = await table('same-id')
  const body = appendBody({ id: 5n, sequenceNumber: 1n, location: made.location })
  await commit(made.path, body)
  const other = appendBody({ id: 5n, sequenceNumber: 1n, location: `${made.location}/other` })
  expect((await commit(made.path, other)).status).toBe(409)
  expect((await commit(made.path, { ...other, requirements: [] })).status).toBe(400)
  const { json } = await catalog.call('GET', made.path)
  expect(member(json, 'metadata', 'snapshots')).toHaveLength(1)
})

it('answers the immediate repetition of a change without snapshots with success', async () => {
  const made = await table('schema-change')
  const schema = {
    ...SCHEMA,
    fields: [{ id: 1n, name: 'ts', required: true, type: 'timestamptz' }],
  }
  const body: JsonObject = {
    requirements: [{ type: 'assert-current-schema-id', 'current-schema-id': 0n }],
    updates: [
      { action: 'add-schema', schema },
      { action: 'set-current-schema', 'schema-id': -1n },
    ],
  }
  const first = await commit(made.path, body)
  const second = await commit(made.path, body)
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.text).toBe(first.text)
  await commit(made.path, change('1'))
  expect((await commit(made.path, body)).status).toBe(409)
})

it('tries again on the new state after a race that another process won, requirements included', async () => {
  const made = await table('other-process')
  let races = 0
  faults.swap = async (run) => ((races += 1) === 1 ? loseRace(run) : run())
  expect((await commit(made.path, change('1'))).status).toBe(200)
  expect(races).toBe(2)
  expect(countFiles(folderOf(made))).toBe(2)
})

it('I3 checks requirements against the state that the commit replaces, not against the one it began with', async () => {
  const made = await table('overtaken')
  const text = readFileSync(made.metadataLocation.replace('file://', ''), 'utf8')
  const next = made.metadataLocation.replace('00000-', '00001-')
  // Another process adds a column between our check of the requirements and our swap.
  faults.swap = async (run) => {
    faults = {}
    const wider = text.replace('"last-column-id":2', '"last-column-id":7')
    await catalog.store.putIfAbsent(next, Buffer.from(wider))
    await catalog.database.query(
      'update catalog_table set metadata_location = $1, version = version + 1 where metadata_location = $2',
      [next, made.metadataLocation],
    )
    return run()
  }
  const requirements = [{ type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 2n }]
  const answer = await commit(made.path, { ...change('1'), requirements })
  expect(answer.status).toBe(409)
  const { json } = await catalog.call('GET', made.path)
  expect(textAt(json, 'metadata-location')).toBe(next)
  expect(countFiles(folderOf(made))).toBe(2)
})

it('gives up with 409 after too many lost races', async () => {
  const made = await table('unlucky')
  faults.swap = loseRace
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(409)
  expect(errorOf(answer).type).toBe('CommitFailedException')
  expect(countFiles(folderOf(made))).toBe(1)
})

it('creates: says "not applied" and removes the file when the row was not made', async () => {
  faults.swap = async () => {
    throw new DatabaseUnavailableError('connection lost')
  }
  const body = { name: 'no-row', schema: SCHEMA }
  const files = countFiles(catalog.directory)
  const answer = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
  expect(answer.status).toBe(503)
  expect(countFiles(catalog.directory)).toBe(files)
})

it('creates: succeeds when the row was made and the answer was lost', async () => {
  faults.swap = async (run) => {
    await run()
    throw new DatabaseUnavailableError('connection lost')
  }
  const body = { name: 'lost-row', schema: SCHEMA }
  const answer = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
  expect(answer.status).toBe(200)
  expect((await catalog.call('GET', '/v1/main/namespaces/ns/tables/lost-row')).text).toBe(
    answer.text,
  )
})

it('reaches every fault point of its part', async () => {
  reached.length = 0
  const made = await table('points')
  await commit(made.path, change('1'))
  expect(reached).toEqual([
    'create.metadata-written',
    'create.row-written',
    'commit.requirements-checked',
    'commit.metadata-written',
    'commit.swapped',
  ])
})
