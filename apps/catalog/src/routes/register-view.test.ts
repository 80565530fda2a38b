import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { makeView, propertyBody, viewVersion } from '../test-views.ts'

let catalog: TestCatalog
let ns: string
beforeAll(async () => {
  catalog = await openTestCatalog()
  ns = await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const register = (name: string, location: string) =>
  catalog.call('POST', `${ns}/register-view`, { body: { name, 'metadata-location': location } })

let fileCount = 0
/** Puts a file where another catalog might have left it, and answers its location. */
function foreignFile(content: string | Uint8Array): string {
  fileCount += 1
  const folder = `${catalog.directory}/foreign/v${fileCount}/metadata`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/v1.metadata.json`, content)
  return `file://${folder}/v1.metadata.json`
}

function foreignView(more: JsonObject = {}): JsonObject {
  return {
    'view-uuid': 'fa6506c3-7681-40c8-86dc-e36561f83385',
    'format-version': 1n,
    location: `file://${catalog.directory}/foreign/v${fileCount + 1}`,
    'current-version-id': 3n,
    properties: { comment: 'x' },
    versions: [viewVersion('select 1', { 'version-id': 3n, 'schema-id': 0n })],
    schemas: [SCHEMA],
    'version-log': [{ 'timestamp-ms': 1n, 'version-id': 3n }],
    'x-foreign': 9007199254740993n,
    ...more,
  }
}

it.each([
  ['plain', (text: string) => text],
  ['gzipped', (text: string) => gzipSync(text)],
] as const)(
  'points at a %s file as it is, its UUID and strange members included',
  async (name, as) => {
    const json = foreignView()
    const location = foreignFile(as(printJson(json)))
    const answer = await register(name, location)
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toEqual({ 'metadata-location': location, metadata: json, config: {} })
    expect((await catalog.call('GET', `${ns}/views/${name}`)).text).toBe(answer.text)
    const after = await catalog.call('POST', `${ns}/views/${name}`, { body: propertyBody('1') })
    expect(member(after.json, 'metadata', 'x-foreign')).toBe(9007199254740993n)
    expect(textAt(after.json, 'metadata-location')).toMatch(/\/00002-/)
  },
)

it('reads the file again when it is registered again', async () => {
  const location = foreignFile(printJson(foreignView({ properties: { a: '1' } })))
  await register('read-1', location)
  const path = location.replace('file://', '')
  fileCount -= 1
  writeFileSync(path, printJson(foreignView({ properties: { a: '2' } })))
  const { json } = await register('read-2', location)
  expect(member(json, 'metadata', 'properties', 'a')).toBe('2')
})

it('tells it in an event', async () => {
  await register('told', foreignFile(printJson(foreignView())))
  const events = await catalog.database.query(`select kind from outbox_event where name = 'told'`)
  expect(events).toEqual([{ kind: 'view-registered' }])
})

describe('refuses', () => {
  it('a name that is taken, naming what has it', async () => {
    const view = await makeView(catalog, { levels: ['ns'], name: 'taken' })
    await makeTable(catalog, { levels: ['ns'], name: 'table' })
    expect(errorOf(await register('taken', view.metadataLocation))).toEqual({
      type: 'AlreadyExistsException',
      code: 409,
      message: 'View already exists: ns.taken',
    })
    expect(errorOf(await register('table', view.metadataLocation)).message).toBe(
      'Table with same name already exists: ns.table',
    )
  })

  it('a missing namespace', async () => {
    const answer = await catalog.call('POST', '/v1/main/namespaces/nope/register-view', {
      body: { name: 'v', 'metadata-location': 'file:///x' },
    })
    expect(errorOf(answer)).toMatchObject({ type: 'NoSuchNamespaceException', code: 404 })
  })

  it('a file that is not there or not allowed', async () => {
    const none = `file://${catalog.directory}/none.metadata.json`
    expect(errorOf(await register('x', none))).toEqual({
      type: 'NotFoundException',
      code: 404,
      message: `Failed to open input stream for file: ${none}`,
    })
    for (const location of ['file:///etc/passwd', `${none}/../../x`, 's3://b/x', '']) {
      expect((await register('x', location)).status, location).toBe(400)
    }
  })

  it.each<[string, () => string]>([
    ['text', () => 'no JSON'],
    ['a higher format version', () => printJson(foreignView({ 'format-version': 2n }))],
    ['a view without versions', () => printJson(foreignView({ versions: [] }))],
    ['a view outside the warehouse', () => printJson(foreignView({ location: 'file:///etc/v' }))],
    [
      'a view that writes outside the warehouse',
      () => printJson(foreignView({ properties: { 'write.metadata.path': 'file:///etc/v' } })),
    ],
  ])('%s', async (_name, content) => {
    const answer = await register('broken', foreignFile(content()))
    expect(answer.status, answer.text).toBe(400)
    expect((await catalog.call('HEAD', `${ns}/views/broken`)).status).toBe(404)
  })

  it('the metadata of a table, and a view’s as a table', async () => {
    const table = await makeTable(catalog, { levels: ['ns'], name: 'a-table' })
    expect((await register('x', table.metadataLocation)).status).toBe(400)
    const view = await makeView(catalog, { levels: ['ns'], name: 'a-view' })
    const body = { name: 'y', 'metadata-location': view.metadataLocation }
    expect((await catalog.call('POST', `${ns}/register`, { body })).status).toBe(400)
  })

  it('a view inside a table', async () => {
    const table = await makeTable(catalog, { levels: ['ns'], name: 'holder' })
    const location = foreignFile(printJson(foreignView({ location: `${table.location}/v` })))
    expect((await register('x', location)).status).toBe(400)
  })
})
