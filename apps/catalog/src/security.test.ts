import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWarehouseStores } from '@timelake/storage/open-warehouse-stores'
import { openSecretBox } from '@timelake/storage/secret-box'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { openTestCatalog, type TestCatalog } from './open-test-catalog.ts'
import { SCHEMA } from './test-bodies.ts'
import { errorOf, textAt } from './test-json.ts'
import { segment } from './test-tables.ts'

const TOKEN = 'correct-horse-battery-staple'
const authorization = `Bearer ${TOKEN}`

let catalog: TestCatalog
let doubles: readonly S3Double[] = []
beforeAll(async () => {
  doubles = [await openS3Double(), await openS3Double()]
  const secretBox = openSecretBox({ key: Buffer.alloc(32, 5).toString('base64') })
  const localRootDirs: string[] = []
  const stores = openWarehouseStores({ secretBox, localRootDirs, extraAllowedLocations: [] })
  catalog = await openTestCatalog({ secretBox, stores: () => stores, config: { token: TOKEN } })
  localRootDirs.push(dirname(catalog.directory))
})
afterAll(async () => {
  await catalog.stop()
  for (const double of doubles) await double.close()
})

const call = (method: string, path: string, body?: object) =>
  catalog.call(method, path, {
    headers: { authorization },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

describe('who has no right', () => {
  it.each([
    ['GET', '/v1/config'],
    ['GET', '/v1/main/namespaces'],
    ['GET', '/v1/main/namespaces/ns/tables'],
    ['HEAD', '/v1/main/namespaces/ns'],
    ['GET', '/admin/v1/warehouses'],
    ['POST', '/admin/v1/warehouses'],
    ['PATCH', '/admin/v1/warehouses/main'],
    ['DELETE', '/admin/v1/warehouses/main?force=true'],
    ['POST', '/admin/v1/warehouses/test'],
    ['GET', '/admin/v1/dropped-tables'],
    ['POST', '/admin/v1/dropped-tables/x/undrop'],
    ['GET', '/v1/nowhere/namespaces'],
  ])('B227: is told so and sees no empty catalog: %s %s', async (method, path) => {
    for (const sent of [undefined, 'Bearer wrong', 'Basic x', `Bearer ${TOKEN}x`]) {
      const headers = sent === undefined ? {} : { authorization: sent }
      const answer = await catalog.call(method, path, { headers })
      expect(answer.status).toBe(401)
      if (method !== 'HEAD') expect(errorOf(answer).type).toBe('NotAuthorizedException')
    }
  })
})

it('B201: tokens and what bodies and queries carry are in no log line and no answer', async () => {
  const secrets = [TOKEN, 'wrong-token-5417', 'query-secret-7713', 'body-secret-9921']
  const headers = { authorization: 'Bearer wrong-token-5417' }
  const answers = [
    await catalog.call('GET', '/v1/config?token=query-secret-7713', { headers }),
    await catalog.call('GET', '/v1/config?warehouse=x&token=query-secret-7713', {
      headers: { authorization },
    }),
    await call('POST', '/v1/main/namespaces', { token: 'body-secret-9921' }),
    await catalog.call('POST', '/v1/main/namespaces', {
      headers: { authorization },
      body: '{"a":"body-secret-9921"',
    }),
    await call('POST', '/v1/oauth/tokens?client_secret=query-secret-7713'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([401, 404, 400, 400, 400])
  const { text: metrics } = await call('GET', '/metrics')
  expect(catalog.log.length).toBeGreaterThan(4)
  for (const text of [...catalog.log, ...answers.map((answer) => answer.text), metrics]) {
    for (const secret of secrets) expect(text).not.toContain(secret)
  }
})

it('B194: names with wildcards and variables leave no trace in default locations', async () => {
  const names = ['*', 'f*', '?', '${aws:username}', 'a/b', '..x', '%2e%2e', '[a-z]', '{a,b}', 'é*']
  const locations: string[] = []
  for (const name of names) {
    const made = await call('POST', '/v1/main/namespaces', { namespace: [name] })
    expect(made.status, made.text).toBe(200)
    const body = { name, schema: SCHEMA }
    const path = `/v1/main/namespaces/${segment(name)}/tables`
    const text = JSON.stringify(body, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
    const table = await catalog.call('POST', path, { headers: { authorization }, body: text })
    expect(table.status, table.text).toBe(200)
    const location = textAt(table.json, 'metadata', 'location')
    const below = location.slice(catalog.warehouse.location.length)
    expect(below).toMatch(/^\/[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+$/)
    locations.push(location)
  }
  for (const one of locations) {
    for (const other of locations) {
      if (one !== other) expect(`${other}/`.startsWith(`${one}/`)).toBe(false)
    }
  }
})

it('B203: every warehouse is reached with its own keys and at its own endpoint', async () => {
  const names = ['lake-a', 'lake-ab']
  for (const [index, name] of names.entries()) {
    const { endpoint, region, accessKeyId, secretAccessKey } = doubles[index] ?? fail()
    const made = await call('POST', '/admin/v1/warehouses', {
      name,
      location: `s3://lake/${name.slice(5)}`,
      storage: { type: 's3', endpoint, region },
      credentials: { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey },
    })
    expect(made.status, made.text).toBe(201)
    await call('POST', `/v1/${name}/namespaces`, { namespace: ['ns'] })
  }
  for (const double of doubles) double.forgetRequests()
  for (const [index, name] of names.entries()) {
    const text = JSON.stringify({ name: 't', schema: SCHEMA }, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
    const path = `/v1/${name}/namespaces/ns/tables`
    const table = await catalog.call('POST', path, { headers: { authorization }, body: text })
    expect(table.status, table.text).toBe(200)
    const [own, other] = index === 0 ? doubles : [...doubles].reverse()
    const ofTables = requestsOfTables(own)
    expect(ofTables.length).toBeGreaterThan(0)
    expect(ofTables.every(({ status }) => (status ?? 500) < 400)).toBe(true)
    expect(ofTables.every(({ key }) => key.startsWith(`${name.slice(5)}/`))).toBe(true)
    if (index === 0) expect(requestsOfTables(other)).toEqual([])
  }
})

/** Without the tries of a store, which also ask for what is not there. */
function requestsOfTables(double: S3Double | undefined) {
  return double?.requests().filter(({ key }) => !key.includes('/.timelake/')) ?? []
}

function fail(): never {
  throw new Error('there are two doubles')
}
