import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultAccessConfig } from '../access/access-config.ts'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'

const ACCOUNTS = '/admin/v1/accounts'
const GRANTS = '/admin/v1/grants'

let catalog: TestCatalog

beforeAll(async () => {
  catalog = await openTestCatalog({
    config: {
      token: 'operator',
      access: {
        ...defaultAccessConfig,
        identityProviders: {
          issuers: ['https://one.example', 'https://two.example'],
          audiences: ['timelake'],
          algorithms: ['RS256'],
          subjectClaim: 'sub',
          nameClaim: 'name',
          groupsClaim: 'groups',
          clockSkewMs: 0,
        },
      },
    },
  })
})

afterAll(() => catalog.stop())

const ask = (method: string, path: string, body?: JsonObject) =>
  catalog.call(method, path, {
    headers: { authorization: 'Bearer operator' },
    ...(body === undefined ? {} : { body }),
  })
const outcome = async (method: string, path: string, body?: JsonObject) => {
  const { status, json } = await ask(method, path, body)
  // `as`: the envelope of errors.
  const { error } = json as unknown as { error: { type: string; message: string } }
  return `${status} ${error.type} ${error.message}`
}
const member = (json: JsonValue | undefined, name: string) => (json as JsonObject)[name]

describe('accounts are refused', () => {
  it.each([
    [{}, /400 .*name: expected string/],
    [{ name: 'a:b' }, /400 .*name: expected letters/],
    [{ name: 'tls_a' }, /400 .*name: expected letters/],
    [{ name: 'a', kind: 'robot' }, /400 .*kind: expected service or federated or group/],
    [{ name: 'a', secret: 'x' }, /400 .*found "secret"/],
    [{ name: 'a', subject: 'x' }, /400 .*no issuer and no subject/],
    [{ name: 'a', kind: 'group', issuer: 'https://one.example' }, /400 .*subject: expected string/],
    [{ name: 'a', kind: 'group', subject: 'x' }, /400 .*issuer: expected one of .*got nothing/],
    [
      { name: 'a', kind: 'group', subject: 'x', issuer: 'https://x' },
      /400 .*https:\/\/one.example/,
    ],
  ])('%j', async (body, expected) => {
    expect(await outcome('POST', ACCOUNTS, body)).toMatch(expected)
  })

  it('twice, under a name that is not there, and from an old version', async () => {
    const body = { name: 'twice' }
    expect((await ask('POST', ACCOUNTS, body)).status).toBe(201)
    expect(await outcome('POST', ACCOUNTS, body)).toMatch(/409 AlreadyExistsException .*twice/)
    expect(await outcome('GET', `${ACCOUNTS}/none`)).toMatch(/404 NoSuchAccountException .*none/)
    expect(await outcome('DELETE', `${ACCOUNTS}/none`)).toMatch(/404 NoSuchAccountException/)
    expect(await outcome('PATCH', `${ACCOUNTS}/twice`, { version: 7n })).toMatch(
      /409 AccountChangedException .*expected version 7/,
    )
    expect(await outcome('PATCH', `${ACCOUNTS}/twice`, { name: 'x' })).toMatch(/400 /)
    expect(
      await outcome('POST', `${ACCOUNTS}/twice/secret`, { 'old-secret-for-ms': 2_592_000_001n }),
    ).toMatch(/400 .*old-secret-for-ms: expected 0 to/)
  })

  it('when another one stands for the subject; only service accounts have secrets', async () => {
    const ann = { name: 'ann', kind: 'federated', subject: 's', issuer: 'https://one.example' }
    const made = await ask('POST', ACCOUNTS, ann)
    expect([made.status, member(made.json, 'secret')]).toEqual([201, undefined])
    expect(await outcome('POST', ACCOUNTS, { ...ann, name: 'bob' })).toMatch(/409 .*: ann$/)
    const elsewhere = { ...ann, name: 'bob', issuer: 'https://two.example' }
    expect((await ask('POST', ACCOUNTS, elsewhere)).status).toBe(201)
    expect(await outcome('POST', `${ACCOUNTS}/ann/secret`)).toMatch(/400 .*found a federated one/)
  })
})

it('lists accounts and grants page by page', async () => {
  for (const name of ['p1', 'p2', 'p3']) {
    await ask('POST', ACCOUNTS, { name })
    await ask('POST', GRANTS, { account: name, role: 'reader' })
  }
  for (const [path, list] of [
    [ACCOUNTS, 'accounts'],
    [GRANTS, 'grants'],
  ] as const) {
    const seen: JsonValue[] = []
    let token: JsonValue | undefined = ''
    while (typeof token === 'string') {
      const page = await ask('GET', `${path}?pageSize=2&pageToken=${token}`)
      seen.push(...(member(page.json, list) as JsonValue[]))
      token = member(page.json, 'next-page-token')
    }
    expect(token).toBeNull()
    expect(seen).toEqual(member((await ask('GET', path)).json, list))
    expect(seen.length).toBeGreaterThan(2)
  }
})

describe('grants', () => {
  it.each([
    [{ account: 'none', role: 'reader' }, /404 NoSuchAccountException/],
    [{ account: 'p1', role: 'owner' }, /400 .*role: expected reader or writer or admin/],
    [{ account: 'p1', role: 'reader', warehouse: 'none' }, /404 NoSuchWarehouseException/],
    [
      { account: 'p1', role: 'reader', namespace: ['a'] },
      /400 .*warehouse: expected the warehouse/,
    ],
    [{ account: 'p1', role: 'reader', warehouse: 'main', namespace: ['..'] }, /400 .*namespace/],
    [{ account: 'p1' }, /400 .*role: expected string/],
  ])('are refused: %j', async (body, expected) => {
    expect(await outcome('POST', GRANTS, body)).toMatch(expected)
  })

  it('replace each other at one place, are filtered, and are taken back once', async () => {
    const place = { account: 'p1', warehouse: 'main', namespace: ['a', 'b'] }
    const first = await ask('POST', GRANTS, { ...place, role: 'reader' })
    const second = await ask('POST', GRANTS, { ...place, role: 'admin' })
    const id = String(member(second.json, 'id'))
    expect(member(first.json, 'id')).toBe(id)
    const filtered = await ask('GET', `${GRANTS}?account=p1&warehouse=main`)
    expect(member(filtered.json, 'grants')).toEqual([second.json])
    expect(await outcome('GET', `${GRANTS}?account=none`)).toMatch(/404 NoSuchAccountException/)
    expect((await ask('DELETE', `${GRANTS}/${id}`)).status).toBe(204)
    expect(await outcome('DELETE', `${GRANTS}/${id}`)).toMatch(/404 NoSuchGrantException/)
    expect(await outcome('DELETE', `${GRANTS}/x`)).toMatch(/404 NoSuchGrantException/)
  })
})

it.each([
  ['outcome=maybe', /400 .*outcome: expected done or denied or failed/],
  ['from-ms=soon', /400 .*from-ms: expected milliseconds/],
  ['pageToken=x', /400 .*pageToken/],
])('refuses to look for audit entries by %s', async (query, expected) => {
  expect(await outcome('GET', `/admin/v1/audit?${query}`)).toMatch(expected)
})
