import {
  type ObjectStore,
  type PutOutcome,
  StoreUnavailableError,
} from '@timelake/storage/object-store'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseFaults, faultyDatabase } from '../faulty-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendFilesNamed, liveNames, loadMetadata } from '../test-appends.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, longAt, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

interface Faults extends DatabaseFaults {
  put?: (location: string, write: () => Promise<PutOutcome>) => Promise<PutOutcome>
  get?: (location: string) => void
  point?: (point: FaultPoint) => void
}

let faults: Faults = {}
let catalog: TestCatalog

function faultyStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    putIfAbsent: (location, bytes) => {
      const write = () => store.putIfAbsent(location, bytes)
      return faults.put === undefined ? write() : faults.put(location, write)
    },
    async get(location, options) {
      faults.get?.(location)
      return store.get(location, options)
    },
  }
}

beforeAll(async () => {
  catalog = await openTestCatalog({
    wrapStore: faultyStore,
    wrapDatabase: (database) => faultyDatabase(database, () => faults),
    reachFaultPoint: (point) => faults.point?.(point),
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())
afterEach(() => {
  faults = {}
})

const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
const append = (to: TestTable, id: string) =>
  appendFilesNamed(catalog, to, { id, names: [`of-${id}`] })
const filesOf = ({ location }: TestTable): number => countFiles(location.replace('file://', ''))

it.each([
  ['a manifest', /-m0\.avro$/],
  ['the manifest list', /snap-.*\.avro$/],
  ['the metadata', /\.metadata\.json$/],
])('leaves no file when %s cannot be written, and lands the batch later', async (what, name) => {
  const made = await table(`unwritten ${what}`)
  await append(made, 'a')
  const before = filesOf(made)
  faults.put = (location, write) => {
    if (name.test(location)) throw new StoreUnavailableError('disk is full')
    return write()
  }
  const answers = await Promise.all([append(made, 'b'), append(made, 'c')])
  expect(answers.map(({ status }) => status)).toEqual([503, 503])
  expect(filesOf(made)).toBe(before)
  faults = {}
  expect(textAt((await append(made, 'b')).json, 'outcome')).toBe('added')
  expect(await liveNames(catalog, made)).toEqual(['of-a', 'of-b'])
})

it('plans again on the new state when another process was first', async () => {
  const made = await table('race')
  let races = 0
  faults.statement = async (run) =>
    (races += 1) === 1 ? [{ changed: false, present: true, lost_keys: null }] : run()
  const answer = await append(made, 'a')
  expect(answer.status, answer.text).toBe(200)
  expect(races).toBe(2)
  // Two metadata files, one manifest, one list: what the lost attempt wrote is gone.
  expect(filesOf(made)).toBe(4)
  expect(await liveNames(catalog, made)).toEqual(['of-a'])
})

it('finds out what became of an append whose answer was lost', async () => {
  for (const lose of ['before', 'after'] as const) {
    const made = await table(`lost ${lose}`)
    faults = { lose, onLost: () => (faults = {}) }
    const answer = await append(made, 'a')
    expect(answer.status, answer.text).toBe(200)
    expect(textAt(answer.json, 'outcome')).toBe('added')
    const { currentSnapshotId } = await loadMetadata(catalog, made)
    expect(longAt(answer.json, 'snapshot-id')).toBe(currentSnapshotId)
  }
})

it.each(['before', 'after'] as const)(
  'I4 says "unknown" when that cannot be found out, and a repetition lands once: lost %s',
  async (lose) => {
    const made = await table(`unknown ${lose}`)
    faults = { lose, onLost: () => (faults = lose === 'after' ? { isDown: true } : faults) }
    const answer = await append(made, 'a')
    expect(answer.status).toBe(500)
    expect(errorOf(answer).type).toBe('CommitStateUnknownException')
    faults = {}
    const again = await append(made, 'a')
    const expected = lose === 'after' ? 'landed-before' : 'added'
    expect(textAt(again.json, 'outcome')).toBe(expected)
    expect(await liveNames(catalog, made)).toEqual(['of-a'])
  },
)

it.each<FaultPoint>(['commit.requirements-checked', 'commit.metadata-written', 'commit.swapped'])(
  'lands a batch once whose process died at %s',
  async (at) => {
    const made = await table(`died at ${at}`)
    faults.point = (point) => {
      if (point === at) throw new Error('the process is gone')
    }
    expect((await append(made, 'a')).status).toBe(500)
    faults = {}
    const again = await append(made, 'a')
    expect(again.status, again.text).toBe(200)
    const expected = at === 'commit.swapped' ? 'landed-before' : 'added'
    expect(textAt(again.json, 'outcome')).toBe(expected)
    expect(await liveNames(catalog, made)).toEqual(['of-a'])
  },
)

/** Nothing but the latest state is read while this runs. */
function withoutManifests(): void {
  faults.get = (location) => {
    if (location.endsWith('.avro')) throw new StoreUnavailableError('timeout')
  }
}

it('reads no manifest that this process wrote', async () => {
  const made = await table('known by heart')
  await append(made, 'a')
  withoutManifests()
  expect((await append(made, 'b')).status).toBe(200)
  expect((await append(made, 'c')).status).toBe(200)
  faults = {}
  expect(await liveNames(catalog, made)).toEqual(['of-a', 'of-b', 'of-c'])
})

describe('a catalog without memory', () => {
  let forgetful: TestCatalog
  beforeAll(async () => {
    forgetful = await openTestCatalog({
      wrapStore: faultyStore,
      config: { metadataCacheBytesMax: 1 },
    })
    await makeNamespace(forgetful, ['ns'])
  })
  afterAll(() => forgetful.stop())

  const send = (to: TestTable, id: string, name = `of-${id}`) =>
    appendFilesNamed(forgetful, to, { id, names: [name] })

  it('reads the manifests of the table, those of the same group included', async () => {
    const made = await makeTable(forgetful, { levels: ['ns'], name: 't' })
    const change = { updates: [{ action: 'set-properties', updates: { owner: 'x' } }] }
    await send(made, 'a')
    const answers = await Promise.all([
      send(made, 'b'),
      forgetful.call('POST', made.path, { body: change }),
      send(made, 'c', 'of-b'),
      send(made, 'd', 'of-a'),
    ])
    const statuses = answers.map(({ status }) => status)
    expect([200, 409]).toContain(statuses[0])
    expect(statuses.filter((status) => status === 409)).toHaveLength(2)
    expect(await liveNames(forgetful, made)).toEqual(['of-a', 'of-b'])
  })

  it('refuses an append whose manifests cannot be read, and takes other commits', async () => {
    const made = await makeTable(forgetful, { levels: ['ns'], name: 'unreadable' })
    await send(made, 'a')
    withoutManifests()
    const change = { updates: [{ action: 'set-properties', updates: { owner: 'x' } }] }
    const [refused, taken] = await Promise.all([
      send(made, 'b'),
      forgetful.call('POST', made.path, { body: change }),
    ])
    expect([refused.status, taken.status]).toEqual([503, 200])
    faults = {}
    expect(textAt((await send(made, 'b')).json, 'outcome')).toBe('added')
  })
})
