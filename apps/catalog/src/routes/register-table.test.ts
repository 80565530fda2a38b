import { afterAll, beforeAll, expect, it } from 'vitest'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { waitFor } from '@timelake/testing/wait-for'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

const readLocations: string[] = []

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({
    wrapStore: (store) => ({
      ...store,
      get(location, options) {
        readLocations.push(location)
        return store.get(location, options)
      },
      delete(location) {
        readLocations.push(location)
        return store.delete(location)
      },
    }),
  })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const REGISTER = '/v1/main/namespaces/ns/register'
const register = (name: string, location: string, overwrite = false) =>
  catalog.call('POST', REGISTER, { body: { name, 'metadata-location': location, overwrite } })

/** Puts a metadata file into a new folder of the warehouse and gives its location. */
function writeMetadata(
  folder: string,
  text: string | Uint8Array,
  name = 'v1.metadata.json',
): string {
  const directory = `${catalog.directory}/foreign/${folder}/metadata`
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${directory}/${name}`, text)
  return `file://${directory}/${name}`
}

const place = (folder: string) => `${catalog.warehouse.location}/foreign/${folder}`

const metadataOf = (folder: string, more: JsonObject = {}): string =>
  printJson({
    'format-version': 2n,
    'table-uuid': '11111111-2222-3333-4444-555555555555',
    location: place(folder),
    'last-sequence-number': 0n,
    'last-updated-ms': 1_600_000_000_000n,
    'last-column-id': 20n,
    'current-schema-id': 0n,
    schemas: [SCHEMA],
    'default-spec-id': 0n,
    'partition-specs': [{ 'spec-id': 0n, fields: [] }],
    'last-partition-id': 999n,
    'default-sort-order-id': 0n,
    'sort-orders': [{ 'order-id': 0n, fields: [] }],
    ...more,
  })

it('points a name at a file that stays as it is', async () => {
  const text = metadataOf('plain')
  const location = writeMetadata('plain', text)
  const answer = await register('plain', location)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.json).toMatchObject({
    'metadata-location': location,
    metadata: { 'table-uuid': '11111111-2222-3333-4444-555555555555', location: place('plain') },
  })
  expect(readFileSync(location.replace('file://', ''), 'utf8')).toBe(text)
  expect((await catalog.call('GET', '/v1/main/namespaces/ns/tables/plain')).text).toBe(answer.text)
})

it('takes a table back after it was dropped (B079)', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'back' })
  await catalog.call('DELETE', table.path)
  const { json } = await register('back', table.metadataLocation)
  expect(textAt(json, 'metadata', 'table-uuid')).toBe(table.uuid)
})

it('reads gzip under any name', async () => {
  const zipped = gzipSync(metadataOf('zip'))
  expect((await register('zip', writeMetadata('zip', zipped, 'v1.gz.metadata.json'))).status).toBe(
    200,
  )
  const named = gzipSync(metadataOf('zip2'))
  expect((await register('zip2', writeMetadata('zip2', named))).status).toBe(200)
})

it('answers 409 for a name that is taken before it looks at the file', async () => {
  const { location } = await makeTable(catalog, { levels: ['ns'], name: 'taken' })
  for (const place of ['file:/none.json', `${location}/metadata/none.json`]) {
    const answer = await register('taken', place)
    expect(answer.status).toBe(409)
    expect(errorOf(answer)).toMatchObject({
      type: 'AlreadyExistsException',
      message: 'Table already exists: ns.taken',
    })
  }
})

it('answers 404 for a missing namespace and a missing file', async () => {
  const body = {
    name: 't',
    'metadata-location': `${catalog.warehouse.location}/x/v1.metadata.json`,
  }
  const namespace = await catalog.call('POST', '/v1/main/namespaces/nope/register', { body })
  expect(errorOf(namespace).type).toBe('NoSuchNamespaceException')
  const file = await register('t', body['metadata-location'])
  expect(file.status).toBe(404)
  expect(errorOf(file)).toMatchObject({
    type: 'NotFoundException',
    message: `Failed to open input stream for file: ${body['metadata-location']}`,
  })
})

it.each([
  'file:///etc/passwd',
  's3://bucket/v1.metadata.json',
  '/etc/hostname',
  'WAREHOUSE/../x',
  'x',
])('reads nothing at %s', async (template) => {
  const answer = await register('out', template.replace('WAREHOUSE', catalog.warehouse.location))
  expect(answer.status).toBe(400)
  expect(errorOf(answer).code).toBe(400)
})

const UNREADABLE: readonly (readonly [string, string | Uint8Array])[] = [
  ['text', 'no json'],
  ['an empty file', ''],
  ['a list', '[]'],
  ['broken gzip', new Uint8Array([0x1f, 0x8b, 1, 2, 3])],
  ['broken UTF-8', new Uint8Array([0x7b, 0xff])],
  ['format version 4', '{"format-version":4}'],
]

it.each(UNREADABLE)('refuses %s', async (what, content) => {
  const answer = await register('bad', writeMetadata(`bad-${what.replaceAll(' ', '-')}`, content))
  expect(answer.status).toBe(400)
})

it('refuses a file over the limit, inflated or not', async () => {
  const small = await openTestCatalog({ config: { metadataBytesMax: 1_000_000 } })
  await makeNamespace(small, ['ns'])
  const directory = `${small.directory}/big`
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${directory}/plain.metadata.json`, Buffer.alloc(1_000_001, 0x20))
  writeFileSync(`${directory}/bomb.metadata.json`, gzipSync(Buffer.alloc(50_000_000, 0x20)))
  for (const name of ['plain', 'bomb']) {
    const body = { name, 'metadata-location': `file://${directory}/${name}.metadata.json` }
    expect((await small.call('POST', REGISTER, { body })).status).toBe(400)
  }
  await small.stop()
})

it('refuses a table whose location is outside, or is that of another table', async () => {
  const outside = writeMetadata('liar', metadataOf('liar', { location: 'file:///etc' }))
  expect((await register('liar', outside)).status).toBe(400)
  const { location } = await makeTable(catalog, { levels: ['ns'], name: 'victim' })
  const copy = writeMetadata('thief', metadataOf('thief', { location }))
  const answer = await register('thief', copy)
  expect(answer.status).toBe(400)
  expect(errorOf(answer).message).toContain('overlaps')
})

it('I16 never reads or deletes what a file claims about other places', async () => {
  const bait = `${catalog.directory}/bait.metadata.json`
  writeFileSync(bait, 'precious')
  const stolen = { 'timestamp-ms': 1n, 'metadata-file': `file://${bait}` }
  const properties = {
    'write.metadata.delete-after-commit.enabled': 'true',
    'write.metadata.previous-versions-max': '1',
  }
  const text = metadataOf('hostile', {
    'metadata-log': [stolen, { ...stolen, 'metadata-file': 'file:///etc/passwd' }],
    properties,
    statistics: [
      {
        'snapshot-id': 1n,
        'statistics-path': 'file:///etc/shadow',
        'file-size-in-bytes': 1n,
        'file-footer-size-in-bytes': 1n,
        'blob-metadata': [],
      },
    ],
  })
  const read = readLocations.length
  expect((await register('hostile', writeMetadata('hostile', text))).status).toBe(200)
  const path = '/v1/main/namespaces/ns/tables/hostile'
  for (const value of ['1', '2', '3']) {
    const body = { updates: [{ action: 'set-properties', updates: { value } }] }
    expect((await catalog.call('POST', path, { body })).status).toBe(200)
  }
  await waitFor(
    () => !existsSync(`${catalog.directory}/foreign/hostile/metadata/v1.metadata.json`),
    {
      timeoutMs: 5_000,
    },
  )
  expect(readFileSync(bait, 'utf8')).toBe('precious')
  const touched = readLocations.slice(read)
  expect(touched.filter((location) => !location.includes('/foreign/hostile/'))).toEqual([])
})

it('overwrites: points an existing name at another file, in one step', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'over' })
  const location = writeMetadata('over', metadataOf('over'))
  const { status, json } = await register('over', location, true)
  expect(status).toBe(200)
  expect(textAt(json, 'metadata-location')).toBe(location)
  const loaded = await catalog.call('GET', table.path)
  expect(textAt(loaded.json, 'metadata-location')).toBe(location)
  const absent = writeMetadata('over2', metadataOf('over2'))
  expect((await register('over2', absent, true)).status).toBe(200)
})

it('B082: gives a v1 table without UUID one that stays', async () => {
  const text = printJson({
    'format-version': 1n,
    location: place('v1'),
    'last-updated-ms': 1_600_000_000_000n,
    'last-column-id': 20n,
    schema: SCHEMA,
    'partition-spec': [],
    properties: {},
    'current-snapshot-id': -1n,
    snapshots: [],
  })
  const { status, json } = await register(
    'v1',
    writeMetadata('v1', text, 'v1720710382.metadata.json'),
  )
  expect(status).toBe(200)
  const uuid = textAt(json, 'metadata', 'table-uuid')
  const path = '/v1/main/namespaces/ns/tables/v1'
  const requirements = [{ type: 'assert-table-uuid', uuid }]
  const updates = [{ action: 'set-properties', updates: { a: 'b' } }]
  const committed = await catalog.call('POST', path, { body: { requirements, updates } })
  expect(committed.status, committed.text).toBe(200)
  expect(textAt(committed.json, 'metadata', 'table-uuid')).toBe(uuid)
  expect(textAt(committed.json, 'metadata-location')).toContain('/1720710383-')
})

it('B090: refuses v3 without next-row-id', async () => {
  const text = metadataOf('v3', { 'format-version': 3n })
  const answer = await register('v3', writeMetadata('v3', text))
  expect(answer.status).toBe(400)
  expect(errorOf(answer).message).toContain('next-row-id')
})

it('I11 keeps members that it does not know through a commit', async () => {
  const location = writeMetadata(
    'unknown',
    metadataOf('unknown', { 'x-vendor': { deep: [1n, 2.5] } }),
  )
  await register('unknown', location)
  const path = '/v1/main/namespaces/ns/tables/unknown'
  const body = { updates: [{ action: 'set-properties', updates: { a: 'b' } }] }
  const { json } = await catalog.call('POST', path, { body })
  expect(member(json, 'metadata', 'x-vendor')).toEqual({ deep: [1n, 2.5] })
})
