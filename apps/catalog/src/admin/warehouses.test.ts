import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findWarehouse } from '@timelake/database/warehouses'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openWarehouseStores } from '@timelake/storage/open-warehouse-stores'
import { noSecretBox, openSecretBox } from '@timelake/storage/secret-box'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'

const WAREHOUSES = '/admin/v1/warehouses'

const secretBox = openSecretBox({ key: Buffer.alloc(32, 3).toString('base64') })

let catalog: TestCatalog
let s3: S3Double
let root = ''
beforeAll(async () => {
  s3 = await openS3Double()
  // Known once the catalog runs.
  const localRootDirs: string[] = []
  const stores = openWarehouseStores({ secretBox, localRootDirs, extraAllowedLocations: [] })
  catalog = await openTestCatalog({ secretBox, stores: () => stores })
  localRootDirs.push(dirname(catalog.directory))
  root = `file://${dirname(catalog.directory)}`
})
afterAll(async () => {
  await catalog.stop()
  await s3.close()
})

let count = 0
const newName = (): string => `wh${++count}`

const fileBody = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  location: `${root}/${name}`,
  storage: { type: 'file' },
  ...more,
})
const keys = (): JsonObject => ({
  'access-key-id': s3.accessKeyId,
  'secret-access-key': s3.secretAccessKey,
})
const storage = (more: JsonObject = {}): JsonObject => ({
  type: 's3',
  endpoint: s3.endpoint,
  region: s3.region,
  ...more,
})
const s3Body = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  location: `s3://${s3.bucket}/${name}`,
  storage: storage(),
  credentials: keys(),
  ...more,
})
const create = (body: JsonObject): Promise<TestAnswer> => catalog.call('POST', WAREHOUSES, { body })
const change = (name: string, body: JsonObject): Promise<TestAnswer> =>
  catalog.call('PATCH', `${WAREHOUSES}/${name}`, { body })
const made = async (body: JsonObject): Promise<string> => {
  const answer = await create(body)
  expect(answer.status, answer.text).toBe(201)
  return textAt(answer.json, 'name')
}
const makeNamespace = (warehouse: string) =>
  catalog.call('POST', `/v1/${encodeURIComponent(warehouse)}/namespaces`, {
    body: { namespace: ['ns'] },
  })
const makeTable = (warehouse: string, name = 't', more: JsonObject = {}) =>
  catalog.call('POST', `/v1/${encodeURIComponent(warehouse)}/namespaces/ns/tables`, {
    body: { name, schema: SCHEMA, ...more },
  })

describe('a warehouse', () => {
  it('is made from a description, shown without secrets, listed and deleted', async () => {
    const name = newName()
    const answer = await create(s3Body(name, { defaults: { 'io-impl': 'x' } }))
    expect(answer.status, answer.text).toBe(201)
    expect(answer.json).toMatchObject({
      name,
      location: `s3://${s3.bucket}/${name}`,
      storage: { type: 's3', endpoint: s3.endpoint, region: s3.region, 'path-style': true },
      credentials: { 'opens-here': true, 'access-key-id-end': null },
      'allowed-locations': [],
      defaults: { 'io-impl': 'x' },
      overrides: {},
      delegation: [],
      version: 0n,
    })
    const shown = await catalog.call('GET', `${WAREHOUSES}/${name}`)
    expect(shown.json).toEqual(answer.json)
    const { json } = await catalog.call('GET', WAREHOUSES)
    expect(member(json, 'warehouses')).toContainEqual(answer.json)
    expect((await catalog.call('DELETE', `${WAREHOUSES}/${name}`)).status).toBe(204)
    const gone = await catalog.call('GET', `${WAREHOUSES}/${name}`)
    expect([gone.status, errorOf(gone).type]).toEqual([404, 'NoSuchWarehouseException'])
    expect((await catalog.call('DELETE', `${WAREHOUSES}/${name}`)).status).toBe(404)
  })

  it('on S3 holds tables whose files are in its bucket', async () => {
    const name = await made(s3Body(newName()))
    expect((await makeNamespace(name)).status).toBe(200)
    const table = await makeTable(name)
    expect(table.status, table.text).toBe(200)
    const key = textAt(table.json, 'metadata-location').replace(`s3://${s3.bucket}/`, '')
    expect(key).toMatch(new RegExp(`^${name}/`))
    expect([...s3.objects().keys()]).toContain(key)
    const loaded = await catalog.call('GET', `/v1/${name}/namespaces/ns/tables/t`)
    expect(loaded.status).toBe(200)
    expect(member(loaded.json, 'config')).toEqual({})
  })

  it('shows the last four characters of a long access key id and no more', async () => {
    const credentials = { 'access-key-id': 'AKIAIOSFODNN7EXAMPLE', 'secret-access-key': 'hunter2' }
    const name = await made(s3Body(newName(), { credentials }))
    const { text, json } = await catalog.call('GET', `${WAREHOUSES}/${name}`)
    expect(member(json, 'credentials')).toEqual({ 'opens-here': true, 'access-key-id-end': 'MPLE' })
    expect(text).not.toContain('AKIAIOSFODNN7')
    expect(text).not.toContain('hunter2')
  })

  it('may have a name that needs encoding: it is its prefix and its path (B013)', async () => {
    for (const odd of ['team a/prod', 'arn:x:1:b/c%2F+', 'ü', 'test', '*']) {
      const body = { ...fileBody('x'), name: odd, location: `${root}/odd-${++count}` }
      expect((await create(body)).status).toBe(201)
      const path = `${WAREHOUSES}/${encodeURIComponent(odd)}`
      expect(textAt((await catalog.call('GET', path)).json, 'name')).toBe(odd)
      const config = await catalog.call('GET', `/v1/config?warehouse=${encodeURIComponent(odd)}`)
      const prefix = textAt(config.json, 'overrides', 'prefix')
      const list = await catalog.call('GET', `/v1/${prefix}/namespaces`)
      expect([list.status, list.json]).toMatchObject([200, { namespaces: [] }])
      expect((await makeNamespace(odd)).status).toBe(200)
      expect((await catalog.call('DELETE', path)).status).toBe(409)
    }
  })

  it('is listed in pages, by name', async () => {
    const all = await catalog.call('GET', WAREHOUSES)
    const names: string[] = []
    for (let token: string | null = ''; token !== null;) {
      const page = await catalog.call('GET', `${WAREHOUSES}?pageSize=2&pageToken=${token}`)
      const warehouses = member(page.json, 'warehouses') as { name: string }[]
      expect(warehouses.length).toBeLessThanOrEqual(2)
      names.push(...warehouses.map(({ name }) => name))
      token = member(page.json, 'next-page-token') as string | null
    }
    const expected = (member(all.json, 'warehouses') as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expected)
  })
})

describe('a description of a warehouse', () => {
  const with_ = (more: JsonObject) => ({ ...fileBody('refused'), ...more })

  it.each<[string, () => JsonObject, string]>([
    ['no name', () => with_({ name: undefined }), 'name: expected string, got nothing'],
    ['an empty name', () => with_({ name: '' }), 'name: a name must not be empty'],
    ['a name that URLs lose', () => with_({ name: '..' }), 'name: .. is not a name'],
    ['no location', () => with_({ location: null }), 'location: expected string, got nothing'],
    [
      'a relative location',
      () => with_({ location: 'a/b' }),
      'location: invalid location "a/b": expected',
    ],
    [
      'another scheme',
      () => with_({ location: 's3://lake/x' }),
      'location: expected a location like file:///folder for storage of type file, found s3://lake/x',
    ],
    [
      'a double slash (B224)',
      () => with_({ location: `${root}/x//` }),
      'location: invalid location',
    ],
    [
      'the root of the machine',
      () => with_({ location: 'file:///' }),
      'location: expected a directory',
    ],
    [
      'another directory',
      () => with_({ location: 'file:///etc/lake' }),
      'location: expected a directory that this process may use',
    ],
    ['a way out', () => with_({ location: `${root}/../x` }), 'location: invalid location'],
    [
      'a hidden way out',
      () => with_({ location: `${root}/%2e%2e/x` }),
      'location: invalid location',
    ],
    [
      'no storage',
      () => with_({ storage: undefined }),
      'storage: expected an object, found undefined',
    ],
    [
      'an unknown storage',
      () => with_({ storage: { type: 'gcs' } }),
      'storage.type: expected "file" or "s3"',
    ],
    [
      'a misspelt member',
      () => with_({ allowed_locations: [] }),
      'expected the members name, location',
    ],
    [
      'credentials for files',
      () => with_({ credentials: keys() }),
      'credentials: expected only for storage of type s3',
    ],
    [
      'credentials in parts',
      () => s3Body('refused', { credentials: { 'access-key-id': 'x' } }),
      'credentials.secret-access-key: expected text, found nothing',
    ],
    [
      'a bucket that is none',
      () => s3Body('refused', { location: 's3://a..b/x' }),
      'location: expected the name of a bucket, found a..b',
    ],
    [
      'allowed locations that are none',
      () => with_({ 'allowed-locations': 'x' }),
      'allowed-locations: expected list, got string',
    ],
    [
      'an allowed location elsewhere',
      () => with_({ 'allowed-locations': [`${root}/ok`, 'file:///etc'] }),
      'allowed-locations[1]: expected a directory that this process may use',
    ],
    [
      'defaults that are no texts',
      () => with_({ defaults: { a: 1n } }),
      'defaults.a: expected string, got integer',
    ],
    [
      'secrets for everybody',
      () => with_({ defaults: { 's3.secret-access-key': 'hunter2' } }),
      'defaults.s3.secret-access-key: expected no secret',
    ],
    [
      'a token for everybody',
      () => with_({ overrides: { token: 'hunter2' } }),
      'overrides.token: expected no secret',
    ],
    [
      'a prefix of its own',
      () => with_({ overrides: { prefix: 'x' } }),
      'overrides.prefix: expected no such member',
    ],
    [
      'access to files of this machine',
      () => with_({ delegation: ['vended-credentials'] }),
      'delegation: expected an empty list for storage of type file',
    ],
    [
      'a way that is not known',
      () => with_({ delegation: ['remote-signing', 'magic'] }),
      'delegation[1]: expected one of vended-credentials, static-keys, remote-signing, found magic',
    ],
    [
      'a way twice',
      () => with_({ delegation: ['remote-signing', 'remote-signing'] }),
      'delegation: expected each mode once, found remote-signing twice',
    ],
  ])('is refused with %s, and the message says where', async (_, body, message) => {
    for (const path of [WAREHOUSES, `${WAREHOUSES}/test`]) {
      const answer = await catalog.call('POST', path, { body: body() })
      expect(answer.status, answer.text).toBe(400)
      expect(errorOf(answer).message).toContain(message)
      expect(answer.text).not.toContain('hunter2')
    }
    expect((await catalog.call('GET', `${WAREHOUSES}/refused`)).status).toBe(404)
  })

  it('is refused when a link leads out of the directories of the process', async () => {
    const directory = root.slice('file://'.length)
    mkdirSync(`${directory}/linked`)
    symlinkSync('/etc', `${directory}/linked/out`)
    const answer = await create({ ...fileBody('linked'), location: `${root}/linked/out/x` })
    expect(answer.status).toBe(400)
  })

  it('is refused when the name is taken', async () => {
    const name = await made(fileBody(newName()))
    const again = await create({ ...fileBody(name), location: `${root}/other-${name}` })
    expect([again.status, errorOf(again).type]).toEqual([409, 'AlreadyExistsException'])
  })

  it.each<[string, (name: string) => JsonObject]>([
    ['the same place', (name) => fileBody(`${name}b`, { location: `${root}/${name}/` })],
    ['a place inside', (name) => fileBody(`${name}b`, { location: `${root}/${name}/inside` })],
    ['a place above', (name) => fileBody(`${name}b`, { location: root })],
    [
      'it as an allowed place',
      (name) => fileBody(`${name}b`, { 'allowed-locations': [`${root}/${name}/x`] }),
    ],
    [
      'the place that it allows',
      (name) => fileBody(`${name}b`, { location: `${root}/allowed-${name}/x` }),
    ],
  ])('is refused for %s of another warehouse (B195)', async (_, other) => {
    const name = newName()
    await made(fileBody(name, { 'allowed-locations': [`${root}/allowed-${name}`] }))
    const answer = await create(other(name))
    expect([answer.status, errorOf(answer).type]).toEqual([409, 'AlreadyExistsException'])
    expect(errorOf(answer).message).toContain(`found warehouse`)
  })

  it('may name the bucket of another store, but not of the same one under another name', async () => {
    const name = await made(s3Body(newName()))
    const port = new URL(s3.endpoint).port
    const same = await create(
      s3Body(`${name}b`, {
        location: `s3a://${s3.bucket}/${name}/x`,
        storage: storage({ endpoint: `http://localhost:${port}` }),
      }),
    )
    expect(same.status, same.text).toBe(409)
    const other = await create(
      s3Body(`${name}c`, {
        location: `s3://${s3.bucket}/${name}`,
        storage: storage({ endpoint: 'https://elsewhere.example' }),
      }),
    )
    expect(other.status, other.text).toBe(201)
  })

  it('takes one form of each place: no slash at the end, no alias (B224)', async () => {
    for (const [text, location] of [
      [`s3a://bucket-${++count}/`, `s3://bucket-${count}`],
      [`s3://bucket-${++count}`, `s3://bucket-${count}`],
      [`s3n://bucket-${++count}/a/b/`, `s3://bucket-${count}/a/b`],
    ] as const) {
      const name = await made(s3Body(newName(), { location: text }))
      expect((await findWarehouse(catalog.database, name))?.location).toBe(location)
    }
  })

  it('lets tables lie at the root of a bucket, without double or missing slashes (B224)', async () => {
    const other = await openS3Double()
    try {
      const name = newName()
      const credentials = {
        'access-key-id': other.accessKeyId,
        'secret-access-key': other.secretAccessKey,
      }
      const place = { location: 's3://lake/', storage: storage({ endpoint: other.endpoint }) }
      await made(s3Body(name, { ...place, credentials }))
      expect((await makeNamespace(name)).status).toBe(200)
      const table = await makeTable(name)
      expect(table.status, table.text).toBe(200)
      for (const at of ['metadata-location']) {
        expect(textAt(table.json, at)).toMatch(
          /^s3:\/\/lake\/ns-[0-9a-f]+\/t-[^/]+\/metadata\/[^/]+$/,
        )
      }
      const slashed = await makeTable(name, 'u', { location: 's3://lake/u/' })
      expect(slashed.status, slashed.text).toBe(200)
      expect(textAt(slashed.json, 'metadata-location')).toMatch(/^s3:\/\/lake\/u\/metadata\/[^/]+$/)
      const locations = await Promise.all(
        [1, 2].map(async () =>
          textAt(
            (await catalog.call('GET', `/v1/${name}/namespaces/ns/tables/u`)).json,
            'metadata',
            'location',
          ),
        ),
      )
      expect(new Set(locations).size).toBe(1)
      for (const location of ['s3://lake', 's3://lake/', 's3://lake/u', 's3://lake/u/x']) {
        expect((await makeTable(name, 'v', { location })).status, location).toBe(400)
      }
    } finally {
      await other.close()
    }
  })
})

describe('changing a warehouse', () => {
  it('changes the members that are given and keeps the others', async () => {
    const name = await made(s3Body(newName(), { defaults: { a: '1' }, overrides: { b: '2' } }))
    const changed = await change(name, { defaults: { c: '3' }, version: 0n })
    expect(changed.status, changed.text).toBe(200)
    expect(changed.json).toMatchObject({ defaults: { c: '3' }, overrides: { b: '2' }, version: 1n })
    expect(member(changed.json, 'credentials')).not.toBeNull()
    const config = await catalog.call('GET', `/v1/config?warehouse=${name}`)
    expect(member(config.json, 'defaults')).toMatchObject({ c: '3' })
  })

  it('refuses one that was made from an older version', async () => {
    const name = await made(fileBody(newName()))
    expect((await change(name, { defaults: { a: '1' } })).status).toBe(200)
    const stale = await change(name, { defaults: { a: '2' }, version: 0n })
    expect([stale.status, errorOf(stale).type]).toEqual([409, 'WarehouseChangedException'])
    expect((await change('nope', { defaults: {} })).status).toBe(404)
  })

  it('takes new credentials into use at once, without a restart', async () => {
    const name = await made(
      s3Body(newName(), {
        credentials: { 'access-key-id': 'WRONG', 'secret-access-key': 'hunter2hunter2' },
      }),
    )
    expect((await makeNamespace(name)).status).toBe(200)
    const refused = await makeTable(name)
    expect(refused.status).toBeGreaterThanOrEqual(500)
    expect(refused.text).not.toContain('hunter2')
    const rotated = await change(name, { credentials: keys() })
    expect(rotated.status, rotated.text).toBe(200)
    const table = await makeTable(name)
    expect(table.status, table.text).toBe(200)
    expect(member((await change(name, { credentials: null })).json, 'credentials')).toBeNull()
  })

  it('does not send the keys to another endpoint than the one they were given for', async () => {
    const name = await made(s3Body(newName()))
    const elsewhere = storage({ endpoint: 'http://evil.example' })
    const answer = await change(name, { storage: elsewhere })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toMatch(/^credentials: expected with another endpoint/)
    expect((await change(name, { storage: elsewhere, credentials: null })).status).toBe(200)
  })

  it('keeps the location of a warehouse that holds something', async () => {
    const name = await made(fileBody(newName()))
    expect((await change(name, { location: `${root}/${name}-new` })).status).toBe(200)
    expect((await makeNamespace(name)).status).toBe(200)
    const moved = await change(name, { location: `${root}/${name}` })
    expect([moved.status, errorOf(moved).type]).toEqual([409, 'WarehouseNotEmptyException'])
    expect(errorOf(moved).message).toBe(`cannot move warehouse ${name}: it holds 1 namespace(s)`)
    expect((await change(name, { storage: { type: 's3', region: 'x' } })).status).toBe(400)
  })
})

describe('deleting a warehouse', () => {
  it('is refused while anything is in it, dropped tables too unless it is forced', async () => {
    const name = await made(fileBody(newName()))
    await makeNamespace(name)
    await makeTable(name)
    const remove = (query = '') => catalog.call('DELETE', `${WAREHOUSES}/${name}${query}`)
    const full = await remove()
    expect([full.status, errorOf(full).type]).toEqual([409, 'WarehouseNotEmptyException'])
    expect(errorOf(full).message).toContain('1 namespace(s), 1 table(s)')
    await catalog.call('DELETE', `/v1/${name}/namespaces/ns/tables/t`)
    await catalog.call('DELETE', `/v1/${name}/namespaces/ns`)
    const held = await remove()
    expect(errorOf(held).message).toContain('1 dropped table(s)')
    expect((await remove('?force=maybe')).status).toBe(400)
    expect((await remove('?force=TRUE')).status).toBe(204)
    expect((await catalog.call('GET', `/v1/${name}/namespaces`)).status).toBe(404)
  })
})

describe('testing a warehouse', () => {
  it('tells for each check what came of it, and leaves nothing behind', async () => {
    const name = await made(s3Body(newName()))
    const answer = await catalog.call('POST', `${WAREHOUSES}/${name}/test`)
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ ok: true })
    expect(member(answer.json, 'findings')).toContainEqual({
      check: 'conditional-put',
      ok: true,
      detail: null,
    })
    expect([...s3.objects().keys()].filter((key) => key.startsWith(`${name}/`))).toEqual([])
    expect((await catalog.call('POST', `${WAREHOUSES}/nope/test`)).status).toBe(404)
  })

  it('works on a description that is not kept', async () => {
    const name = newName()
    const good = await catalog.call('POST', `${WAREHOUSES}/test`, { body: s3Body(name) })
    expect([good.status, member(good.json, 'ok')]).toEqual([200, true])
    const local = await catalog.call('POST', `${WAREHOUSES}/test`, { body: fileBody(name) })
    expect([local.status, member(local.json, 'ok')], local.text).toEqual([200, true])
    const credentials = { 'access-key-id': 'WRONG', 'secret-access-key': 'hunter2hunter2' }
    const body = s3Body(name, { credentials })
    const bad = await catalog.call('POST', `${WAREHOUSES}/test`, { body })
    expect([bad.status, member(bad.json, 'ok')]).toEqual([200, false])
    expect(bad.text).not.toContain('hunter2')
    expect((await catalog.call('GET', `${WAREHOUSES}/${name}`)).status).toBe(404)
  })
})

it('B201: keys are in no answer, no log line, no row and no event', async () => {
  const name = await made(s3Body(newName()))
  await makeNamespace(name)
  await makeTable(name)
  await change(name, { credentials: keys() })
  await create(s3Body(name))
  await create(s3Body('x', { credentials: { ...keys(), extra: s3.secretAccessKey } }))
  await catalog.call('POST', `${WAREHOUSES}/${name}/test`)
  const wrong = `{"credentials":{"secret-access-key":"${s3.secretAccessKey}"`
  await catalog.call('POST', WAREHOUSES, { body: wrong })
  await catalog.call('POST', `${WAREHOUSES}?x=${s3.secretAccessKey}`, { body: wrong })
  const rows = await Promise.all(
    ['warehouse', 'outbox_event', 'catalog_table', 'idempotency_key', 'job_run'].map((table) =>
      catalog.database.query(`select t::text as text from ${table} t`),
    ),
  )
  const answers = [
    await catalog.call('GET', WAREHOUSES),
    await catalog.call('GET', `/v1/config?warehouse=${name}`),
    await catalog.call('GET', `/v1/${name}/namespaces/ns/tables/t`),
    await catalog.call('GET', '/metrics'),
  ]
  expect(catalog.log.length).toBeGreaterThan(10)
  for (const text of [
    ...catalog.log,
    ...answers.map((answer) => answer.text),
    JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
  ]) {
    expect(text).not.toContain(s3.secretAccessKey)
    expect(text).not.toContain(s3.accessKeyId)
  }
})

it('a process without a key keeps no credentials, and says what it needs', async () => {
  const keyless = await openTestCatalog({ secretBox: noSecretBox() })
  try {
    for (const path of [WAREHOUSES, `${WAREHOUSES}/test`]) {
      const answer = await keyless.call('POST', path, { body: s3Body('w') })
      expect(answer.status).toBe(400)
      expect(errorOf(answer).message).toContain('set TIMELAKE_SECRET_KEY')
    }
    const body = s3Body('w', { credentials: undefined })
    expect((await keyless.call('POST', WAREHOUSES, { body })).status).toBe(201)
  } finally {
    await keyless.stop()
  }
})

it('a warehouse whose keys do not open here is shown, mended, and refused as busy meanwhile', async () => {
  const name = await made(s3Body(newName()))
  const { rows } = { rows: await findWarehouse(catalog.database, name) }
  const sealed = rows?.sealedCredentials?.replace(/^v1\.[0-9a-f]{8}/, 'v1.00000000') ?? ''
  await catalog.database.query(
    'update warehouse set sealed_credentials = $2, version = version + 1 where name = $1',
    [name, sealed],
  )
  const shown = await catalog.call('GET', `${WAREHOUSES}/${name}`)
  expect(member(shown.json, 'credentials')).toEqual({
    'opens-here': false,
    'access-key-id-end': null,
  })
  const refused = await catalog.call('GET', `/v1/${name}/namespaces`)
  expect(refused.status).toBe(503)
  expect(errorOf(refused).message).toContain('its credentials do not open')
  const probe = await catalog.call('POST', `${WAREHOUSES}/${name}/test`)
  expect([probe.status, member(probe.json, 'ok')]).toEqual([200, false])
  expect((await change(name, { credentials: keys() })).status).toBe(200)
  expect((await catalog.call('GET', `/v1/${name}/namespaces`)).status).toBe(200)
})
