import { readFileSync } from 'node:fs'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { ObjectStore, PutOutcome } from '@timelake/storage/object-store'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { faultyDatabase, type DatabaseFaults, type FaultyRow } from '../faulty-database.ts'
import { describeOnEachDatabase } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, createCommitBody } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { changeOf, setProperty, transact } from '../test-transactions.ts'

const TABLES = 3

interface Faults extends DatabaseFaults {
  put?: (write: () => Promise<PutOutcome>) => Promise<PutOutcome>
}

// It runs on a server that others may be using.
vi.setConfig({ testTimeout: 120_000 })

describeOnEachDatabase('a transaction whose answers are lost', (on) => {
  let catalog: TestCatalog
  let faults: Faults = {}
  let count = 0
  const reached: FaultPoint[] = []

  const faultyStore = (store: ObjectStore): ObjectStore => ({
    ...store,
    putIfAbsent: (location, bytes) => {
      const write = () => store.putIfAbsent(location, bytes)
      return faults.put === undefined ? write() : faults.put(write)
    },
  })

  beforeAll(async () => {
    catalog = await openTestCatalog({
      on,
      wrapStore: faultyStore,
      wrapDatabase: (database) => faultyDatabase(database, () => faults),
      reachFaultPoint: (point) => void reached.push(point),
    })
    await makeNamespace(catalog, ['ns'])
  })
  afterAll(() => catalog.stop())
  afterEach(() => {
    faults = {}
  })

  /** Tables and a transaction that appends to all of them and creates one more. */
  async function world() {
    count += 1
    const names = Array.from({ length: TABLES }, (_, at) => `t${count}-${at}`)
    const made: TestTable[] = []
    for (const name of names) made.push(await makeTable(catalog, { levels: ['ns'], name }))
    const appends = names.map((name, at) => {
      const { location } = made[at] as TestTable
      const append = appendBody({ id: BigInt(at + 1), sequenceNumber: 1n, location })
      return changeOf(['ns'], name, append)
    })
    const location = `${catalog.warehouse.location}/placed/${count}`
    const create = createCommitBody({
      uuid: `0189cccc-0000-7000-8000-${String(count).padStart(12, '0')}`,
      location,
    })
    const newName = `t${count}-new`
    const changes: JsonObject[] = [...appends, changeOf(['ns'], newName, create)]
    return { made, changes, newPath: `/v1/main/namespaces/ns/tables/${newName}` }
  }

  /** How many snapshots each table has, and whether the new one is there. */
  async function state({ made, newPath }: { made: readonly TestTable[]; newPath: string }) {
    const snapshots: number[] = []
    for (const { path } of made) {
      const { json } = await catalog.call('GET', path)
      snapshots.push((member(json, 'metadata', 'snapshots') as JsonObject[]).length)
    }
    return { snapshots, isMade: (await catalog.call('HEAD', newPath)).status === 204 }
  }
  const applied = { snapshots: [1, 1, 1], isMade: true }
  const untouched = { snapshots: [0, 0, 0], isMade: false }
  const newFiles = TABLES + 1

  it.each(['before', 'after'] as const)(
    'I1 B051: applies it once when it was lost %s it was applied',
    async (lose) => {
      const { changes, ...tables } = await world()
      const files = countFiles(catalog.directory)
      faults = { lose, onLost: () => (faults = {}) }
      expect((await transact(catalog, changes)).status).toBe(204)
      expect(await state(tables)).toEqual(applied)
      expect(countFiles(catalog.directory)).toBe(files + newFiles)
      const events = await catalog.database.query(
        `select 1 from outbox_event where kind = 'table-committed' and name like $1`,
        [`t${count}-%`],
      )
      expect(events).toHaveLength(TABLES)
    },
  )

  it('B051: finds that it was applied although every answer is lost', async () => {
    const { changes, ...tables } = await world()
    faults = { lose: 'after' }
    expect((await transact(catalog, changes)).status).toBe(204)
    faults = {}
    expect(await state(tables)).toEqual(applied)
  })

  it('I4 says "unknown" and deletes nothing when that cannot be found out', async () => {
    const { changes, ...tables } = await world()
    const files = countFiles(catalog.directory)
    const key = { 'idempotency-key': `dddddddd-0000-4000-8000-${String(count).padStart(12, '0')}` }
    faults = { lose: 'after', onLost: () => (faults = { isDown: true }) }
    const answer = await transact(catalog, changes, key)
    expect(answer.status).toBe(500)
    expect(errorOf(answer).type).toBe('CommitStateUnknownException')
    expect(countFiles(catalog.directory)).toBe(files + newFiles)
    faults = {}
    expect(await state(tables)).toEqual(applied)
    expect((await transact(catalog, changes, key)).status).toBe(204)
    expect((await transact(catalog, changes)).status).toBe(204)
    expect(await state(tables)).toEqual(applied)
  })

  it('says "not applied" and removes all files when the database is lost before the end', async () => {
    const { changes, ...tables } = await world()
    const files = countFiles(catalog.directory)
    faults = { lose: 'before' }
    expect((await transact(catalog, changes)).status).toBe(503)
    faults = {}
    expect(countFiles(catalog.directory)).toBe(files)
    expect(await state(tables)).toEqual(untouched)
  })

  it('says "not applied" and removes all files when it could not be sent', async () => {
    const { changes, ...tables } = await world()
    const files = countFiles(catalog.directory)
    let writes = 0
    faults.put = async (write) => {
      const outcome = await write()
      writes += 1
      if (writes === newFiles) faults.isDown = true
      return outcome
    }
    const answer = await transact(catalog, changes)
    expect(answer.status).toBe(503)
    expect(answer.headers['retry-after']).toBe('1')
    faults = {}
    expect(countFiles(catalog.directory)).toBe(files)
    expect(await state(tables)).toEqual(untouched)
  })

  it('says "not applied" and removes the other files when one cannot be written', async () => {
    const { changes, ...tables } = await world()
    const files = countFiles(catalog.directory)
    let writes = 0
    faults.put = async (write) => ((writes += 1) === 2 ? 'unknown' : write())
    expect((await transact(catalog, changes)).status).toBe(503)
    expect(countFiles(catalog.directory)).toBe(files)
    expect(await state(tables)).toEqual(untouched)
  })

  it('tries again on the new state after a race that another process won', async () => {
    const { made, changes, newPath } = await world()
    const files = countFiles(catalog.directory)
    let changesSent = 0
    const loseRace = async (): Promise<FaultyRow[]> => [
      { changed: false, allowed: true, current: 'elsewhere', location: 'elsewhere' },
    ]
    faults.statement = async (run) => ((changesSent += 1) === 2 ? loseRace() : run())
    expect((await transact(catalog, changes)).status).toBe(204)
    expect(await state({ made, newPath })).toEqual(applied)
    expect(countFiles(catalog.directory)).toBe(files + newFiles)
    faults.statement = loseRace
    const set = setProperty('k', 'v')
    const more = [changeOf(['ns'], `t${count}-0`, set), changeOf(['ns'], `t${count}-1`, set)]
    const unlucky = await transact(catalog, more)
    expect(unlucky.status).toBe(409)
    expect(countFiles(catalog.directory)).toBe(files + newFiles)
  })

  it('I3 fails when a table that it only looked at was changed by another process meanwhile', async () => {
    const { made } = await world()
    const [seen, changed] = made as [TestTable, TestTable]
    const requirement = { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 2n }
    const look = { requirements: [requirement], updates: [] }
    // Another process widens the first table while the file of the second is being written.
    faults.put = async (write) => {
      faults = {}
      const next = seen.metadataLocation.replace('00000-', '00001-')
      const text = readFileSync(seen.metadataLocation.replace('file://', ''), 'utf8')
      const wider = text.replace('"last-column-id":2', '"last-column-id":7')
      await catalog.store.putIfAbsent(next, Buffer.from(wider))
      await catalog.database.query(
        'update catalog_table set metadata_location = $1 where metadata_location = $2',
        [next, seen.metadataLocation],
      )
      return write()
    }
    const changes = [
      changeOf(['ns'], `t${count}-0`, look),
      changeOf(['ns'], `t${count}-1`, setProperty('k', 'v')),
    ]
    expect((await transact(catalog, changes)).status).toBe(409)
    const { json } = await catalog.call('GET', changed.path)
    expect(member(json, 'metadata', 'properties')).not.toHaveProperty('k')
  })

  it('reaches every fault point of its part', async () => {
    const { changes } = await world()
    reached.length = 0
    await transact(catalog, changes)
    expect(reached).toEqual([
      'transaction.requirements-checked',
      'transaction.metadata-written',
      ...Array.from({ length: TABLES }, () => 'transaction.half-swapped'),
      'transaction.swapped',
    ])
  })
})
