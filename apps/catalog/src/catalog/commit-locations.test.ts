import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const table = (name: string) => makeTable(catalog, { levels: ['ns'], name })
const update = (path: string, ...updates: JsonObject[]) =>
  catalog.call('POST', path, { body: { updates } })

it('refuses a manifest list outside the table, and says what it expected', async () => {
  const { path, location } = await table('lists')
  const other = await table('other')
  const outside = [
    's3://bucket/x',
    'file:///etc',
    other.location,
    `${location}/../x`,
    `${location}x`,
  ]
  for (const place of outside) {
    const answer = await catalog.call('POST', path, {
      body: appendBody({ id: 1n, sequenceNumber: 1n, location: place }),
    })
    expect(answer.status, place).toBe(400)
  }
  const body = appendBody({ id: 1n, sequenceNumber: 1n, location: other.location })
  const { message } = errorOf(await catalog.call('POST', path, { body }))
  expect(message).toContain(location)
  expect(message).toContain(other.location)
})

it('takes manifest lists in every spelling of its own location', async () => {
  const { path, location } = await table('spelled')
  const bare = location.replace('file://', '')
  const spellings = [bare, `file:${bare}`, `file://localhost${bare}`]
  for (const [index, place] of spellings.entries()) {
    const id = BigInt(index + 1)
    const head = index === 0 ? {} : { parent: id - 1n }
    const body = appendBody({ id, sequenceNumber: id, location: place, ...head })
    expect((await catalog.call('POST', path, { body })).status, place).toBe(200)
  }
})

it('refuses statistics outside the table', async () => {
  const { path, location } = await table('statistics')
  const statistics = (place: string): JsonObject => ({
    action: 'set-statistics',
    statistics: {
      'snapshot-id': 1n,
      'statistics-path': place,
      'file-size-in-bytes': 1n,
      'file-footer-size-in-bytes': 1n,
      'blob-metadata': [],
    },
  })
  expect((await update(path, statistics('file:///etc/passwd'))).status).toBe(400)
  expect((await update(path, statistics(`${location}/metadata/s.puffin`))).status).toBe(200)
  const partition = {
    action: 'set-partition-statistics',
    'partition-statistics': {
      'snapshot-id': 1n,
      'statistics-path': 's3://other/p.parquet',
      'file-size-in-bytes': 1n,
    },
  }
  expect((await update(path, partition)).status).toBe(400)
})

it('B195: moves a table only to a free place inside the warehouse', async () => {
  const { path } = await table('moved')
  const other = await table('neighbour')
  const move = (location: string) => update(path, { action: 'set-location', location })
  const refused = [other.location, `${other.location}/x`, catalog.warehouse.location, 's3://a/b']
  for (const place of refused) expect((await move(place)).status, place).toBe(400)
  const free = `${catalog.warehouse.location}/free/place`
  const { status, json } = await move(`${free}/`)
  expect(status).toBe(200)
  expect(textAt(json, 'metadata', 'location')).toBe(free)
  expect(textAt(json, 'metadata-location')).toContain(`${free}/metadata/00001-`)
})

it('a namespace that lies in the folder of a table gives no way into it (B193, B195)', async () => {
  const victim = await table('victim')
  const places = [victim.location, `${victim.location}/data`]
  for (const [index, location] of places.entries()) {
    const namespace = [`inside${index}`]
    const made = await catalog.call('POST', '/v1/main/namespaces', {
      body: { namespace, properties: { location } },
    })
    expect([200, 400]).toContain(made.status)
    for (const stage of [true, false]) {
      const body = { name: 't', schema: SCHEMA, 'stage-create': stage }
      const path = `/v1/main/namespaces/inside${index}/tables`
      const answer = await catalog.call('POST', path, { body })
      expect([400, 404]).toContain(answer.status)
    }
  }
})

it.each(['', '/names/t'])(
  'keeps tables out of the folder of the server: .timelake%s',
  async (below) => {
    const location = `${catalog.warehouse.location}/.timelake${below}`
    const body = { name: 'reserved', schema: SCHEMA, location }
    const answer = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain('reserved folder')
  },
)

it('keeps write paths inside the warehouse and away from other tables', async () => {
  const { path } = await table('paths')
  const other = await table('target')
  const set = (key: string, value: string) =>
    update(path, { action: 'set-properties', updates: { [key]: value } })
  for (const key of ['write.metadata.path', 'write.data.path', 'write.object-storage.path']) {
    for (const place of ['file:///etc', `${other.location}/data`, 'relative']) {
      expect((await set(key, place)).status, `${key} ${place}`).toBe(400)
    }
    expect((await set(key, '')).status).toBe(200)
  }
  const place = `${catalog.warehouse.location}/shared/metadata`
  const { json } = await set('write.metadata.path', place)
  expect(textAt(json, 'metadata-location')).toContain(`${place}/00`)
})

it('takes data and metadata from the places that the table is configured with', async () => {
  const elsewhere = `${catalog.warehouse.location}/elsewhere`
  const { path } = await makeTable(catalog, {
    levels: ['ns'],
    name: 'configured',
    more: { properties: { 'write.metadata.path': `${elsewhere}/metadata` } },
  })
  const body = appendBody({ id: 1n, sequenceNumber: 1n, location: elsewhere })
  expect((await catalog.call('POST', path, { body })).status).toBe(200)
})

describe('folders that properties name', () => {
  const root = () => catalog.warehouse.location
  const create = (name: string, more: JsonObject) =>
    catalog.call('POST', '/v1/main/namespaces/ns/tables', {
      body: { name, schema: SCHEMA, ...more },
    })
  const owner = (name: string) =>
    makeTable(catalog, {
      levels: ['ns'],
      name,
      more: {
        location: `${root()}/owned/${name}/table`,
        properties: {
          'write.data.path': `${root()}/owned/${name}/data/files`,
          'write.metadata.path': `${root()}/owned/${name}/log`,
        },
      },
    })

  it.each([
    ['the data', 'data/files'],
    ['below the data', 'data/files/x'],
    ['around the data', 'data'],
    ['the metadata', 'log'],
  ])('I15 keeps other tables away from %s, whichever way they come', async (what, place) => {
    const name = what.replaceAll(' ', '-')
    const { metadataLocation } = await owner(name)
    const at = `${root()}/owned/${name}/${place}`
    const other = await table(`other-${name}`)
    const moves: JsonObject[] = [
      { action: 'set-location', location: at },
      { action: 'set-properties', updates: { 'write.data.path': at } },
      { action: 'set-properties', updates: { 'write.object-storage.path': at } },
    ]
    const transaction = (updates: readonly JsonObject[]) =>
      catalog.call('POST', '/v1/main/transactions/commit', {
        body: {
          'table-changes': [{ identifier: { namespace: ['ns'], name: `other-${name}` }, updates }],
        },
      })
    const answers = [
      await create('new', { location: at }),
      await create('new', { location: at, 'stage-create': true }),
      await create('new', { properties: { 'write.data.path': at } }),
      await catalog.call('POST', '/v1/main/namespaces/ns/register', {
        body: { name: 'copy', 'metadata-location': metadataLocation },
      }),
    ]
    for (const move of moves) {
      answers.push(await update(other.path, move), await transaction([move]))
    }
    for (const answer of answers) {
      expect(answer.status, answer.text).toBe(400)
      expect(errorOf(answer).message).toContain('overlaps')
    }
  })

  const makeView = (name: string, more: JsonObject) =>
    catalog.call('POST', '/v1/main/namespaces/ns/views', {
      body: {
        name,
        schema: SCHEMA,
        properties: {},
        'view-version': {
          'version-id': 1n,
          'timestamp-ms': 1n,
          'schema-id': 0n,
          summary: {},
          'default-namespace': ['ns'],
          representations: [{ type: 'sql', sql: 'select 1', dialect: 'spark' }],
        },
        ...more,
      },
    })

  it('I15 keeps views away from the data of a table', async () => {
    await owner('viewed')
    const answer = await makeView('v', { location: `${root()}/owned/viewed/data/files/v` })
    expect(answer.status, answer.text).toBe(400)
    expect(errorOf(answer).message).toContain('overlaps')
  })

  it('I15 keeps tables away from the metadata of a view, for as long as it is there', async () => {
    const place = (name: string) => ({ 'write.metadata.path': `${root()}/view-log/${name}` })
    const made = await makeView('logged', { properties: place('first') })
    expect(made.status, made.text).toBe(200)
    const take = (name: string) =>
      create(`on-${name}`, { location: `${root()}/view-log/${name}`, 'stage-create': true })
    expect((await take('first')).status).toBe(400)
    const moved = await catalog.call('POST', '/v1/main/namespaces/ns/views/logged', {
      body: { updates: [{ action: 'set-properties', updates: place('second') }] },
    })
    expect(moved.status, moved.text).toBe(200)
    expect((await take('second')).status).toBe(400)
    expect((await take('first')).status).toBe(200)
  })

  it('I15 a table that was dropped comes back only where its data is still its own', async () => {
    const { path } = await owner('dropped')
    expect((await catalog.call('DELETE', path)).status).toBe(204)
    const location = `${root()}/owned/dropped/data/files`
    const taker = await makeTable(catalog, { levels: ['ns'], name: 'taker', more: { location } })
    const list = await catalog.call('GET', '/admin/v1/dropped-tables?warehouse=main')
    // `as`: a list
    const dropped = (member(list.json, 'dropped-tables') as JsonObject[]).find(
      (one) => textAt(one, 'name') === 'dropped',
    )
    const undrop = () =>
      catalog.call('POST', `/admin/v1/dropped-tables/${textAt(dropped, 'id')}/undrop`)
    expect((await undrop()).status).toBe(409)
    await catalog.call('DELETE', taker.path)
    expect((await undrop()).status).toBe(200)
    expect((await create('late', { location })).status).toBe(400)
  })

  it('I15 keeps what a table with snapshots gave up its own, and gives away what one without did', async () => {
    const full = await table('full')
    const body = appendBody({ id: 1n, sequenceNumber: 1n, location: full.location })
    expect((await catalog.call('POST', full.path, { body })).status).toBe(200)
    const empty = await table('empty')
    for (const { path, location } of [full, empty]) {
      const moved = `${root()}/moved/${location.slice(location.lastIndexOf('/') + 1)}`
      const answer = await update(path, { action: 'set-location', location: moved })
      expect(answer.status, answer.text).toBe(200)
    }
    expect((await create('in-full', { location: `${full.location}/data` })).status).toBe(400)
    expect((await create('in-empty', { location: `${empty.location}/data` })).status).toBe(200)
    const back = await update(full.path, { action: 'set-location', location: full.location })
    expect(back.status, back.text).toBe(200)
  })
})

it('allows the prefixes that the operator adds', async () => {
  const extra = await openTestCatalog({
    config: { extraAllowedLocations: ['file:///srv/old-lake/'] },
  })
  await makeNamespace(extra, ['ns'])
  const create = (location: string) =>
    extra.call('POST', '/v1/main/namespaces/ns/tables', {
      body: { name: 't', schema: SCHEMA, location, 'stage-create': true },
    })
  expect(errorOf(await create('file:///srv/old-lakes/t')).message).toContain(
    'file:///srv/old-lake/',
  )
  // The store of the test has another root, so an allowed location fails there and not at the rule.
  expect(errorOf(await create('file:///srv/old-lake/t')).message).not.toContain('allowed locations')
  await extra.stop()
})
