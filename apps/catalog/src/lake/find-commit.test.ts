import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { ObjectStore } from '@timelake/storage/object-store'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

const WAIT_MS_MAX = 10_000
const SNAPSHOT_ID = 9151314442816847871n
const KEY = '0190aaaa-0000-7000-8000-00000000000'

let catalog: TestCatalog
/** Writes of metadata wait for it. */
let gate: Promise<void> = Promise.resolve()

const gatedStore = (store: ObjectStore): ObjectStore => ({
  ...store,
  get: (...args) => store.get(...args),
  putIfAbsent: async (...args) => {
    await gate
    return store.putIfAbsent(...args)
  },
})

beforeAll(async () => {
  catalog = await openTestCatalog({ wrapStore: gatedStore })
  await makeNamespace(catalog, ['ns'])
})

afterAll(() => catalog.stop())

const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })

function append(
  { path, location }: TestTable,
  { id = SNAPSHOT_ID, key, parent }: { id?: bigint; key?: string; parent?: bigint } = {},
  by = catalog,
) {
  const more = parent === undefined ? {} : { parent }
  const body = appendBody({ id, sequenceNumber: (parent ?? 0n) + 1n, location, ...more })
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  return by.call('POST', path, { body, headers })
}

async function outcome(
  { path }: TestTable,
  query: string,
  by = catalog,
): Promise<JsonValue | undefined> {
  const answer = await by.call('GET', `${path.replace('/v1/', '/lake/v1/')}/commits?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}

const byKey = (of: TestTable, key: string) => outcome(of, `idempotency-key=${key}`)
const bySnapshot = (of: TestTable, id = SNAPSHOT_ID) => outcome(of, `snapshot-id=${id}`)

it('finds what landed, by its key and by its snapshot', async () => {
  const landed = await table('landed')
  const answer = await append(landed, { key: `${KEY}1` })
  expect(answer.status).toBe(200)
  const expected: JsonObject = {
    outcome: 'landed',
    'snapshot-ids': [SNAPSHOT_ID],
    'metadata-location': member(answer.json, 'metadata-location'),
  }
  expect(await byKey(landed, `${KEY}1`)).toEqual(expected)
  expect(await byKey(landed, `${KEY}1`.toUpperCase())).toEqual(expected)
  expect(await bySnapshot(landed)).toEqual(expected)
})

it('still finds where a snapshot landed after further commits', async () => {
  const grown = await table('grown')
  const first = await append(grown, { id: 1n })
  await append(grown, { id: 2n, parent: 1n })
  expect(await bySnapshot(grown, 1n)).toEqual({
    outcome: 'landed',
    'snapshot-ids': [1n],
    'metadata-location': member(first.json, 'metadata-location'),
  })
})

it('tells why a commit was rejected, by its key and by its snapshot', async () => {
  const rejected = await table('rejected')
  const answer = await append(rejected, { key: `${KEY}2`, parent: 5n })
  expect(answer.status).toBe(409)
  const expected = {
    outcome: 'rejected',
    status: 409n,
    error: member(answer.json, 'error'),
  }
  expect(await byKey(rejected, `${KEY}2`)).toEqual(expected)
  expect(await bySnapshot(rejected)).toEqual(expected)
  expect((await append(rejected)).status).toBe(200)
  expect(await bySnapshot(rejected)).toMatchObject({ outcome: 'landed' })
})

it('says pending while a commit is under way', async () => {
  const slow = await table('slow')
  let open = (): void => {}
  gate = new Promise((resolve) => (open = resolve))
  const answer = append(slow, { key: `${KEY}3` })
  const isKnown = async () => JSON.stringify(await byKey(slow, `${KEY}3`)).includes('pending')
  await waitFor(isKnown, { timeoutMs: WAIT_MS_MAX })
  expect(await bySnapshot(slow)).toEqual({ outcome: 'pending' })
  open()
  expect((await answer).status).toBe(200)
  expect(await byKey(slow, `${KEY}3`)).toMatchObject({ outcome: 'landed' })
  expect(await bySnapshot(slow)).toMatchObject({ outcome: 'landed' })
})

it('says unknown for what it has no trace of, and for a key whose call is dead', async () => {
  const quiet = await table('quiet')
  const other = await table('other')
  expect(await byKey(quiet, `${KEY}4`)).toEqual({ outcome: 'unknown' })
  expect(await bySnapshot(quiet)).toEqual({ outcome: 'unknown' })
  await append(other, { key: `${KEY}5` })
  expect(await byKey(quiet, `${KEY}5`)).toEqual({ outcome: 'unknown' })
  expect(await bySnapshot(quiet)).toEqual({ outcome: 'unknown' })
  await catalog.database.query(
    `insert into idempotency_key (warehouse_id, key, operation, request_hash, lease_until_ms, expires_at_ms)
     values ($1, $2, 'updateTable', 'h', $3, $4)`,
    [catalog.warehouse.id, `${KEY}6`, catalog.clock.nowMs(), catalog.clock.nowMs() + 1_000],
  )
  expect(await byKey(quiet, `${KEY}6`)).toEqual({ outcome: 'unknown' })
})

it('gives each of several commits that land in one file its own snapshot', async () => {
  const shared = await table('shared')
  let open = (): void => {}
  gate = new Promise((resolve) => (open = resolve))
  const first = append(shared, { id: 1n, key: `${KEY}7` })
  await waitFor(() => waiting(shared, 1n), { timeoutMs: WAIT_MS_MAX })
  const second = append(shared, { id: 2n, parent: 1n, key: `${KEY}8` })
  await waitFor(() => waiting(shared, 2n), { timeoutMs: WAIT_MS_MAX })
  const third = append(shared, { id: 3n, parent: 2n, key: `${KEY}9` })
  await waitFor(() => waiting(shared, 3n), { timeoutMs: WAIT_MS_MAX })
  open()
  const answers = await Promise.all([first, second, third])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  for (const [at, key] of [7, 8, 9].entries()) {
    const found = await byKey(shared, `${KEY}${key}`)
    expect(found).toMatchObject({ outcome: 'landed', 'snapshot-ids': [BigInt(at + 1)] })
  }
  expect(await byKey(shared, `${KEY}8`)).toMatchObject({
    'metadata-location': member(answers[2].json, 'metadata-location'),
  })
})

it.each([
  ['neither', ''],
  ['both', `snapshot-id=1&idempotency-key=${KEY}1`],
  ['no UUID', 'idempotency-key=1'],
  ['no number', 'snapshot-id=x'],
  ['a number that no snapshot has', 'snapshot-id=9999999999999999999'],
])('answers 400 for %s', async (_, query) => {
  const { path } = await table(`bad-${String(_).replaceAll(' ', '-')}`)
  const answer = await catalog.call('GET', `${path.replace('/v1/', '/lake/v1/')}/commits?${query}`)
  expect(answer.status).toBe(400)
})

it('answers 404 for a table that is missing', async () => {
  const path = '/lake/v1/main/namespaces/ns/tables/nope/commits?snapshot-id=1'
  const answer = await catalog.call('GET', path)
  expect(answer.status).toBe(404)
  expect(errorOf(answer).type).toBe('NoSuchTableException')
})

describeOnPostgres('asked of a process that did not get the commit', () => {
  let catalogs: readonly [TestCatalog, TestCatalog]
  beforeAll(async () => {
    const first = await openTestCatalog({ on: 'postgres', wrapStore: gatedStore })
    catalogs = [first, await openTestCatalog({ sharing: first })]
    await makeNamespace(first, ['ns'])
  })
  afterAll(async () => {
    await catalogs[1].stop()
    await catalogs[0].stop()
  })

  it('a key tells everything, a snapshot only that it landed', async () => {
    const [first, second] = catalogs
    const asked = await makeTable(first, { levels: ['ns'], name: 'asked' })
    const [key, snapshot] = [`idempotency-key=${KEY}a`, `snapshot-id=${SNAPSHOT_ID}`]
    await append(asked, { key: `${KEY}a`, parent: 5n }, first)
    expect(await outcome(asked, snapshot, first)).toMatchObject({ outcome: 'rejected' })
    expect(await outcome(asked, key, second)).toMatchObject({ outcome: 'rejected', status: 409n })
    expect(await outcome(asked, snapshot, second)).toEqual({ outcome: 'unknown' })
    let open = (): void => {}
    gate = new Promise((resolve) => (open = resolve))
    const answer = append(asked, {}, first)
    const isPending = async () =>
      JSON.stringify(await outcome(asked, snapshot, first)).includes('pending')
    await waitFor(isPending, { timeoutMs: WAIT_MS_MAX })
    expect(await outcome(asked, snapshot, second)).toEqual({ outcome: 'unknown' })
    open()
    expect((await answer).status).toBe(200)
    expect(await outcome(asked, snapshot, second)).toMatchObject({ outcome: 'landed' })
  })
})

async function waiting(of: TestTable, id: bigint): Promise<boolean> {
  return JSON.stringify(await bySnapshot(of, id)).includes('pending')
}
