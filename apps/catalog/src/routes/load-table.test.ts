import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFileSync, rmSync } from 'node:fs'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable, type TestTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const append = (table: TestTable, id: bigint, sequenceNumber: bigint, parent?: bigint) =>
  catalog.call('POST', table.path, {
    body: appendBody({
      id,
      sequenceNumber,
      location: table.location,
      ...(parent === undefined ? {} : { parent }),
    }),
  })

it('answers 404 for a table or a namespace that is missing', async () => {
  for (const path of ['ns/tables/nope', 'nope/tables/t', 'ns.t/tables/snapshots']) {
    const answer = await catalog.call('GET', `/v1/main/namespaces/${path}`)
    expect(answer.status).toBe(404)
    expect(errorOf(answer).type).toBe('NoSuchTableException')
    expect(errorOf(answer).message).toBe(`Table does not exist: ${path.replace('/tables/', '.')}`)
    expect(answer.text.length).toBeLessThan(200)
  }
})

it('refuses a view of snapshots that is unknown', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'bogus' })
  expect((await catalog.call('GET', `${path}?snapshots=bogus`)).status).toBe(400)
})

it('snapshots=refs leaves out only the snapshots that no ref names', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'refs' })
  await append(table, 1n, 1n)
  await append(table, 2n, 2n, 1n)
  const all = await catalog.call('GET', `${table.path}?snapshots=all`)
  const refs = await catalog.call('GET', `${table.path}?snapshots=refs`)
  const plain = await catalog.call('GET', table.path)
  expect(member(all.json, 'metadata', 'snapshots')).toHaveLength(2)
  expect(member(refs.json, 'metadata', 'snapshots')).toMatchObject([{ 'snapshot-id': 2n }])
  expect(member(refs.json, 'metadata', 'snapshot-log')).toHaveLength(2)
  expect(plain.text).toBe(all.text)
  expect(plain.headers.etag).toBe(all.headers.etag)
  expect(refs.headers.etag).not.toBe(all.headers.etag)
})

it('B018: the tags of create, commit and load are one, and any change ends them', async () => {
  const body = { name: 'tagged', schema: SCHEMA }
  const made = await catalog.call('POST', '/v1/main/namespaces/ns/tables', { body })
  const path = '/v1/main/namespaces/ns/tables/tagged'
  const get = (etag: string | undefined) =>
    catalog.call('GET', path, { headers: { 'if-none-match': String(etag) } })
  const unchanged = await get(made.headers.etag)
  expect([unchanged.status, unchanged.text]).toEqual([304, ''])
  expect(unchanged.headers.etag).toBe(made.headers.etag)
  const change = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
  const changed = await catalog.call('POST', path, { body: change })
  expect((await get(made.headers.etag)).status).toBe(200)
  expect((await get(changed.headers.etag)).status).toBe(304)
  expect((await get(`"x", ${changed.headers.etag}`)).status).toBe(304)
  expect((await get(changed.headers.etag?.replace('W/', ''))).status).toBe(304)
  expect((await get('*')).status).toBe(304)
})

it('B022: a tag of a dropped table matches neither its absence nor its successor', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'again' })
  const { etag } = (await catalog.call('GET', path)).headers
  const get = () => catalog.call('GET', path, { headers: { 'if-none-match': String(etag) } })
  await catalog.call('DELETE', path)
  expect((await get()).status).toBe(404)
  const second = await makeTable(catalog, { levels: ['ns'], name: 'again' })
  expect(textAt((await get()).json, 'metadata', 'table-uuid')).toBe(second.uuid)
})

it('a tag does not match another table that was renamed onto the name (B022)', async () => {
  const first = await makeTable(catalog, { levels: ['ns'], name: 'left' })
  const second = await makeTable(catalog, { levels: ['ns'], name: 'comes' })
  const { etag } = (await catalog.call('GET', first.path)).headers
  const rename = (from: string, to: string) =>
    catalog.call('POST', '/v1/main/tables/rename', {
      body: {
        source: { namespace: ['ns'], name: from },
        destination: { namespace: ['ns'], name: to },
      },
    })
  expect((await rename('left', 'gone')).status).toBe(204)
  const headers = { 'if-none-match': String(etag) }
  expect((await catalog.call('GET', first.path, { headers })).status).toBe(404)
  expect((await rename('comes', 'left')).status).toBe(204)
  const { status, json } = await catalog.call('GET', first.path, { headers })
  expect([status, textAt(json, 'metadata', 'table-uuid')]).toEqual([200, second.uuid])
})

it('gzips for those who accept it, and says that answers differ', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'zipped' })
  for (let id = 1n; id <= 5n; id += 1n) await append(table, id, id, id === 1n ? undefined : id - 1n)
  const plain = await catalog.call('GET', table.path)
  const url = `${catalog.running.url}${table.path}`
  const zipped = await fetch(url, { headers: { 'accept-encoding': 'gzip, deflate' } })
  expect(zipped.headers.get('content-encoding')).toBe('gzip')
  expect(await zipped.text()).toBe(plain.text)
  expect(plain.headers.vary).toBe('accept-encoding, authorization, x-iceberg-access-delegation')
  const refused = await catalog.call('GET', table.path, {
    headers: { 'accept-encoding': 'gzip;q=0, br' },
  })
  expect(refused.text).toBe(plain.text)
})

it('answers 404 with the text that clients read when the metadata file is gone', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'lost' })
  rmSync(table.metadataLocation.replace('file://', ''))
  const answer = await catalog.call('GET', table.path)
  expect(answer.status).toBe(404)
  expect(errorOf(answer)).toEqual({
    type: 'NotFoundException',
    code: 404,
    message: `Failed to open input stream for file: ${table.metadataLocation}`,
  })
})

it('takes access delegation as a hint', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'hint' })
  for (const value of ['vended-credentials', 'remote-signing,none', 'nonsense']) {
    const headers = { 'x-iceberg-access-delegation': value }
    const answer = await catalog.call('GET', path, { headers })
    expect(answer.status).toBe(200)
    expect(member(answer.json, 'config')).toEqual({})
  }
})

it('I9 shows the commit of another process at once when it does not own the database', async () => {
  const shared = await openTestCatalog({ config: { isOnlyWriter: false } })
  await makeNamespace(shared, ['ns'])
  const table = await makeTable(shared, { levels: ['ns'], name: 't' })
  const text = readFileSync(table.metadataLocation.replace('file://', ''), 'utf8')
  const next = table.metadataLocation.replace('00000-', '00001-')
  await shared.store.putIfAbsent(
    next,
    Buffer.from(text.replace('"properties":{', '"properties":{"by":"other",')),
  )
  await shared.database.query('update catalog_table set metadata_location = $1', [next])
  const { json } = await shared.call('GET', table.path)
  expect(textAt(json, 'metadata', 'properties', 'by')).toBe('other')
  await shared.stop()
})
