import { rmSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { pruneFeed } from '@timelake/database/feed'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { parseJson } from '@timelake/iceberg/spec/json'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOnPostgres } from '../on-each-database.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { realAppend } from '../test-real-append.ts'
import { listFiles } from '../test-files.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'
import { makeView } from '../test-views.ts'

const WAIT_MS_MAX = 10_000
const EVENTS = '/lake/v1/main/events'

let catalog: TestCatalog

beforeAll(async () => {
  catalog = await openTestCatalog({ config: { eventHeartbeatMs: 30, eventFollowersMax: 3 } })
})

afterAll(() => catalog.stop())

async function list(query = ''): Promise<{ events: readonly JsonObject[]; next: string }> {
  const answer = await catalog.call('GET', `${EVENTS}?limit=1000${query}`)
  expect(answer.status, answer.text).toBe(200)
  // `as`: an array of objects, or the test fails.
  const events = member(answer.json, 'events') as readonly JsonObject[]
  return { events, next: textAt(answer.json, 'next-cursor') }
}

async function now(): Promise<string> {
  return (await list('&after=now')).next
}

const kinds = (events: readonly JsonObject[]) => events.map(({ kind }) => kind)
const setProperty = (value: string): JsonObject => ({
  requirements: [],
  updates: [{ action: 'set-properties', updates: { key: value } }],
})

describe('listing', () => {
  it('tells everything that happened to a table, in the order of its numbers', async () => {
    const start = await now()
    await makeNamespace(catalog, ['story'])
    const table = await makeTable(catalog, { levels: ['story'], name: 't' })
    await catalog.call('POST', table.path, { body: setProperty('1') })
    const body = {
      source: { namespace: ['story'], name: 't' },
      destination: { namespace: ['story'], name: 'renamed' },
    }
    await catalog.call('POST', '/v1/main/tables/rename', { body })
    await catalog.call('DELETE', '/v1/main/namespaces/story/tables/renamed?purgeRequested=true')
    const { events, next } = await list(`&after=${start}`)
    expect(kinds(events)).toEqual([
      'namespace-created',
      'table-created',
      'table-committed',
      'table-renamed',
      'table-dropped',
    ])
    const [created, ...others] = events.slice(1)
    expect(created).toMatchObject({
      'event-number': 1n,
      'timestamp-ms': BigInt(catalog.clock.nowMs()),
      warehouse: 'main',
      'subject-type': 'table',
      'subject-uuid': table.uuid,
      namespace: ['story'],
      name: 't',
      data: { 'metadata-location': table.metadataLocation },
    })
    expect(others.map((event) => event['event-number'])).toEqual([2n, 3n, 4n])
    expect(others.map(({ name }) => name)).toEqual(['t', 'renamed', 'renamed'])
    expect(others[2]).toMatchObject({ data: { 'purge-requested': true } })
    expect(new Set(events.slice(1).map((event) => event['subject-id'])).size).toBe(1)
    expect(await list(`&after=${next}`)).toMatchObject({ events: [] })
    const cursor = String(events[1]?.['cursor'])
    expect((await list(`&after=${cursor}`)).events).toEqual(events.slice(2))
  })

  it('gives views and namespaces the same shape', async () => {
    const start = await now()
    await makeNamespace(catalog, ['shape'])
    await makeView(catalog, { levels: ['shape'], name: 'v' })
    const { events } = await list(`&after=${start}`)
    expect(events).toMatchObject([
      { kind: 'namespace-created', 'subject-type': 'namespace', 'event-number': 1n },
      { kind: 'view-created', 'subject-type': 'view', name: 'v', 'event-number': 1n },
    ])
    expect(events[0]?.['event-id']).toBe(`${String(events[0]?.['subject-id'])}-1`)
  })

  it('tells what an append did to its partitions, also after its files are gone', async () => {
    const table = await dayTable('changes')
    const start = await now()
    const manifestList = await realAppend(catalog, table, { snapshotId: 7n, day: 19_723 })
    const [event] = (await list(`&after=${start}`)).events
    expect(member(event, 'data')).toMatchObject({
      'snapshot-id': 7n,
      'sequence-number': 1n,
      operation: 'append',
      'manifest-list': manifestList,
      refs: ['main'],
      changes: {
        'time-column': 'ts',
        'partition-count': 1n,
        partitions: [
          {
            partition: { day: '2024-01-01' },
            'added-files': 1n,
            'added-rows': 10n,
            'added-bytes': 1_000n,
            'removed-files': 0n,
            'time-min': '2024-01-01T00:00:00.000001+00:00',
            'time-max': '2024-01-01T00:00:00.000009+00:00',
          },
        ],
      },
    })
    const manifests = listFiles(catalog.directory).filter((file) => file.endsWith('.avro'))
    for (const file of manifests) rmSync(file)
    expect((await list(`&after=${start}`)).events).toEqual([event])
    const [plain] = (await list(`&after=${start}&changes=false`)).events
    expect(member(plain, 'data')).toEqual(member(event, 'data'))
  })

  it('says why it cannot tell what a commit did', async () => {
    const table = await dayTable('lost')
    const start = await now()
    const manifestList = await realAppend(catalog, table, { snapshotId: 8n, day: 1 })
    const [plain] = (await list(`&after=${start}&changes=false`)).events
    expect(member(plain, 'data')).not.toHaveProperty('changes')
    await catalog.store.delete(manifestList)
    const [event] = (await list(`&after=${start}`)).events
    expect(member(event, 'data', 'changes')).toEqual({
      unavailable: 'the manifests of the snapshot are gone',
    })
  })

  it('passes only what the filter names', async () => {
    const start = await now()
    await makeNamespace(catalog, ['f'])
    await makeNamespace(catalog, ['f', 'g'])
    const table = await makeTable(catalog, { levels: ['f', 'g'], name: 't' })
    await makeTable(catalog, { levels: ['f'], name: 'other' })
    const named = async (filter: string) =>
      (await list(`&after=${start}&${filter}`)).events.map(({ name, kind }) => name ?? kind)
    expect(await named('table=f.g.t')).toEqual(['t'])
    expect(await named('table=f%1Fg%1Ft,f.other')).toEqual(['t', 'other'])
    expect(await named('table=f.g.t&table=f.other')).toEqual(['t', 'other'])
    expect(await named('table=f.g.t%2Cf.other')).toEqual([])
    expect(await named(`table=${table.uuid}`)).toEqual(['t'])
    expect(await named('namespace=f.g')).toEqual(['namespace-created', 't'])
    expect(await named('kind=table-created')).toEqual(['t', 'other'])
    expect(await named('kind=table-created&namespace=f.g')).toEqual(['t'])
  })

  it.each([
    ['after=nonsense', 'after'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['wait=5', 'wait'],
    ['wait=61s', 'wait'],
    ['kind=table-eaten', 'kind'],
    ['table=t', 'table'],
    ['changes=perhaps', 'changes'],
    ['after=%', 'percent'],
  ])('answers 400 for %s', async (query, named) => {
    const answer = await catalog.call('GET', `${EVENTS}?${query}`)
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain(named)
  })

  it('answers 404 for a warehouse that is not there', async () => {
    const answer = await catalog.call('GET', '/lake/v1/nope/events')
    expect(answer.status).toBe(404)
  })

  it('answers 410 for a cursor whose events are gone, in a stream too', async () => {
    const start = await now()
    await makeNamespace(catalog, ['pruned'])
    await waitForPrune()
    for (const headers of [{}, { accept: 'text/event-stream' }]) {
      const answer = await catalog.call('GET', `${EVENTS}?after=${start}`, { headers })
      expect(answer.status).toBe(410)
      expect(errorOf(answer).type).toBe('EventsPrunedException')
    }
    const { events } = await list()
    expect(events).toEqual([])
  })
})

describe('waiting', () => {
  it('answers as soon as something happens', async () => {
    const start = await now()
    const waiting = list(`&after=${start}&wait=60s`)
    await waitFor(isFollowed, { timeoutMs: WAIT_MS_MAX })
    await makeNamespace(catalog, ['awaited'])
    expect(kinds((await waiting).events)).toEqual(['namespace-created'])
  })

  it('goes on waiting while only others happen', async () => {
    const start = await now()
    const waiting = list(`&after=${start}&wait=60s&namespace=wanted`)
    await waitFor(isFollowed, { timeoutMs: WAIT_MS_MAX })
    await makeNamespace(catalog, ['unwanted'])
    await makeNamespace(catalog, ['wanted'])
    expect((await waiting).events).toMatchObject([{ namespace: ['wanted'] }])
  })

  it('answers without events when the time is over', async () => {
    const start = await now()
    expect(await list(`&after=${start}&wait=20ms`)).toMatchObject({ events: [] })
  })

  it('takes a bounded number of followers, and forgets those who go', async () => {
    const start = await now()
    const path = `${EVENTS}?after=${start}&wait=60s`
    const followers = [1, 2, 3].map(() => openStream(path))
    await waitFor(async () => (await followerCount()) === 3, { timeoutMs: WAIT_MS_MAX })
    const refused = await catalog.call('GET', path)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBeDefined()
    for (const follower of followers) (await follower).destroy()
    await waitFor(async () => (await followerCount()) === 0, { timeoutMs: WAIT_MS_MAX })
  })
})

describe('a stream', () => {
  it('sends what is there and what comes, and goes on behind the last event that was seen', async () => {
    const start = await now()
    await makeNamespace(catalog, ['before'])
    const stream = await follow(`${EVENTS}?after=${start}`)
    await stream.until(/"before"/)
    await makeNamespace(catalog, ['while'])
    await stream.until(/"while"/)
    expect(stream.response.headers['content-type']).toBe('text/event-stream')
    const [first, second] = frames(stream.text())
    expect(first).toMatchObject({ event: 'namespace-created' })
    expect(parseJson(first?.data ?? '')).toMatchObject({ cursor: first?.id, namespace: ['before'] })
    stream.response.destroy()
    const again = await follow(`${EVENTS}?after=${start}`, { 'last-event-id': first?.id ?? '' })
    await again.until(/"while"/)
    expect(frames(again.text())).toEqual([second])
    again.response.destroy()
  })

  it('shows that it is alive, and how far it has come', async () => {
    const start = await now()
    const stream = await follow(`${EVENTS}?after=${start}&namespace=silent`)
    await makeNamespace(catalog, ['loud'])
    const seen = await now()
    await stream.until(new RegExp(`: alive\nid: ${seen.replaceAll('.', '\\.')}\n\n`))
    expect(frames(stream.text())).toEqual([])
    stream.response.destroy()
  })

  it('ends when the server stops, and so does waiting', async () => {
    const other = await openTestCatalog()
    const { running } = other
    const stream = await follow(`${EVENTS}`, {}, running.url)
    const waiting = other.call('GET', `${EVENTS}?after=now&wait=60s`)
    await stream.until(/: the events/)
    const count = async () => /followers (\d)/.exec((await other.call('GET', '/metrics')).text)?.[1]
    await waitFor(async () => (await count()) === '2', { timeoutMs: WAIT_MS_MAX })
    await other.stop()
    await stream.ended
    expect((await waiting).status).toBe(200)
  })
})

describeOnPostgres('events of another process', () => {
  it('I42 leave no gap and come in the order of their numbers, while two processes change the same tables', async () => {
    const first = await openTestCatalog({ on: 'postgres' })
    const second = await openTestCatalog({ sharing: first })
    try {
      await makeNamespace(first, ['busy'])
      const names = ['a', 'b', 'c']
      const tables: TestTable[] = []
      for (const name of names) tables.push(await makeTable(first, { levels: ['busy'], name }))
      let isOver = false
      const seen = followAll(first, () => isOver)
      const rounds = Array.from({ length: 12 }, (_, round) => String(round))
      const changes = [first, second].flatMap((process) =>
        tables.map(async ({ path }, at) => {
          for (const round of rounds) {
            await process.call('POST', path, { body: setProperty(round) })
            if (round === '6') await moveBetween(process, `${names[at]}`)
          }
        }),
      )
      await Promise.all(changes)
      isOver = true
      const events = await seen
      const stored = await storedEvents(first)
      expect(events.map((event) => event['event-id']).toSorted()).toEqual(stored.toSorted())
      for (const { uuid } of tables) {
        const own = events.filter((event) => event['subject-uuid'] === uuid)
        const numbers = own.map((event) => Number(event['event-number']))
        expect(numbers).toEqual(numbers.map((_, index) => index + 1))
        expect(numbers.length).toBeGreaterThan(rounds.length)
      }
    } finally {
      await second.stop()
      await first.stop()
    }
  })

  it('reach those who wait', async () => {
    const first = await openTestCatalog({ on: 'postgres' })
    const second = await openTestCatalog({ sharing: first })
    try {
      const waiting = first.call('GET', `${EVENTS}?after=now&wait=60s`)
      const isWaiting = async () => /followers 1/.test((await first.call('GET', '/metrics')).text)
      await waitFor(isWaiting, { timeoutMs: WAIT_MS_MAX })
      await makeNamespace(second, ['elsewhere'])
      const answer = await waiting
      expect(member(answer.json, 'events')).toMatchObject([{ namespace: ['elsewhere'] }])
    } finally {
      await second.stop()
      await first.stop()
    }
  })
})

/** Renames a table away and back, whoever else does the same. */
async function moveBetween(process: TestCatalog, name: string): Promise<void> {
  const identifier = (called: string) => ({ namespace: ['busy'], name: called })
  const moved = { source: identifier(name), destination: identifier(`${name}2`) }
  await process.call('POST', '/v1/main/tables/rename', { body: moved })
  const back = { source: moved.destination, destination: moved.source }
  await process.call('POST', '/v1/main/tables/rename', { body: back })
}

/** The ids of the events of tables. */
async function storedEvents({ database }: TestCatalog): Promise<readonly string[]> {
  const rows = await database.query<{ event_id: string }>(
    'select event_id from outbox_event where table_id is not null',
  )
  return rows.map((row) => row.event_id)
}

/** Follows the events of tables in small portions until it is over and as many as there are were seen. */
async function followAll(of: TestCatalog, isOver: () => boolean): Promise<readonly JsonObject[]> {
  const seen: JsonObject[] = []
  for (let after = 'start', isDone = false; !isDone;) {
    const wasOver = isOver()
    const query = `limit=7&wait=50ms&after=${after}&namespace=busy`
    const { json } = await of.call('GET', `${EVENTS}?${query}`)
    // `as`: an array of objects, or the test fails.
    const page = member(json, 'events') as readonly JsonObject[]
    seen.push(...page.filter((event) => event['subject-type'] === 'table'))
    after = textAt(json, 'next-cursor')
    // Whatever else runs on the server may hold the last ones up.
    isDone = wasOver && page.length === 0 && seen.length >= (await storedEvents(of)).length
  }
  return seen
}

async function dayTable(namespace: string) {
  await makeNamespace(catalog, [namespace])
  const field = { 'source-id': 10n, name: 'day', transform: 'day' }
  const more = { 'partition-spec': { fields: [field] } }
  return makeTable(catalog, { levels: [namespace], name: 't', more })
}

async function followerCount(): Promise<number> {
  const { text } = await catalog.call('GET', '/metrics')
  return Number(/timelake_event_followers (\d+)/.exec(text)?.[1])
}

async function isFollowed(): Promise<boolean> {
  return (await followerCount()) > 0
}

async function waitForPrune(): Promise<void> {
  const { database, clock } = catalog
  await database.query('update outbox_event set dispatched_at_ms = 1')
  const createdBeforeMs = clock.nowMs() + 1
  const isEmpty = async () => {
    await pruneFeed(database, { createdBeforeMs, limit: 100_000 })
    return (await database.query('select 1 from outbox_event limit 1')).length === 0
  }
  await waitFor(isEmpty, { timeoutMs: WAIT_MS_MAX })
}

function openStream(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  url = catalog.running.url,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const accept = 'text/event-stream'
    const outgoing = httpRequest(`${url}${path}`, { headers: { accept, ...headers } }, resolve)
    outgoing.on('error', reject)
    outgoing.end()
  })
}

async function follow(...opening: Parameters<typeof openStream>) {
  const response = await openStream(...opening)
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (piece: string) => (text += piece))
  const ended = new Promise<void>((resolve) => void response.on('close', resolve))
  return {
    response,
    ended,
    text: () => text,
    until: (pattern: RegExp) => waitFor(() => pattern.test(text), { timeoutMs: WAIT_MS_MAX }),
  }
}

/** Frames that carry an event. */
function frames(text: string) {
  return text.split('\n\n').flatMap((frame) => {
    const match = /^id: (?<id>.*)\nevent: (?<event>.*)\ndata: (?<data>.*)$/.exec(frame)
    return match?.groups === undefined ? [] : [{ ...match.groups }]
  })
}
