import { randomUUID } from 'node:crypto'
import { testServices } from '@timelake/testing/test-services'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCatalog, type TestAnswer } from '../open-test-catalog.ts'
import { makeAccount, type CallAs } from '../test-accounts.ts'
import {
  HAS_BUCKET,
  NO_BUCKET,
  openTestBucket,
  tableNamed,
  type TestBucket,
} from '../test-bucket.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

const { s3 } = testServices()
const SIGNED = { 'x-iceberg-access-delegation': 'remote-signing' }

describe.skipIf(!HAS_BUCKET)(`signing (skipped: ${NO_BUCKET})`, () => {
  let bucket: TestBucket
  let path: string
  let location: string
  const tables = '/v1/signed/namespaces/ns/tables'
  beforeAll(async () => {
    const warehouses = { signed: ['remote-signing'], vending: ['vended-credentials'] } as const
    bucket = await openTestBucket(warehouses)
    const body = tableNamed('orders')
    const made = await bucket.catalog.call('POST', tables, { body, headers: SIGNED })
    expect(made.status, made.text).toBe(200)
    path = `${tables}/orders`
    location = textAt(made.json, 'metadata', 'location')
    const sibling = tableNamed('orders2', { location: `${location}2` })
    await bucket.catalog.call('POST', tables, { body: sibling })
  })
  afterAll(() => bucket.stop())

  const uriOf = (object: string) => `${s3?.endpoint}/${object.replace('s3://', '')}`
  const request = (method: string, object: string, more: JsonObject = {}): JsonObject => {
    const uri = uriOf(object)
    const host = new URL(uri).host
    const headers = { host: [host], 'x-amz-content-sha256': ['UNSIGNED-PAYLOAD'] }
    return { region: 'us-east-1', method, uri, headers, ...more }
  }
  const ask = (as: CallAs, body: JsonObject, at = `${path}/sign`): Promise<TestAnswer> =>
    as('POST', at, { body })
  const send = async (answer: TestAnswer, method: string, body?: string) => {
    expect(answer.status, answer.text).toBe(200)
    const headers = Object.entries(member(answer.json, 'headers') as JsonObject)
      .filter(([name]) => name.toLowerCase() !== 'host')
      .map(([name, values]): [string, string] => [name, String((values as JsonValue[])[0])])
    const init = { method, headers: Object.fromEntries(headers) }
    return fetch(textAt(answer.json, 'uri'), body === undefined ? init : { ...init, body })
  }

  it('signs what a client then does to its table', async () => {
    const object = `${location}/data/${randomUUID()}`
    const put = await ask(bucket.catalog.call, request('PUT', object))
    expect(put.headers['cache-control']).toBe('no-cache')
    expect((await send(put, 'PUT', 'rows')).status).toBe(200)
    const get = await ask(bucket.catalog.call, request('GET', object))
    expect(get.headers['cache-control']).toBe('private')
    expect(await (await send(get, 'GET')).text()).toBe('rows')
  })

  it('B198: signs nothing beside the table', async () => {
    const root = location.slice(0, location.lastIndexOf('/'))
    const foreign = [
      request('GET', `${location}2/data/x`),
      request('GET', `${root}/x`),
      request('GET', `${location}/data/../../x`),
      request('GET', `${location}/data/%2e%2e/%2e%2e/x`),
      request('GET', location.replace(/^s3:\/\/[^/]+/, 's3://other')),
      request('GET', `${location}/x`, { uri: `http://evil.example/${location.slice(5)}/x` }),
      request('PUT', `${location}/x`, {
        headers: { 'x-amz-copy-source': [`/${location.slice(5)}2/data/x`] },
      }),
    ]
    for (const body of foreign) {
      const answer = await ask(bucket.catalog.call, body)
      expect([400, 403], `${body['uri'] as string} ${answer.text}`).toContain(answer.status)
      expect(answer.text).not.toMatch(/authorization|AWS4-HMAC/i)
    }
  })

  it('lets a reader read and not write', async () => {
    const grants = [{ role: 'reader', warehouse: 'signed', namespace: ['ns'] }] as const
    const reader = await makeAccount(bucket.catalog, 'sign-reader', grants)
    const object = `${location}/data/${randomUUID()}`
    expect((await ask(reader, request('GET', object))).status).toBe(200)
    for (const method of ['PUT', 'DELETE', 'POST']) {
      expect((await ask(reader, request(method, object))).status).toBe(403)
    }
    const other = await makeAccount(bucket.catalog, 'sign-nobody', [
      { role: 'writer', warehouse: 'vending' },
    ])
    expect((await ask(other, request('GET', object))).status).toBe(404)
  })

  it('signs for a staged table by its ticket, in the address or in the properties', async () => {
    const body = tableNamed('staged', { 'stage-create': true })
    const staged = await bucket.catalog.call('POST', tables, { body, headers: SIGNED })
    const properties = member(staged.json, 'remote-signing-config', 'properties')
    const object = `${textAt(staged.json, 'metadata', 'location')}/metadata/m.avro`
    const endpoint = `/${textAt(staged.json, 'config', 'signer.endpoint')}`
    const call = bucket.catalog.call
    const put = await ask(call, request('PUT', object), endpoint)
    expect((await send(put, 'PUT', 'm')).status).toBe(200)
    const at = `${tables}/staged/sign`
    expect((await ask(call, request('GET', object, { properties }), at)).status).toBe(200)
    expect((await ask(call, request('GET', object), at)).status).toBe(404)
    const foreign = request('GET', `${location}/data/x`, { properties })
    expect((await ask(call, foreign, at)).status).toBe(403)
  })

  it.each([
    [{ provider: 'gcs' }, 'provider: expected s3, got gcs'],
    [{ uri: 'no uri' }, 'uri'],
    [{ method: 'BREW' }, 'BREW'],
    [{ headers: { host: 'text' } }, 'headers.host'],
  ])('refuses %j', async (more, expected) => {
    const answer = await ask(bucket.catalog.call, request('GET', `${location}/x`, more))
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain(expected)
  })

  it('signs nothing for a warehouse that does not say so', async () => {
    const at = '/v1/vending/namespaces/ns/tables/any/sign'
    const answer = await ask(bucket.catalog.call, request('GET', `${location}/x`), at)
    expect([answer.status, errorOf(answer).message]).toEqual([
      403,
      'warehouse vending signs no requests for clients',
    ])
  })
})

it('gives nothing for files of this machine, and signs nothing', async () => {
  const catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 't' })
  const given = await catalog.call('GET', `${path}/credentials`)
  expect([given.status, given.json]).toEqual([200, { 'storage-credentials': [] }])
  const body = { region: 'x', method: 'GET', uri: 'http://localhost/b/k', headers: {} }
  expect((await catalog.call('POST', `${path}/sign`, { body })).status).toBe(403)
  const change = { delegation: ['remote-signing'] }
  const refused = await catalog.call('PATCH', '/admin/v1/warehouses/main', { body: change })
  expect([refused.status, errorOf(refused).message]).toEqual([
    400,
    'delegation: expected an empty list for storage of type file',
  ])
  await catalog.stop()
})
