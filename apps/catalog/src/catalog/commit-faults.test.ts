import { afterAll, beforeAll, afterEach, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import {
  StoreUnavailableError,
  type ObjectStore,
  type PutOutcome,
} from '@timelake/storage/object-store'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { faultyDatabase, type DatabaseFaults, type FaultyRow } from '../faulty-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

interface Faults extends DatabaseFaults {
  put?: (write: () => Promise<PutOutcome>) => Promise<PutOutcome>
}

let faults: Faults = {}
const reached: FaultPoint[] = []

/** The statement runs as if another process had moved the pointer before. */
async function loseRace(): Promise<FaultyRow[]> {
  return [{ changed: false, present: true, lost_keys: null }]
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

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({
    wrapStore: faultyStore,
    wrapDatabase: (database) => faultyDatabase(database, () => faults),
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

/** The next change is lost; those after it get through. */
const loseOnce = (lose: 'before' | 'after'): void => {
  faults = { lose, onLost: () => (faults = {}) }
}

it('B051: succeeds when the swap happened and its answer was lost', async () => {
  const made = await table('lost-answer')
  for (const lose of [() => loseOnce('after'), () => (faults = { lose: 'after' })]) {
    lose()
    const answer = await commit(made.path, change('1'))
    expect(answer.status).toBe(200)
    expect((await catalog.call('GET', made.path)).text).toBe(answer.text)
  }
})

it('B051: sends the swap again when the first one did not arrive', async () => {
  const made = await table('lost-swap')
  loseOnce('before')
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(200)
  expect((await catalog.call('GET', made.path)).text).toBe(answer.text)
  expect(countFiles(folderOf(made))).toBe(2)
})

it('says "not applied" and removes its file when the swap could not be sent', async () => {
  const made = await table('not-sent')
  faults.put = async (write) => {
    const outcome = await write()
    faults.isDown = true
    return outcome
  }
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(503)
  expect(answer.headers['retry-after']).toBe('1')
  expect(countFiles(folderOf(made))).toBe(1)
})

it.each(['before', 'after'] as const)(
  'I4 says "unknown" and deletes nothing when that cannot be found out: lost %s (B051)',
  async (lose) => {
    const made = await table(`unknown-${lose}`)
    faults = { lose, onLost: () => (faults = lose === 'after' ? { isDown: true } : faults) }
    const answer = await commit(made.path, change('1'))
    expect(answer.status).toBe(500)
    expect(errorOf(answer).type).toBe('CommitStateUnknownException')
    faults = {}
    const { status, json } = await catalog.call('GET', made.path)
    expect(status).toBe(200)
    const { value } = member(json, 'metadata', 'properties') as JsonObject
    expect(value).toBe(lose === 'after' ? '1' : undefined)
    expect(countFiles(folderOf(made))).toBe(2)
  },
)

it('B049: a repetition under the same key finds the outcome of an unknown commit', async () => {
  const made = await table('unknown-keyed')
  const headers = { 'idempotency-key': 'bbbbbbbb-0000-4000-8000-000000000001' }
  const body = appendBody({ id: 5n, sequenceNumber: 1n, location: made.location })
  faults = { lose: 'after', onLost: () => (faults = { isDown: true }) }
  expect((await commit(made.path, body, headers)).status).toBe(500)
  faults = {}
  expect((await commit(made.path, body, headers)).status).toBe(200)
  const { json } = await catalog.call('GET', made.path)
  expect(member(json, 'metadata', 'snapshots')).toHaveLength(1)
})

it('a keyed commit whose answer was lost is answered as usual', async () => {
  const made = await table('lost-keyed')
  for (const lose of ['before', 'after'] as const) {
    const headers = {
      'idempotency-key': `bbbbbbbb-0000-4000-8000-${lose.padEnd(12, '0').replace(/[^a-f0-9]/g, '0')}`,
    }
    loseOnce(lose)
    const first = await commit(made.path, change(lose), headers)
    const second = await commit(made.path, change(lose), headers)
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.text).toBe(first.text)
  }
  expect(countFiles(folderOf(made))).toBe(3)
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
  faults.statement = async (run) => ((races += 1) === 1 ? loseRace() : run())
  expect((await commit(made.path, change('1'))).status).toBe(200)
  expect(races).toBe(2)
  expect(countFiles(folderOf(made))).toBe(2)
})

it('I3 checks requirements against the state that the commit replaces, not against the one it began with', async () => {
  const made = await table('overtaken')
  const text = readFileSync(made.metadataLocation.replace('file://', ''), 'utf8')
  const next = made.metadataLocation.replace('00000-', '00001-')
  // Another process adds a column between our check of the requirements and our swap.
  faults.statement = async (run) => {
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
  faults.statement = loseRace
  const answer = await commit(made.path, change('1'))
  expect(answer.status).toBe(409)
  expect(errorOf(answer).type).toBe('CommitFailedException')
  expect(countFiles(folderOf(made))).toBe(1)
})

it.each(['before', 'after'] as const)(
  'creates: makes the row once when it was lost %s it was made',
  async (lose) => {
    loseOnce(lose)
    const body = { name: `lost-row-${lose}`, schema: SCHEMA }
    const answer = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
    expect(answer.status).toBe(200)
    const path = `/v1/main/namespaces/ns/tables/lost-row-${lose}`
    expect((await catalog.call('GET', path)).text).toBe(answer.text)
  },
)

it('creates: says "not applied" and removes the file when the row could not be sent', async () => {
  const files = countFiles(catalog.directory)
  faults.put = async (write) => {
    const outcome = await write()
    faults.isDown = true
    return outcome
  }
  const body = { name: 'no-row', schema: SCHEMA }
  const answer = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
  expect(answer.status).toBe(503)
  expect(countFiles(catalog.directory)).toBe(files)
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
