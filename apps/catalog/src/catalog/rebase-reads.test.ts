import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { ObjectStore } from '@timelake/storage/object-store'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { liveNames, loadMetadata } from '../test-appends.ts'
import { sendCommit, type TestAppend, writeAppend } from '../test-rebase.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

const WAIT = { timeoutMs: 10_000 }
/** More than a store client that was made for few calls at a time would take. */
const MANY = 30

/** What the catalog reads and writes in the store, each of which a test may hold back. */
const calls = { read: [] as string[], written: [] as string[] }
let holdRead: (location: string) => Promise<void> | undefined = () => undefined
let holdWrite: (location: string) => Promise<void> | undefined = () => undefined

function watchedStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    async get(location, options) {
      calls.read.push(location)
      await holdRead(location)
      return store.get(location, options)
    },
    async putIfAbsent(location, bytes) {
      calls.written.push(location)
      await holdWrite(location)
      return store.putIfAbsent(location, bytes)
    },
  }
}

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({ wrapStore: watchedStore })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())
afterEach(() => {
  holdRead = () => undefined
  holdWrite = () => undefined
})

let snapshotCount = 0n
const next = (name: string): TestAppend => {
  snapshotCount += 1n
  return { snapshotId: snapshotCount, names: [name] }
}
const table = (name: string): Promise<TestTable> =>
  makeTable(catalog, {
    levels: ['ns'],
    name,
    more: { properties: { 'commit.rebase-appends': 'true' } },
  })
const send = (to: TestTable, request: CommitRequest) => sendCommit(catalog, to, request, {})

/** Requests of clients that loaded the table at the same moment, and lost to another one since. */
async function writeStale(to: TestTable, count: number): Promise<CommitRequest[]> {
  const metadata = await loadMetadata(catalog, to)
  const requests: CommitRequest[] = []
  for (let at = 0; at <= count; at += 1) {
    requests.push(await writeAppend(catalog, metadata, next(`f${at}`)))
  }
  const [winner, ...stale] = requests
  if (winner === undefined) throw new Error('there is a winner')
  expect((await send(to, winner)).status).toBe(200)
  return stale
}

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

const listOf = ({ updates }: CommitRequest): string => {
  for (const update of updates) {
    if (update.action === 'add-snapshot') return update.snapshot.manifestList ?? ''
  }
  return ''
}

it('lets others land while the files of a stale append are read', async () => {
  const made = await table('slow')
  const [slow, fast] = await writeStale(made, 2)
  if (slow === undefined || fast === undefined) throw new Error('there are two')
  const reading = gate()
  holdRead = (location) => (location === listOf(slow) ? reading.opened : undefined)
  const slowAnswer = send(made, slow)
  await waitFor(() => calls.read.includes(listOf(slow)), WAIT)
  expect((await send(made, fast)).status).toBe(200)
  reading.open()
  expect((await slowAnswer).status).toBe(200)
  expect(await liveNames(catalog, made)).toEqual(['f0', 'f1', 'f2'])
})

it('reads nothing for an append to the newest state', async () => {
  const made = await table('newest')
  const request = await writeAppend(catalog, await loadMetadata(catalog, made), next('f0'))
  calls.read = []
  expect((await send(made, request)).status).toBe(200)
  expect(calls.read).toEqual([])
})

it('writes all files of a large group at one time', async () => {
  const made = await table('large')
  const requests = await writeStale(made, MANY + 1)
  const [first, ...others] = requests
  if (first === undefined) throw new Error('there is a first')
  const [inFront, together] = [gate(), gate()]
  let isFirst = true
  let underWay = 0
  holdWrite = (location) => {
    if (location.includes('/snap-')) {
      underWay += 1
      if (underWay > MANY) together.open()
      return underWay > 1 ? together.opened : undefined
    }
    if (!location.endsWith('.metadata.json') || !isFirst) return undefined
    isFirst = false
    return inFront.opened
  }
  const answers = [send(made, first)]
  await waitFor(() => !isFirst, WAIT)
  for (const request of others) answers.push(send(made, request))
  await waitFor(async () => {
    const { text } = await catalog.call('GET', '/metrics')
    return new RegExp(`^timelake_commit_queue_depth ${MANY + 1}$`, 'm').test(text)
  }, WAIT)
  inFront.open()
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  expect(statuses).toEqual(Array(MANY + 1).fill(200))
})
