import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { encodeCommitRequest } from '@timelake/iceberg/rest/commit-json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { liveEntries, liveNames, loadMetadata } from '../test-appends.ts'
import { errorOf } from '../test-json.ts'
import {
  appendToPresent,
  headOf,
  manifestsOf,
  sendCommit,
  type TestAppend,
  writeAppend,
} from '../test-rebase.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { changeOf, transact } from '../test-transactions.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const REBASED = { 'commit.rebase-appends': 'true' }
const HEADER = { 'X-Timelake-Rebase-Appends': 'true' }
const APPENDS = 8

let snapshotCount = 0n
const next = (...names: readonly string[]): TestAppend => {
  snapshotCount += 1n
  return { snapshotId: snapshotCount, names }
}
const table = (name: string, properties: JsonObject = REBASED): Promise<TestTable> =>
  makeTable(catalog, { levels: ['ns'], name, more: { properties } })
const write = (metadata: TableMetadata, append: TestAppend) =>
  writeAppend(catalog, metadata, append)
const send = (to: TestTable, request: CommitRequest, headers: Record<string, string> = {}) =>
  sendCommit(catalog, to, request, headers)

/** Requests of clients that all loaded the table at the same moment. */
async function writeAll(metadata: TableMetadata, count: number, more: Partial<TestAppend> = {}) {
  const requests: CommitRequest[] = []
  for (let at = 0; at < count; at += 1) {
    requests.push(await write(metadata, { ...next(`f${at}`), ...more }))
  }
  return requests
}

const namesOf = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `f${at}`).sort()

describe('appends of clients that loaded the same table', () => {
  it.each(['1', '2', '3'])('all land on a v%s table that asks for it', async (version) => {
    const made = await table(`all-v${version}`, { ...REBASED, 'format-version': version })
    const requests = await writeAll(await loadMetadata(catalog, made), APPENDS)
    const answers = await Promise.all(requests.map((request) => send(made, request)))
    expect(answers.map(({ status }) => status)).toEqual(Array(APPENDS).fill(200))
    expect(await liveNames(catalog, made)).toEqual(namesOf(APPENDS))
    const { snapshots, snapshotLog } = await loadMetadata(catalog, made)
    expect(snapshotLog).toHaveLength(APPENDS)
    const parents = snapshots.map(({ parentSnapshotId }) => parentSnapshotId)
    expect(parents).toEqual([undefined, ...snapshots.slice(0, -1).map((one) => one.snapshotId)])
    if (version === '3') {
      const ids = (await liveEntries(catalog, made)).map(({ dataFile }) => dataFile.firstRowId)
      expect(ids.map(Number).sort((a, b) => a - b)).toEqual(
        namesOf(APPENDS).map((_, at) => at * 10),
      )
    }
  })

  it('all land when their senders ask for it', async () => {
    const made = await table('by-header', {})
    const requests = await writeAll(await loadMetadata(catalog, made), 3)
    const answers = await Promise.all(requests.map((request) => send(made, request, HEADER)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await liveNames(catalog, made)).toEqual(namesOf(3))
  })

  it('lose but for one where nobody asks', async () => {
    const made = await table('strict', { 'commit.rebase-appends': 'false' })
    const [first, second] = await writeAll(await loadMetadata(catalog, made), 2)
    expect((await send(made, first!)).status).toBe(200)
    const answer = await send(made, second!)
    expect(errorOf(answer)).toMatchObject({ code: 409, type: 'CommitFailedException' })
    expect(errorOf(answer).message).toMatch(/^Requirement failed: branch main was created/)
    expect(await liveNames(catalog, made)).toEqual(['f0'])
  })

  it('all land when they come as transactions of one table', async () => {
    const made = await table('transactions')
    const requests = await writeAll(await loadMetadata(catalog, made), 3)
    for (const request of requests) {
      const { requirements, updates } = encodeCommitRequest(request)
      const change = changeOf(['ns'], 'transactions', { requirements, updates })
      expect((await transact(catalog, [change])).status).toBe(204)
    }
    expect(await liveNames(catalog, made)).toEqual(namesOf(3))
  })

  it('land on a branch beside main', async () => {
    const made = await table('branches')
    await appendToPresent(catalog, made, next('f0'))
    const { snapshotId } = headOf(await loadMetadata(catalog, made))!
    const branch = { type: 'branch', 'snapshot-id': snapshotId, 'ref-name': 'audit' }
    const updates = [{ action: 'set-snapshot-ref', ...branch, 'max-ref-age-ms': 1_000_000n }]
    await catalog.call('POST', made.path, { body: { updates } })
    const loaded = await loadMetadata(catalog, made)
    const onAudit = await writeAll(loaded, 2, { branch: 'audit', names: ['a'] })
    const onMain = await writeAll(loaded, 2, { names: ['m'] })
    for (const request of [...onMain, ...onAudit]) {
      expect((await send(made, request)).status).toBe(200)
    }
    expect(await liveNames(catalog, made, 'audit')).toEqual(['a', 'a', 'f0'])
    expect(await liveNames(catalog, made)).toEqual(['f0', 'm', 'm'])
    const { refs } = await loadMetadata(catalog, made)
    expect(refs['audit']).toMatchObject({ maxRefAgeMs: 1_000_000 })
  })

  it('keep the history in order whatever their clocks say', async () => {
    const made = await table('clocks')
    const loaded = await loadMetadata(catalog, made)
    const nowMs = catalog.clock.nowMs()
    const times = [nowMs + 86_400_000, nowMs - 300_000, nowMs]
    for (const timestampMs of times) {
      const request = await write(loaded, { ...next('f'), timestampMs })
      expect((await send(made, request)).status).toBe(200)
    }
    const { snapshotLog, snapshots } = await loadMetadata(catalog, made)
    const logged = snapshotLog.map(({ timestampMs }) => timestampMs)
    expect(logged).toEqual([...logged].sort((a, b) => a - b))
    const stamped = snapshots.map(({ timestampMs }) => timestampMs)
    expect(stamped).toEqual([...stamped].sort((a, b) => a - b))
  })

  it('land once when they are sent again', async () => {
    const made = await table('again')
    const [first, second] = await writeAll(await loadMetadata(catalog, made), 2)
    await send(made, first!)
    expect((await send(made, second!)).status).toBe(200)
    const before = await loadMetadata(catalog, made)
    expect((await send(made, second!)).status).toBe(200)
    expect(await loadMetadata(catalog, made)).toEqual(before)
  })
})

describe('manifests of a table that is appended to', () => {
  it('I39 are merged in later lists, never out of the list of the snapshot that brought them', async () => {
    const made = await table('merged', { ...REBASED, 'commit.manifest.min-count-to-merge': '4' })
    const count = 20
    const requests = await writeAll(await loadMetadata(catalog, made), count)
    for (const request of requests) expect((await send(made, request)).status).toBe(200)
    const { snapshots } = await loadMetadata(catalog, made)
    const lists = await Promise.all(snapshots.map((one) => manifestsOf(catalog, one)))
    expect(Math.max(...lists.map(({ length }) => length))).toBeLessThan(8)
    for (const [at, request] of requests.entries()) {
      const [update] = request.updates
      if (update?.action !== 'add-snapshot') throw new Error('an append adds a snapshot')
      const own = await manifestsOf(catalog, update.snapshot)
      const listed = lists[at]?.map(({ manifestPath }) => manifestPath)
      expect(listed).toContain(own[0]?.manifestPath)
      // As Java does once its commit landed.
      if (snapshots[at]?.manifestList !== update.snapshot.manifestList) {
        await catalog.store.delete(update.snapshot.manifestList ?? '')
      }
    }
    expect(await liveNames(catalog, made)).toEqual(namesOf(count))
  })

  it('are merged by a later commit when they have to be read first', async () => {
    const made = await table('read-ahead', { 'commit.manifest.min-count-to-merge': '4' })
    for (let at = 0; at < 6; at += 1) await appendToPresent(catalog, made, next(`f${at}`))
    const stale = await loadMetadata(catalog, made)
    await appendToPresent(catalog, made, next('f6'))
    let count = 7
    const listed = async () =>
      (await manifestsOf(catalog, headOf(await loadMetadata(catalog, made)))).length
    expect(await listed()).toBe(count)
    const isMerged = async () => {
      const request = await write(stale, next(`f${count}`))
      expect((await send(made, request, HEADER)).status).toBe(200)
      count += 1
      return (await listed()) < 7
    }
    await waitFor(isMerged, { timeoutMs: 10_000 })
    expect(await liveNames(catalog, made)).toEqual(namesOf(count))
  })

  it('stay as they are where the table says so', async () => {
    const properties = {
      ...REBASED,
      'commit.manifest.min-count-to-merge': '2',
      'commit.manifest-merge.enabled': 'false',
    }
    const made = await table('unmerged', properties)
    for (const request of await writeAll(await loadMetadata(catalog, made), 5)) {
      await send(made, request)
    }
    const head = headOf(await loadMetadata(catalog, made))
    expect(await manifestsOf(catalog, head)).toHaveLength(5)
  })
})

describe('I35 what is never attached to another state', () => {
  /** A table with one append, a request on it, and another append that came first. */
  async function stale(name: string, append: Partial<TestAppend>) {
    const made = await table(name)
    await appendToPresent(catalog, made, next('f0'))
    const loaded = await loadMetadata(catalog, made)
    const request = await write(loaded, { ...next('mine'), ...append })
    await appendToPresent(catalog, made, next('f1'))
    return { made, request, loaded }
  }

  it.each([
    ['offsets of Kafka Connect', 'kafka.connect.offsets.control.group', '{"0":7}'],
    ['a checkpoint of Flink', 'flink.max-committed-checkpoint-id', '7'],
    ['an epoch of Spark', 'spark.sql.streaming.epochId', '7'],
    ['a cherry-picked snapshot', 'source-snapshot-id', '1'],
    ['a published snapshot', 'published-wap-id', 'a'],
    ['a staged snapshot', 'wap.id', 'a'],
  ])('an append with %s', async (what, key, value) => {
    const name = what.replaceAll(/\W/g, '-')
    const { made, request } = await stale(name, { summary: { [key]: value } })
    const answer = await send(made, request, HEADER)
    expect(answer.status).toBe(409)
    const { message } = errorOf(answer)
    expect(message).toMatch(/^Requirement failed: branch main has changed: expected id \d+ != \d+/)
    expect(message).toContain(`not rebased: its summary has ${key}`)
    expect(message).toMatch(/main is at snapshot \d+ \(append\)/)
    expect(await liveNames(catalog, made)).toEqual(['f0', 'f1'])
  })

  it('an overwrite, also beside an append', async () => {
    const { made, request } = await stale('overwrite', { summary: { operation: 'overwrite' } })
    const answer = await send(made, request)
    expect(errorOf(answer).message).toContain('its operation is overwrite, expected append')
  })

  it('an append after a rollback', async () => {
    const made = await table('rollback')
    await appendToPresent(catalog, made, next('f0'))
    const before = await loadMetadata(catalog, made)
    await appendToPresent(catalog, made, next('bad'))
    const request = await write(await loadMetadata(catalog, made), next('mine'))
    const { snapshotId } = headOf(before)!
    const rollback = { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch' }
    const updates = [{ ...rollback, 'snapshot-id': snapshotId }]
    expect((await catalog.call('POST', made.path, { body: { updates } })).status).toBe(200)
    const answer = await send(made, request)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).message).toContain('is no retained ancestor of')
    expect(await liveNames(catalog, made)).toEqual(['f0'])
  })

  it('the replacement of a table, which requires nothing of main', async () => {
    const { made, request } = await stale('replaced', {})
    const [add, move] = request.updates
    const replacement = {
      requirements: request.requirements.slice(0, 1),
      updates: [{ action: 'remove-snapshot-ref', refName: 'main' } as const, add!, move!],
    }
    const answer = await send(made, replacement)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).message).toContain('it also asks for remove-snapshot-ref')
  })

  it('an append with files that are gone', async () => {
    const { made, request, loaded } = await stale('gone', {})
    const [add] = request.updates
    if (add?.action !== 'add-snapshot') throw new Error('an append adds a snapshot')
    const own = await manifestsOf(catalog, add.snapshot)
    const kept = await manifestsOf(catalog, headOf(loaded))
    const paths = new Set(kept.map(({ manifestPath }) => manifestPath))
    const mine = own.find(({ manifestPath }) => !paths.has(manifestPath))
    await catalog.store.delete(mine?.manifestPath ?? '')
    const answer = await send(made, request)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).message).toContain('is missing')
  })
})

it('answers 400 for a header that says something else', async () => {
  const made = await table('header')
  const headers = { 'X-Timelake-Rebase-Appends': 'yes' }
  const answer = await catalog.call('POST', made.path, { body: { updates: [] }, headers })
  expect(answer.status).toBe(400)
  expect(errorOf(answer).message).toContain('x-timelake-rebase-appends')
})
