import { afterAll, beforeAll, expect, it } from 'vitest'
import { gzipSync } from 'node:zlib'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { countFiles } from '../test-files.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
const commit = (path: string, body: JsonObject, headers = {}) =>
  catalog.call('POST', path, { body, headers })
const setProperty = (value: string, requirements: JsonObject[] = []): JsonObject => ({
  requirements,
  updates: [{ action: 'set-properties', updates: { key: value } }],
})

it('I9 applies, writes the next version and answers what the next load gives', async () => {
  const { path, metadataLocation } = await table('simple')
  const answer = await commit(path, setProperty('1'))
  expect(answer.status).toBe(200)
  expect(textAt(answer.json, 'metadata-location')).toMatch(/\/metadata\/00001-/)
  expect(member(answer.json, 'metadata', 'metadata-log')).toMatchObject([
    { 'metadata-file': metadataLocation },
  ])
  const loaded = await catalog.call('GET', path)
  expect(loaded.text).toBe(answer.text)
  expect(loaded.headers.etag).toBe(answer.headers.etag)
})

it('writes no file and no event when nothing changes', async () => {
  const { path } = await table('noop')
  await commit(path, setProperty('1'))
  const files = countFiles(catalog.directory)
  const events = () => catalog.database.query('select count(*) as n from outbox_event')
  const before = await events()
  const again = await commit(path, setProperty('1'))
  const empty = await commit(path, {})
  expect([again.status, empty.status]).toEqual([200, 200])
  expect(again.text).toBe(empty.text)
  expect(countFiles(catalog.directory)).toBe(files)
  expect(await events()).toEqual(before)
})

it('leaves an event with the snapshot in the transaction of the change', async () => {
  const { path, location, metadataLocation } = await table('event')
  await commit(path, appendBody({ id: 9151314442816847871n, sequenceNumber: 1n, location }))
  const [event] = await catalog.database.query<{ payload: string; kind: string }>(
    'select kind, payload from outbox_event order by seq desc limit 1',
  )
  expect(event?.kind).toBe('table-committed')
  expect(parseJson(event?.payload ?? '')).toEqual({
    'metadata-location': expect.stringContaining('/00001-'),
    'previous-metadata-location': metadataLocation,
    'snapshot-id': 9151314442816847871n,
    'sequence-number': 1n,
    operation: 'append',
    summary: { operation: 'append', 'added-records': '1' },
    'manifest-list': `${location}/metadata/snap-9151314442816847871.avro`,
    refs: ['main'],
    'timestamp-ms': expect.anything(),
  })
})

it('answers 404 for a table that is missing', async () => {
  const answer = await commit('/v1/main/namespaces/ns/tables/nope', setProperty('1'))
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toMatchObject({
    type: 'NoSuchTableException',
    message: 'Table does not exist: ns.nope',
  })
})

it('answers 409 for a requirement that fails, and applies nothing', async () => {
  const { path } = await table('required')
  const requirement = { type: 'assert-table-uuid', uuid: '00000000-0000-0000-0000-000000000000' }
  const answer = await commit(path, setProperty('1', [requirement]))
  expect(answer.status).toBe(409)
  expect(errorOf(answer)).toMatchObject({ type: 'CommitFailedException' })
  expect(errorOf(answer).message).toMatch(/^Requirement failed: UUID does not match: expected /)
  const { json } = await catalog.call('GET', path)
  expect(member(json, 'metadata', 'properties')).not.toHaveProperty('key')
})

it('assert-create of a table that is there fails with the text that clients read', async () => {
  const { path } = await table('there')
  const answer = await commit(path, setProperty('1', [{ type: 'assert-create' }]))
  expect(answer.status).toBe(409)
  expect(errorOf(answer).message).toBe('Requirement failed: table already exists')
})

const MALFORMED: readonly (readonly [string, string])[] = [
  ['an unknown update', '{"requirements":[],"updates":[{"action":"do-magic"}]}'],
  ['an unknown requirement', '{"requirements":[{"type":"assert-moon"}],"updates":[]}'],
  ['an update that is no object', '{"requirements":[],"updates":[1]}'],
  ['updates that are no list', '{"requirements":[],"updates":{}}'],
  ['text that is no JSON', '{bad'],
  ['no body', ''],
  ['broken UTF-8', '\ufffd'],
]

it.each(MALFORMED)('B055: refuses %s and applies nothing', async (what, body) => {
  const { path, metadataLocation } = await table(what)
  const sent = body === '\ufffd' ? new Uint8Array([0x7b, 0xff, 0x7d]) : body
  const answer = await catalog.call('POST', path, { body: sent })
  expect(answer.status).toBe(400)
  expect(errorOf(answer).code).toBe(400)
  const { json } = await catalog.call('GET', path)
  expect(textAt(json, 'metadata-location')).toBe(metadataLocation)
})

it('B055: tolerates unknown members, and applies nothing when a later update is refused', async () => {
  const { path, metadataLocation } = await table('partly')
  const good = { action: 'set-properties', updates: { a: 'b' }, surprise: [1n] }
  const refused = await commit(path, { updates: [good, { action: 'do-magic' }] })
  expect(refused.status).toBe(400)
  expect(textAt((await catalog.call('GET', path)).json, 'metadata-location')).toBe(metadataLocation)
  expect((await commit(path, { updates: [good], extra: true })).status).toBe(200)
})

it('I2 of concurrent appends on one parent one wins, and all land with retries (B058)', async () => {
  const { path, location } = await table('raced')
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let number = 0; number < 3; number += 1) {
      const id = BigInt(1_000 * (writer + 1) + number)
      while (!(await tryAppend(path, location, id))) continue
    }
  })
  await Promise.all(writers)
  const { json } = await catalog.call('GET', path)
  const snapshots = member(json, 'metadata', 'snapshots') as JsonObject[]
  expect(snapshots).toHaveLength(24)
  snapshots.forEach((snapshot, index) => {
    expect(snapshot['sequence-number']).toBe(BigInt(index + 1))
    expect(snapshot['parent-snapshot-id']).toBe(snapshots[index - 1]?.['snapshot-id'])
  })
})

async function tryAppend(path: string, location: string, id: bigint): Promise<boolean> {
  const { json } = await catalog.call('GET', path)
  const refs = member(json, 'metadata', 'refs') as JsonObject
  const parent = 'main' in refs ? (member(refs, 'main', 'snapshot-id') as bigint) : undefined
  const sequenceNumber = (member(json, 'metadata', 'last-sequence-number') as bigint) + 1n
  const head = parent === undefined ? {} : { parent }
  const answer = await commit(path, appendBody({ id, sequenceNumber, location, ...head }))
  expect([200, 409]).toContain(answer.status)
  return answer.status === 200
}

it('B048: never opens manifests, so it accepts a list that carries older ones', async () => {
  const { path, location } = await table('inherited')
  for (const [id, head] of [
    [1n, {}],
    [2n, { parent: 1n }],
  ] as const) {
    const answer = await commit(path, appendBody({ id, sequenceNumber: id, location, ...head }))
    expect(answer.status).toBe(200)
  }
})

it('B086: keeps every digit of 64-bit ids', async () => {
  const { path, location } = await table('digits')
  const ids = [5184430069070270604n, 9223372036854775807n, 9007199254740993n]
  for (const [index, id] of ids.entries()) {
    const parent = ids[index - 1]
    const head = parent === undefined ? {} : { parent }
    const body = appendBody({ id, sequenceNumber: BigInt(index + 1), location, ...head })
    expect((await commit(path, body)).status).toBe(200)
  }
  const { text } = await catalog.call('GET', path)
  for (const id of ids) expect(text).toContain(`"snapshot-id":${id}`)
  expect(text).not.toMatch(/[0-9]e\+/)
})

it.each(['4.5982866113522427e+18', '5184430069070270604.0', '9330031330511797673', '"5"'])(
  'B087, B088: refuses the snapshot id %s and stores nothing',
  async (id) => {
    const { path, metadataLocation } = await table(`id ${id}`)
    const snapshot = `{"snapshot-id":${id},"sequence-number":1,"timestamp-ms":1,"manifest-list":"x","summary":{"operation":"append"}}`
    const body = `{"updates":[{"action":"add-snapshot","snapshot":${snapshot}}]}`
    expect((await catalog.call('POST', path, { body })).status).toBe(400)
    const { json } = await catalog.call('GET', path)
    expect(textAt(json, 'metadata-location')).toBe(metadataLocation)
  },
)

it('I8 never lets times in the logs go back, whatever the clock of a writer says (B059)', async () => {
  const { path, location } = await table('clocks')
  const nowMs = BigInt(catalog.clock.nowMs())
  const stamps = [nowMs, nowMs - 40_000n, nowMs + 5_000n, nowMs - 10n]
  for (const [index, timestampMs] of stamps.entries()) {
    const id = BigInt(index + 1)
    const head = index === 0 ? {} : { parent: id - 1n }
    const body = appendBody({ id, sequenceNumber: id, location, timestampMs, ...head })
    const answer = await commit(path, body)
    expect(answer.status, answer.text).toBe(200)
  }
  const { json } = await catalog.call('GET', path)
  for (const log of ['snapshot-log', 'metadata-log']) {
    const times = (member(json, 'metadata', log) as JsonObject[]).map((e) =>
      Number(e['timestamp-ms']),
    )
    expect(times).toEqual([...times].sort((a, b) => a - b))
  }
})

it('B026: a replace keeps what others did meanwhile, and the ref assertion guards it', async () => {
  const { path, location, uuid } = await table('replaced')
  await commit(path, appendBody({ id: 1n, sequenceNumber: 1n, location }))
  await commit(path, appendBody({ id: 2n, sequenceNumber: 2n, location, parent: 1n }))
  await commit(path, { updates: [{ action: 'set-properties', updates: { k: 'v' } }] })
  const replace = appendBody({ id: 3n, sequenceNumber: 3n, location })
  const requirements: JsonObject[] = [{ type: 'assert-table-uuid', uuid }]
  const guarded = [
    ...requirements,
    { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 1n },
  ]
  expect((await commit(path, { ...replace, requirements: guarded })).status).toBe(409)
  const { json } = await commit(path, { ...replace, requirements })
  expect(member(json, 'metadata', 'snapshots')).toHaveLength(3)
  expect(member(json, 'metadata', 'properties', 'k')).toBe('v')
})

it('merges commits that do not contradict each other', async () => {
  const { path } = await table('merged')
  const names = Array.from({ length: 10 }, (_, index) => `k${index}`)
  const answers = await Promise.all(
    names.map((name) =>
      commit(path, { updates: [{ action: 'set-properties', updates: { [name]: 'v' } }] }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  const { json } = await catalog.call('GET', path)
  for (const name of names) expect(member(json, 'metadata', 'properties', name)).toBe('v')
})

it('takes gzip bodies, and refuses broken and unknown encodings', async () => {
  const { path } = await table('encoded')
  const body = gzipSync('{"updates":[{"action":"set-properties","updates":{"a":"b"}}]}')
  const send = (content: Uint8Array, encoding: string) =>
    catalog.call('POST', path, { body: content, headers: { 'content-encoding': encoding } })
  expect((await send(body, 'gzip')).status).toBe(200)
  expect((await send(Buffer.from('no'), 'gzip')).status).toBe(400)
  expect((await send(body, 'br')).status).toBe(415)
})
