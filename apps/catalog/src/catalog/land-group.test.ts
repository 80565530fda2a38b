import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { ObjectStore } from '@timelake/storage/object-store'
import { StoreUnavailableError } from '@timelake/storage/object-store'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { faultyDatabase, type DatabaseFaults } from '../faulty-database.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { changeOf, setProperty, transact } from '../test-transactions.ts'

const SECONDS_10 = { timeoutMs: 10_000 }

/** Holds the first metadata file back, so that what comes meanwhile waits in the queue. */
let gate: { readonly opened: Promise<void>; open(): void; isReached: boolean } | undefined
let faults: DatabaseFaults = {}
let putFault: (() => never) | undefined

function gatedStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    async putIfAbsent(location, bytes) {
      if (gate !== undefined && !gate.isReached) {
        gate.isReached = true
        await gate.opened
      }
      putFault?.()
      return store.putIfAbsent(location, bytes)
    },
  }
}

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({
    wrapStore: gatedStore,
    wrapDatabase: (database) => faultyDatabase(database, () => faults),
    config: { commitQueueDepthMax: 40, commitQueueFullWaitMs: 50 },
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())
afterEach(() => {
  gate?.open()
  gate = undefined
  faults = {}
  putFault = undefined
})

const post = (table: TestTable, body: JsonObject, headers: Record<string, string> = {}) =>
  catalog.call('POST', table.path, { body, headers })
const metadataOf = async (table: TestTable): Promise<JsonValue> =>
  member((await catalog.call('GET', table.path)).json, 'metadata')
const lengthOf = (value: JsonValue): number => (value as JsonValue[]).length
const depth = async (): Promise<number> => {
  const { text } = await catalog.call('GET', '/metrics')
  return Number(/^timelake_commit_queue_depth (\d+)/m.exec(text)?.[1])
}

/** Sends a commit and holds it in the store until the gate opens. */
function hold(table: TestTable) {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const held = { opened, open, isReached: false }
  gate = held
  const answer = post(table, setProperty('first', 'yes'))
  return { answer, open, isHeld: waitFor(() => held.isReached, SECONDS_10) }
}

/** Holds a first commit, sends the others one by one, and lets go when all of them wait. */
async function together(
  table: TestTable,
  sends: readonly (() => Promise<TestAnswer>)[],
): Promise<TestAnswer[]> {
  const first = hold(table)
  await first.isHeld
  const answers: Promise<TestAnswer>[] = []
  for (const send of sends) {
    const before = await depth()
    answers.push(send())
    await waitFor(async () => (await depth()) > before, SECONDS_10)
  }
  first.open()
  expect((await first.answer).status).toBe(200)
  return Promise.all(answers)
}

const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
const filesOf = ({ location }: TestTable) => countFiles(location.replace('file://', ''))

describe('commits of one table that wait', () => {
  it('I32 land in one metadata file, and each is in it', async () => {
    const made = await table('together')
    const files = filesOf(made)
    const answers = await together(
      made,
      Array.from({ length: 20 }, (_, at) => () => post(made, setProperty(`k${at}`, 'v'))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(filesOf(made)).toBe(files + 2)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const properties = member(await metadataOf(made), 'properties') as JsonObject
    for (let at = 0; at < 20; at += 1) expect(properties[`k${at}`]).toBe('v')
  })

  it('I32 have one entry in the snapshot log, one event and one number each, in their order', async () => {
    const made = await table('appends')
    const { location } = made
    const chain = [1n, 2n, 3n].map((id) =>
      appendBody({ id, sequenceNumber: id, location, ...(id === 1n ? {} : { parent: id - 1n }) }),
    )
    const answers = await together(
      made,
      chain.map((body) => () => post(made, body)),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const metadata = await metadataOf(made)
    const log = member(metadata, 'snapshot-log') as JsonObject[]
    expect(log.map((entry) => entry['snapshot-id'])).toEqual([1n, 2n, 3n])
    const times = log.map((entry) => Number(entry['timestamp-ms']))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(lengthOf(member(metadata, 'metadata-log'))).toBe(2)
    const events = await catalog.database.query<{ event_number: bigint; payload: string }>(
      `select event_number, payload from outbox_event where table_uuid = $1 order by seq`,
      [made.uuid],
    )
    expect(events.map(({ event_number: number }) => number)).toEqual([1n, 2n, 3n, 4n, 5n])
    const ids = events.slice(2).map(({ payload }) => /"snapshot-id":(\d+)/.exec(payload)?.[1])
    expect(ids).toEqual(['1', '2', '3'])
  })

  it('are answered alone: a stale one is 409 and a malformed one 400, and the others land', async () => {
    const made = await table('refusals')
    const { location } = made
    const answers = await together(made, [
      () => post(made, appendBody({ id: 1n, sequenceNumber: 1n, location })),
      () => post(made, appendBody({ id: 2n, sequenceNumber: 2n, location })),
      () => post(made, { updates: [{ action: 'set-current-schema', 'schema-id': 99n }] }),
      () => post(made, appendBody({ id: 3n, parent: 1n, sequenceNumber: 2n, location })),
      () => transact(catalog, [changeOf(['ns'], 'refusals', setProperty('last', 'yes'))]),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 400, 200, 204])
    const [, stale] = answers
    expect(stale && errorOf(stale).message).toMatch(/^Requirement failed: branch main was created/)
    const metadata = await metadataOf(made)
    expect(member(metadata, 'current-snapshot-id')).toBe(3n)
    expect(member(metadata, 'properties', 'last')).toBe('yes')
  })

  it('are recognised when the same request stands there twice', async () => {
    const made = await table('twice')
    const body = appendBody({ id: 1n, sequenceNumber: 1n, location: made.location })
    const answers = await together(made, [() => post(made, body), () => post(made, body)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(lengthOf(member(await metadataOf(made), 'snapshot-log'))).toBe(1)
    expect((await post(made, body)).status).toBe(200)
  })

  it('keep the outcome of every key, and run a key once that comes twice', async () => {
    const made = await table('keys')
    const keyed = (key: string, value: string) => () =>
      post(made, setProperty(key.slice(0, 4), value), { 'idempotency-key': key })
    const [a, b] = [randomUUID(), randomUUID()]
    const before = filesOf(made)
    const [first, second] = await together(made, [keyed(a, '1'), keyed(b, '1')])
    expect([first?.status, second?.status]).toEqual([200, 200])
    const files = filesOf(made)
    expect(files).toBe(before + 2)
    const [again, other] = [await keyed(a, '1')(), await keyed(b, '2')()]
    expect(again.status).toBe(200)
    expect(errorOf(other).type).toBe('IdempotencyConflictException')
    expect(filesOf(made)).toBe(files)
    const key = randomUUID()
    const twice = await Promise.all([keyed(key, '1')(), keyed(key, '1')()])
    expect(twice.map(({ status }) => status)).toEqual([200, 200])
    expect(filesOf(made)).toBe(files + 1)
  })

  it('do not mind a key whose call was finished elsewhere', async () => {
    const made = await table('lost-key')
    const key = randomUUID()
    const held = hold(made)
    await held.isHeld
    const answers = Promise.all([
      post(made, setProperty('mine', 'lost'), { 'idempotency-key': key }),
      post(made, setProperty('other', 'lands')),
    ])
    await waitFor(async () => (await depth()) === 3, SECONDS_10)
    await catalog.database.query(`update idempotency_key set status = 204 where key = $1`, [key])
    held.open()
    const [lost, other] = await answers
    expect(other?.status).toBe(200)
    expect(lost?.status).not.toBe(503)
    const properties = member(await metadataOf(made), 'properties') as JsonObject
    expect([properties['mine'], properties['other']]).toEqual([undefined, 'lands'])
  })

  it('do not mind a caller that goes away', async () => {
    const made = await table('gone')
    const body = JSON.stringify(setProperty('gone', 'yes'))
    const leave = (): Promise<TestAnswer> => {
      const url = new URL(made.path, catalog.running.url)
      const sent = httpRequest(url, { method: 'POST' })
      sent.on('error', () => {})
      sent.end(body)
      void waitFor(async () => (await depth()) >= 2, SECONDS_10).then(() => sent.destroy())
      return post(made, setProperty('patient', 'yes'))
    }
    const [patient] = await together(made, [leave])
    expect(patient?.status).toBe(200)
  })

  it('share the fate of the group when nothing could be written, and may all come again', async () => {
    const made = await table('store-down')
    const files = filesOf(made)
    putFault = () => {
      throw new StoreUnavailableError('disk is full')
    }
    const bodies = [setProperty('a', '1'), setProperty('b', '1')]
    const failed = await Promise.all(bodies.map((body) => post(made, body)))
    expect(failed.map(({ status }) => status)).toEqual([503, 503])
    expect(filesOf(made)).toBe(files)
    putFault = undefined
    const again = await Promise.all(bodies.map((body) => post(made, body)))
    expect(again.map(({ status }) => status)).toEqual([200, 200])
  })

  it('are unknown together when the database does not answer, and land once when they come again', async () => {
    const made = await table('unknown')
    const bodies = ['a', 'b'].map((key) => setProperty(key, '1'))
    faults = { lose: 'after' }
    const sent = await Promise.all(bodies.map((body) => post(made, body)))
    faults = {}
    expect(sent.every(({ status }) => status === 200 || status === 500)).toBe(true)
    const again = await Promise.all(bodies.map((body) => post(made, body)))
    expect(again.map(({ status }) => status)).toEqual([200, 200])
    const properties = member(await metadataOf(made), 'properties') as JsonObject
    expect([properties['a'], properties['b']]).toEqual(['1', '1'])
  })
})

describe('a full queue', () => {
  it('holds a commit, then tells it to load again when it is stale and to wait when it is not', async () => {
    const made = await table('full')
    const { location } = made
    expect((await post(made, appendBody({ id: 1n, sequenceNumber: 1n, location }))).status).toBe(
      200,
    )
    const late = async () => {
      await waitFor(async () => (await depth()) === 40, SECONDS_10)
      const bodies = [
        setProperty('late', 'v'),
        appendBody({ id: 2n, sequenceNumber: 2n, location }),
      ]
      const answers = await Promise.all(bodies.map((body) => post(made, body)))
      gate?.open()
      return answers
    }
    const sends = Array.from(
      { length: 39 },
      (_, at) => () => post(made, setProperty(`k${at}`, 'v')),
    )
    const held = hold(made)
    const waiting: Promise<TestAnswer>[] = []
    await held.isHeld
    for (const send of sends) waiting.push(send())
    const [patient, stale] = await late()
    expect(patient?.status).toBe(503)
    expect(patient && errorOf(patient).message).toMatch(/40 commits wait for this table already/)
    expect(Number(patient?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(stale?.status).toBe(409)
    expect((await Promise.all(waiting)).every(({ status }) => status === 200)).toBe(true)
    expect((await held.answer).status).toBe(200)
    expect((await post(made, setProperty('late', 'v'))).status).toBe(200)
  })
})
