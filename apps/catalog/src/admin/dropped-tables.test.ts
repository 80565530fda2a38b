import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { beginPurge, findDroppedTable, markTablePurged } from '@timelake/database/dropped-tables'
import { listSchedules } from '@timelake/database/maintenance-schedule'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

const DROPPED = '/admin/v1/dropped-tables'
const PURGE_GRACE_MS = 60_000

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({ config: { purgeGraceMs: PURGE_GRACE_MS } })
  await makeNamespace(catalog, ['ns'])
  await makeNamespace(catalog, ['other'])
})
afterAll(() => catalog.stop())

let count = 0
interface Dropped {
  readonly table: TestTable
  readonly name: string
  readonly id: string
}
async function drop(query = '', more: JsonObject = {}): Promise<Dropped> {
  const name = `t${++count}`
  const table = await makeTable(catalog, { levels: ['ns'], name, more })
  catalog.clock.advance(1)
  expect((await catalog.call('DELETE', table.path + query)).status).toBe(204)
  const { json } = await catalog.call('GET', `${DROPPED}?pageSize=1`)
  const [row] = member(json, 'dropped-tables') as readonly JsonObject[]
  expect(row).toMatchObject({ name })
  return { table, name, id: textAt(row, 'id') }
}
const undrop = (id: string, body?: JsonObject): Promise<TestAnswer> =>
  catalog.call('POST', `${DROPPED}/${id}/undrop`, body === undefined ? {} : { body })
const purge = (id: string) => catalog.call('DELETE', `${DROPPED}/${id}`)
const keep = (id: string) => catalog.call('POST', `${DROPPED}/${id}/keep`)
async function begin(id: string): Promise<string> {
  const dropped = await findDroppedTable(catalog.database, id)
  if (dropped === undefined) return 'missing'
  return beginPurge(catalog.database, { ...dropped, nowMs: catalog.clock.nowMs() })
}

describe('the list of dropped tables', () => {
  it('shows the last state of each and what becomes of its files, last dropped first', async () => {
    const kept = await drop()
    const asked = await drop('?purgeRequested=True')
    const { json } = await catalog.call('GET', DROPPED)
    const [first, second] = member(json, 'dropped-tables') as readonly JsonObject[]
    expect(first).toMatchObject({
      id: asked.id,
      namespace: ['ns'],
      name: asked.name,
      'table-uuid': asked.table.uuid,
      'metadata-location': asked.table.metadataLocation,
      'dropped-ms': BigInt(catalog.clock.nowMs()),
      'can-come-back': true,
      'purge-requested': true,
      'purge-requested-ms': BigInt(catalog.clock.nowMs()),
      'purge-started-ms': null,
      'purged-ms': null,
    })
    expect(second).toMatchObject({
      id: kept.id,
      'purge-requested': false,
      'purge-requested-ms': null,
      'purge-due-ms': null,
    })
  })

  it('comes in pages, and refuses foreign tokens and unknown warehouses', async () => {
    for (let i = 0; i < 3; i += 1) await drop()
    const ids: unknown[] = []
    for (let token: string | null = ''; token !== null;) {
      const page = await catalog.call('GET', `${DROPPED}?pageSize=2&pageToken=${token}`)
      ids.push(...(member(page.json, 'dropped-tables') as JsonObject[]).map(({ id }) => id))
      token = member(page.json, 'next-page-token') as string | null
    }
    const all = await catalog.call('GET', DROPPED)
    expect(ids).toEqual((member(all.json, 'dropped-tables') as JsonObject[]).map(({ id }) => id))
    const foreign = Buffer.from('1:x').toString('base64url')
    expect((await catalog.call('GET', `${DROPPED}?pageToken=${foreign}`)).status).toBe(400)
    expect((await catalog.call('GET', `${DROPPED}?warehouse=nope`)).status).toBe(404)
  })
})

describe('bringing a dropped table back', () => {
  it('restores name, content and UUID, once; asking again answers the same', async () => {
    const { table, name, id } = await drop('?purgeRequested=true')
    const before = await catalog.call('GET', table.path)
    expect(before.status).toBe(404)
    const first = await undrop(id)
    expect(first.status, first.text).toBe(200)
    expect(first.json).toMatchObject({ id, namespace: ['ns'], name, 'table-uuid': table.uuid })
    const loaded = await catalog.call('GET', table.path)
    expect(textAt(loaded.json, 'metadata', 'table-uuid')).toBe(table.uuid)
    expect((await undrop(id)).json).toEqual(first.json)
    const body = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
    expect((await catalog.call('POST', table.path, { body })).status).toBe(200)
    expect(await begin(id)).toBe('missing')
  })

  it('puts it under another name where that is asked for', async () => {
    const { id, table } = await drop()
    const answer = await undrop(id, { namespace: ['other'], name: 'back' })
    expect(answer.json).toMatchObject({ namespace: ['other'], name: 'back' })
    const loaded = await catalog.call('GET', '/v1/main/namespaces/other/tables/back')
    expect(textAt(loaded.json, 'metadata', 'table-uuid')).toBe(table.uuid)
    expect((await catalog.call('GET', table.path)).status).toBe(404)
  })

  it('is refused for a taken name, and works under a free one', async () => {
    const { id, name } = await drop()
    await makeTable(catalog, { levels: ['ns'], name })
    const taken = await undrop(id)
    expect([taken.status, errorOf(taken).type]).toEqual([409, 'AlreadyExistsException'])
    expect((await undrop(id, { name: `${name}-back` })).status).toBe(200)
  })

  it('is refused when something else lies at its location now', async () => {
    const { id, table } = await drop()
    const body = { name: 'again', 'metadata-location': table.metadataLocation }
    const registered = await catalog.call('POST', '/v1/main/namespaces/ns/register', { body })
    expect(registered.status, registered.text).toBe(200)
    const answer = await undrop(id)
    expect([answer.status, errorOf(answer).type]).toEqual([409, 'AlreadyExistsException'])
    expect(errorOf(answer).message).toContain('to be free')
  })

  it('is refused for a missing namespace, an unknown id and impossible names', async () => {
    const { id } = await drop()
    const missing = await undrop(id, { namespace: ['nope'] })
    expect([missing.status, errorOf(missing).type]).toEqual([404, 'NoSuchNamespaceException'])
    expect((await undrop('nope')).status).toBe(404)
    for (const body of [{ name: '' }, { name: 7n }, { namespace: 'ns' }, { namespace: [] }]) {
      expect((await undrop(id, body)).status).toBe(400)
    }
    expect((await undrop('%00')).status).toBe(400)
  })

  it('is refused when its files are gone, as after a purge by Spark itself', async () => {
    const { id, table } = await drop()
    rmSync(table.metadataLocation.slice('file://'.length))
    const answer = await undrop(id)
    expect([answer.status, errorOf(answer).type]).toEqual([404, 'NotFoundException'])
  })

  it('is refused once its purge has begun, and after it', async () => {
    const { id } = await drop('?purgeRequested=true')
    expect(await begin(id)).toBe('begun')
    for (const state of ['begun', 'done']) {
      const answer = await undrop(id)
      expect([answer.status, errorOf(answer).type], state).toEqual([409, 'PurgeBegunException'])
      await markTablePurged(catalog.database, { tableId: id, nowMs: 5 })
    }
    const { json } = await catalog.call('GET', `${DROPPED}?pageSize=1`)
    const [row] = member(json, 'dropped-tables') as readonly JsonObject[]
    expect(row).toMatchObject({ 'can-come-back': false, 'purged-ms': 5n })
  })

  it('and its purge, asked for at the same moment: exactly one of them happens', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, table } = await drop('?purgeRequested=true')
      const [answer, purged] = await Promise.all([undrop(id), begin(id)])
      const isLive = (await catalog.call('HEAD', table.path)).status === 204
      expect(isLive).toBe(answer.status === 200)
      expect(purged === 'begun').toBe(answer.status === 409)
    }
  })

  it('ten callers at once get one table', async () => {
    const { id, name } = await drop()
    const answers = await Promise.all(Array.from({ length: 10 }, () => undrop(id)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { json } = await catalog.call('GET', '/v1/main/namespaces/ns/tables')
    const names = (member(json, 'identifiers') as JsonObject[]).map((each) => each['name'])
    expect(names.filter((each) => each === name)).toHaveLength(1)
  })
})

describe('asking for a purge later', () => {
  it('schedules it behind the grace, once, and can be taken back', async () => {
    const { id } = await drop()
    catalog.clock.advance(1_000_000)
    const nowMs = catalog.clock.nowMs()
    const asked = await purge(id)
    expect(asked.status).toBe(202)
    expect(asked.json).toMatchObject({
      'purge-requested': true,
      'purge-requested-ms': BigInt(nowMs),
      'can-come-back': true,
    })
    catalog.clock.advance(5)
    expect((await purge(id)).json).toEqual(asked.json)
    const [schedule] = await listSchedules(catalog.database, id)
    expect(schedule).toMatchObject({ jobKind: 'purge-table', dueAtMs: nowMs + PURGE_GRACE_MS })
    const kept = await keep(id)
    expect([kept.status, kept.json]).toMatchObject([200, { 'purge-requested': false }])
    expect((await keep(id)).json).toEqual(kept.json)
    expect(await listSchedules(catalog.database, id)).toEqual([])
    expect(await begin(id)).toBe('changed')
  })

  it('is not taken back once it has begun', async () => {
    const { id } = await drop('?purgeRequested=true')
    await begin(id)
    const answer = await keep(id)
    expect([answer.status, errorOf(answer).type]).toEqual([409, 'PurgeBegunException'])
    expect((await purge(id)).status).toBe(202)
  })

  it('answers 404 for a table that is live, came back, or never was', async () => {
    const { id } = await drop()
    await undrop(id)
    for (const each of [id, 'nope']) {
      expect((await purge(each)).status).toBe(404)
      expect((await keep(each)).status).toBe(404)
    }
  })

  it('is refused for a view, whose files went with it; the list shows none', async () => {
    const body = {
      name: 'v',
      schema: { type: 'struct', 'schema-id': 0n, fields: [] },
      'view-version': {
        'version-id': 1n,
        'timestamp-ms': 1n,
        'schema-id': 0n,
        summary: {},
        'default-namespace': ['ns'],
        representations: [{ type: 'sql', sql: 'select 1', dialect: 'spark' }],
      },
      properties: {},
    }
    const made = await catalog.call('POST', '/v1/main/namespaces/ns/views', { body })
    expect(made.status, made.text).toBe(200)
    const [row] = await catalog.database.query<{ id: string }>(
      "select id from catalog_table where kind = 'view'",
    )
    const id = row?.id ?? 'none'
    await catalog.call('DELETE', '/v1/main/namespaces/ns/views/v')
    for (const answer of [await purge(id), await undrop(id)]) {
      expect([answer.status, errorOf(answer).type]).toEqual([400, 'ValidationException'])
    }
    expect((await catalog.call('GET', DROPPED)).text).not.toContain(id)
  })
})
