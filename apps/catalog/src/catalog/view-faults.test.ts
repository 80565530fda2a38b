import { Buffer } from 'node:buffer'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import {
  StoreUnavailableError,
  type ObjectStore,
  type PutOutcome,
} from '@timelake/storage/object-store'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import type { CatalogConfig } from '../catalog-config.ts'
import { faultyDatabase, type DatabaseFaults, type FaultyRow } from '../faulty-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, propertyBody, replaceBody, viewBody } from '../test-views.ts'

interface Faults extends DatabaseFaults {
  put?: (write: () => Promise<PutOutcome>) => Promise<PutOutcome>
}

let faults: Faults = {}
const reached: FaultPoint[] = []

function faultyStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    putIfAbsent: (location, bytes) => {
      const write = () => store.putIfAbsent(location, bytes)
      return faults.put === undefined ? write() : faults.put(write)
    },
  }
}

const open = (config: Partial<CatalogConfig> = {}) =>
  openTestCatalog({
    config,
    wrapStore: faultyStore,
    wrapDatabase: (database) => faultyDatabase(database, () => faults),
    reachFaultPoint: (point) => void reached.push(point),
  })

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await open()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())
afterEach(() => {
  faults = {}
})

const VIEWS = '/v1/main/namespaces/ns/views'
const view = (name: string) => makeView(catalog, { levels: ['ns'], name })
const commit = (path: string, body: JsonObject, headers = {}) =>
  catalog.call('POST', path, { body, headers })
const filesOf = ({ location }: { location: string }) => countFiles(location.replace('file://', ''))
const valueOf = async (path: string) => {
  const { json } = await catalog.call('GET', path)
  return (member(json, 'metadata', 'properties') as JsonObject)['value']
}

/** The next change is lost; those after it get through. */
const loseOnce = (lose: 'before' | 'after'): void => {
  faults = { lose, onLost: () => (faults = {}) }
}

/** What a statement of ours answers when another process has moved the pointer. */
const LOST_RACE: FaultyRow[] = [
  { changed: false, allowed: true, current: 'elsewhere', location: 'elsewhere' },
]

describe('a commit of a view', () => {
  it('is "not applied" and leaves no file when the store cannot write', async () => {
    const made = await view('store-down')
    faults.put = async () => {
      throw new StoreUnavailableError('disk is full')
    }
    const answer = await commit(made.path, propertyBody('1'))
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
    expect(filesOf(made)).toBe(1)
    expect(await valueOf(made.path)).toBeUndefined()
  })

  it('I12 takes another name when the first one is taken', async () => {
    const made = await view('taken-name')
    let attempts = 0
    faults.put = async (write) => ((attempts += 1) === 1 ? 'exists' : write())
    expect((await commit(made.path, propertyBody('1'))).status).toBe(200)
    expect(attempts).toBe(2)
  })

  it.each(['before', 'after'] as const)('succeeds when it was lost %s the swap', async (lose) => {
    const made = await view(`lost-${lose}`)
    loseOnce(lose)
    const answer = await commit(made.path, propertyBody('1'))
    expect(answer.status).toBe(200)
    expect((await catalog.call('GET', made.path)).text).toBe(answer.text)
    expect(filesOf(made)).toBe(2)
  })

  it('is not applied again when a later commit of another process hides it', async () => {
    const shared = await open({ isOnlyWriter: false })
    await makeNamespace(shared, ['ns'])
    const made = await makeView(shared, { levels: ['ns'], name: 'overtaken' })
    const other = async () => {
      const [row] = await shared.database.query<FaultyRow>(
        'select metadata_location from catalog_table',
      )
      const now = String(row?.['metadata_location'])
      const next = now.replace('00001-', '00002-')
      const text = Buffer.from(await shared.store.get(now)).toString()
      await shared.store.putIfAbsent(next, Buffer.from(text.replace('"value":"1"', '"value":"2"')))
      await shared.database.query(
        'update catalog_table set metadata_location = $1, version = version + 1',
        [next],
      )
    }
    const sendAfterOther: DatabaseFaults['statement'] = async (run) => {
      await other()
      return run()
    }
    faults = { lose: 'after', onLost: () => (faults = { statement: sendAfterOther }) }
    const answer = await shared.call('POST', made.path, { body: propertyBody('1') })
    expect(answer.status, answer.text).toBe(200)
    expect(member(answer.json, 'metadata', 'properties', 'value')).toBe('1')
    faults = {}
    const newest = await shared.call('GET', made.path)
    expect(member(newest.json, 'metadata', 'properties', 'value')).toBe('2')
    expect(filesOf(made)).toBe(3)
    await shared.stop()
  })

  it('is "not applied" and leaves no file when the swap could not be sent', async () => {
    const made = await view('not-sent')
    faults.put = async (write) => {
      const outcome = await write()
      faults.isDown = true
      return outcome
    }
    expect((await commit(made.path, propertyBody('1'))).status).toBe(503)
    faults = {}
    expect(filesOf(made)).toBe(1)
    expect(await valueOf(made.path)).toBeUndefined()
  })

  it.each(['before', 'after'] as const)(
    'I4 is "unknown" and deletes nothing when that cannot be found out: lost %s',
    async (lose) => {
      const made = await view(`unknown-${lose}`)
      faults = { lose, onLost: () => (faults = lose === 'after' ? { isDown: true } : faults) }
      const answer = await commit(made.path, propertyBody('1'))
      expect(answer.status).toBe(500)
      expect(errorOf(answer).type).toBe('CommitStateUnknownException')
      faults = {}
      expect(await valueOf(made.path)).toBe(lose === 'after' ? '1' : undefined)
      expect(filesOf(made)).toBe(2)
    },
  )

  it('is tried again on the new state after a race that another process won', async () => {
    const made = await view('race')
    let sends = 0
    faults.statement = async (run) => ((sends += 1) === 1 ? LOST_RACE : run())
    expect((await commit(made.path, propertyBody('1'))).status).toBe(200)
    expect(sends).toBe(2)
    expect(filesOf(made)).toBe(2)
  })

  it('gives up with 409 after too many lost races', async () => {
    const made = await view('unlucky')
    faults.statement = async () => LOST_RACE
    const answer = await commit(made.path, propertyBody('1'))
    expect(errorOf(answer)).toMatchObject({ type: 'CommitFailedException', code: 409 })
    expect(filesOf(made)).toBe(1)
  })

  it('reaches the fault points of its part', async () => {
    reached.length = 0
    const made = await view('points')
    await commit(made.path, propertyBody('1'))
    expect(reached).toEqual([
      'create.metadata-written',
      'create.row-written',
      'commit.requirements-checked',
      'commit.metadata-written',
      'commit.swapped',
    ])
  })
})

describe('a creation of a view', () => {
  it.each(['before', 'after'] as const)('makes the row once when it was lost %s', async (lose) => {
    loseOnce(lose)
    const answer = await commit(VIEWS, viewBody(`row-${lose}`))
    expect(answer.status).toBe(200)
    expect((await catalog.call('GET', `${VIEWS}/row-${lose}`)).text).toBe(answer.text)
  })

  it('is "not applied" and leaves no file when the row could not be sent', async () => {
    const files = countFiles(catalog.directory)
    faults.put = async (write) => {
      const outcome = await write()
      faults.isDown = true
      return outcome
    }
    expect((await commit(VIEWS, viewBody('no-row'))).status).toBe(503)
    expect(countFiles(catalog.directory)).toBe(files)
  })

  it('leaves no file behind when somebody else was faster', async () => {
    const files = countFiles(catalog.directory)
    // This process knows that the name is free, and is wrong.
    expect((await catalog.call('HEAD', `${VIEWS}/faster`)).status).toBe(404)
    await catalog.database.query(
      `insert into catalog_table (id, kind, warehouse_id, namespace_id, name, table_uuid, location,
         metadata_location, version, event_number, created_at_ms, updated_at_ms)
       select 'faster', 'table', warehouse_id, id, 'faster', 'u', 'file:///f', 'file:///f/m', 0, 1, 0, 0
       from namespace where name = 'ns'`,
    )
    const answer = await commit(VIEWS, viewBody('faster'))
    expect(errorOf(answer).message).toBe('Table with same name already exists: ns.faster')
    expect(countFiles(catalog.directory)).toBe(files)
    await catalog.database.query(`delete from catalog_table where id = 'faster'`)
  })
})

describe.each(['before', 'after'] as const)('lost %s', (lose) => {
  const rename = (kind: string, from: string, to: string) =>
    catalog.call('POST', `/v1/main/${kind}/rename`, {
      body: {
        source: { namespace: ['ns'], name: from },
        destination: { namespace: ['ns'], name: to },
      },
    })

  it('a drop and a renaming of a view succeed', async () => {
    const made = await view(`moves-${lose}`)
    loseOnce(lose)
    expect((await rename('views', `moves-${lose}`, `moved-${lose}`)).status).toBe(204)
    const path = `${VIEWS}/moved-${lose}`
    expect((await catalog.call('HEAD', made.path)).status).toBe(404)
    expect((await catalog.call('HEAD', path)).status).toBe(204)
    loseOnce(lose)
    expect((await catalog.call('DELETE', path)).status).toBe(204)
    expect((await catalog.call('HEAD', path)).status).toBe(404)
  })

  it('a drop and a renaming of a table succeed', async () => {
    const made = await makeTable(catalog, { levels: ['ns'], name: `table-${lose}` })
    loseOnce(lose)
    expect((await rename('tables', `table-${lose}`, `tabled-${lose}`)).status).toBe(204)
    const path = made.path.replace('table-', 'tabled-')
    loseOnce(lose)
    expect((await catalog.call('DELETE', path)).status).toBe(204)
    expect((await catalog.call('HEAD', path)).status).toBe(404)
  })
})

it('a drop is "unknown" when that cannot be found out, and its repetition tells', async () => {
  const made = await view('drop-unknown')
  faults = { lose: 'after', onLost: () => (faults = { isDown: true }) }
  const answer = await catalog.call('DELETE', made.path)
  expect(errorOf(answer)).toMatchObject({ type: 'CommitStateUnknownException', code: 500 })
  faults = {}
  expect((await catalog.call('DELETE', made.path)).status).toBe(404)
})

describe('an Idempotency-Key', () => {
  let keyCount = 0
  const newKey = () => `cccccccc-0000-4000-8000-${String((keyCount += 1)).padStart(12, '0')}`
  const eventCount = async () =>
    (await catalog.database.query('select count(*) as n from outbox_event'))[0]
  const twice = async (method: string, path: string, body?: JsonObject) => {
    const call = {
      headers: { 'idempotency-key': newKey() },
      ...(body === undefined ? {} : { body }),
    }
    const first = await catalog.call(method, path, call)
    const events = await eventCount()
    const second = await catalog.call(method, path, call)
    expect(await eventCount()).toEqual(events)
    expect([second.status, second.text]).toEqual([first.status, first.text])
    return first
  }

  it('gives every mutation of a view one outcome', async () => {
    const created = await twice('POST', VIEWS, viewBody('keyed'))
    const uuid = textAt(created.json, 'metadata', 'view-uuid')
    const location = textAt(created.json, 'metadata-location')
    const path = `${VIEWS}/keyed`
    const register = '/v1/main/namespaces/ns/register-view'
    const answers = [
      created,
      await twice('POST', path, replaceBody(uuid, 'select 2')),
      await twice('POST', path, { updates: [] }),
      await twice('POST', register, { name: 'again', 'metadata-location': location }),
      await twice('POST', '/v1/main/views/rename', {
        source: { namespace: ['ns'], name: 'keyed' },
        destination: { namespace: ['ns'], name: 'renamed' },
      }),
      await twice('DELETE', `${VIEWS}/renamed`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 204, 204])
  })

  it('keeps refusals too', async () => {
    expect((await twice('POST', VIEWS, viewBody(''))).status).toBe(400)
    expect((await twice('DELETE', `${VIEWS}/nothing`)).status).toBe(404)
  })

  it('finds the outcome of an unknown commit', async () => {
    const made = await view('keyed-unknown')
    const headers = { 'idempotency-key': newKey() }
    const body = replaceBody(made.uuid, 'select 2')
    faults = { lose: 'after', onLost: () => (faults = { isDown: true }) }
    expect((await commit(made.path, body, headers)).status).toBe(500)
    faults = {}
    const again = await commit(made.path, body, headers)
    expect([again.status, member(again.json, 'metadata', 'current-version-id')]).toEqual([200, 2n])
  })

  it('answers the newest metadata, or "unknown", when the file of the outcome is gone', async () => {
    const made = await view('keyed-gone')
    const headers = { 'idempotency-key': newKey() }
    const first = await commit(made.path, propertyBody('1'), headers)
    const newest = await commit(made.path, propertyBody('2'))
    await catalog.store.delete(textAt(first.json, 'metadata-location'))
    const again = await commit(made.path, propertyBody('1'), headers)
    expect([again.status, again.text]).toEqual([200, newest.text])
    await catalog.call('DELETE', made.path)
    expect((await commit(made.path, propertyBody('1'), headers)).status).toBe(500)
  })
})
