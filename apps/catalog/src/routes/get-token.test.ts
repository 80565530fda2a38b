import { listAuditEntries } from '@timelake/database/audit-log'
import { parseJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { waitFor } from '@timelake/testing/wait-for'
import { decodeProtectedHeader, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultAccessConfig } from '../access/access-config.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'

const TOKENS = '/v1/oauth/tokens'
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const HOUR_MS = 3_600_000

let catalog: TestCatalog

beforeAll(async () => {
  catalog = await openTestCatalog({ config: { token: 'operator' } })
})

afterAll(() => catalog.stop())

const asOperator = (method: string, path: string, body?: JsonObject) =>
  catalog.call(method, path, {
    headers: { authorization: 'Bearer operator' },
    ...(body === undefined ? {} : { body }),
  })
const members = (answer: TestAnswer): Record<string, string> =>
  // `as`: what the routes answer, looked at below.
  answer.json as unknown as Record<string, string>
const created = async (name: string): Promise<string> => {
  const answer = await asOperator('POST', '/admin/v1/accounts', { name })
  await asOperator('POST', '/admin/v1/grants', { account: name, role: 'admin', warehouse: 'main' })
  return members(answer)['secret'] ?? ''
}
const ask = (form: Record<string, string>, headers: Record<string, string> = {}) =>
  catalog.call('POST', TOKENS, {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  })
const login = (client_id: string, client_secret: string) =>
  ask({ grant_type: 'client_credentials', client_id, client_secret, scope: 'catalog' })
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
const tokenOf = async (answer: TestAnswer | Promise<TestAnswer>) =>
  members(await answer)['access_token'] ?? ''
const statusOf = async (token: string, on = catalog) =>
  (await on.call('GET', '/v1/main/namespaces', { headers: { authorization: `Bearer ${token}` } }))
    .status
const exchange = (subject_token: string, authorization: string) =>
  ask(
    { grant_type: EXCHANGE, subject_token, subject_token_type: ACCESS_TOKEN, scope: 'catalog' },
    { authorization },
  )

describe('client credentials', () => {
  it('in the form or in a header give a token that is let in for an hour', async () => {
    const secret = await created('form')
    const answer = await login('form', secret)
    expect(answer.status).toBe(200)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json).toMatchObject({
      token_type: 'bearer',
      expires_in: 3_600n,
      issued_token_type: ACCESS_TOKEN,
    })
    const byHeader = await ask(
      { grant_type: 'client_credentials' },
      { authorization: basic('form', secret) },
    )
    const tokens = [await tokenOf(answer), await tokenOf(byHeader)]
    for (const token of tokens) expect(await statusOf(token)).toBe(200)
    catalog.clock.advance(HOUR_MS)
    for (const token of tokens) expect(await statusOf(token)).toBe(401)
  })

  it.each([
    ['no grant type', {}, 400, 'invalid_request'],
    ['no credentials', { grant_type: 'client_credentials' }, 400, 'invalid_request'],
    [
      'a secret alone',
      { grant_type: 'client_credentials', client_secret: 'x' },
      400,
      'invalid_request',
    ],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['an exchange of nothing', { grant_type: EXCHANGE }, 400, 'invalid_request'],
    [
      'an unknown client',
      { grant_type: 'client_credentials', client_id: 'x', client_secret: `tls_${'A'.repeat(43)}` },
      401,
      'invalid_client',
    ],
  ])('are refused as OAuth spells it: %s', async (_what, form, status, error) => {
    const answer = await ask(form)
    expect(answer.status).toBe(status)
    expect(members(answer)['error']).toBe(error)
    expect(members(answer)['error_description']).not.toBe('')
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('given twice, or two different ones, are refused', async () => {
    const twice = await catalog.call('POST', TOKENS, { body: 'grant_type=a&grant_type=b' })
    const form = { grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' }
    const both = await ask(form, { authorization: basic('a', 'c') })
    for (const answer of [twice, both]) {
      expect(answer.status).toBe(400)
      expect(members(answer)['error']).toBe('invalid_request')
    }
    expect((await catalog.call('POST', TOKENS, { body: 'x'.repeat(65_537) })).status).toBe(413)
  })

  it('of an unknown account and a wrong secret are answered alike', async () => {
    await created('known')
    const secret = `tls_${'B'.repeat(43)}`
    const [known, unknown] = [await login('known', secret), await login('unknown', secret)]
    expect(known.status).toBe(401)
    expect({ ...known, headers: {} }).toEqual({ ...unknown, headers: {} })
  })

  it('that are wrong too often wait a minute; who was right before goes on', async () => {
    const secret = await created('slow')
    expect((await login('slow', secret)).status).toBe(200)
    const wrong = () => login('slow', 'wrong')
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await wrong()).status).toBe(401)
    const refused = await wrong()
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await login('slow', secret)).status).toBe(200)
    catalog.clock.advance(60_000)
    expect((await wrong()).status).toBe(401)
  })
})

describe('an exchange', () => {
  it('of a token that holds gives the next one, as Java asks for it', async () => {
    const first = await tokenOf(login('chain', await created('chain')))
    catalog.clock.advance(HOUR_MS - 1_000)
    const second = await exchange(first, `Bearer ${first}`)
    expect(second.status).toBe(200)
    catalog.clock.advance(HOUR_MS - 1_000)
    expect(await statusOf(first)).toBe(401)
    expect(await statusOf(await tokenOf(second))).toBe(200)
    const third = await exchange(await tokenOf(second), `Bearer ${await tokenOf(second)}`)
    expect(await statusOf(await tokenOf(third))).toBe(200)
  })

  it('of a token that is over needs the credentials', async () => {
    const secret = await created('late')
    const token = await tokenOf(login('late', secret))
    catalog.clock.advance(HOUR_MS)
    const without = await exchange(token, `Bearer ${token}`)
    expect([without.status, members(without)['error']]).toEqual([400, 'invalid_grant'])
    const withThem = await exchange(token, basic('late', secret))
    expect(await statusOf(await tokenOf(withThem))).toBe(200)
    const garbage = await exchange('lost', basic('late', secret))
    expect(await statusOf(await tokenOf(garbage))).toBe(200)
  })

  it('gives nobody the token of another account', async () => {
    const mine = await tokenOf(login('mine', await created('mine')))
    const other = await tokenOf(login('other', await created('other')))
    const answer = await exchange(other, `Bearer ${mine}`)
    expect([answer.status, members(answer)['error']]).toEqual([400, 'invalid_grant'])
    expect((await exchange('operator', 'Bearer operator')).status).toBe(400)
  })
})

describe('I56: a token ends', () => {
  it('with its account: disabled, and removed and made again under the same name', async () => {
    const token = await tokenOf(login('gone', await created('gone')))
    await asOperator('PATCH', '/admin/v1/accounts/gone', { disabled: true })
    expect(await statusOf(token)).toBe(401)
    expect((await exchange(token, `Bearer ${token}`)).status).toBe(400)
    await asOperator('PATCH', '/admin/v1/accounts/gone', { disabled: false })
    expect(await statusOf(token)).toBe(200)
    await asOperator('DELETE', '/admin/v1/accounts/gone')
    await created('gone')
    expect(await statusOf(token)).toBe(401)
  })

  it('with the secret that it was got with, after a rotation', async () => {
    const old = await created('turn')
    const token = await tokenOf(login('turn', old))
    const rotated = await asOperator('POST', '/admin/v1/accounts/turn/secret', {
      'old-secret-for-ms': 60_000n,
    })
    const next = members(rotated)['secret'] ?? ''
    expect((await login('turn', next)).status).toBe(200)
    expect((await login('turn', old)).status).toBe(200)
    expect(await statusOf(token)).toBe(200)
    catalog.clock.advance(60_000)
    expect((await login('turn', old)).status).toBe(401)
    expect((await login('turn', next)).status).toBe(200)
    expect(await statusOf(token)).toBe(401)
    expect((await exchange(token, `Bearer ${token}`)).status).toBe(400)
  })

  it('when anything in it is changed, or another key signed it', async () => {
    const token = await tokenOf(login('forged', await created('forged')))
    const [header = '', payload = '', signature = ''] = token.split('.')
    const claims = Buffer.from(payload, 'base64url').toString()
    const longer = claims.replace(/"exp":\d+/, '"exp":99999999999')
    expect(longer).not.toBe(claims)
    const forged = [header, Buffer.from(longer).toString('base64url'), signature].join('.')
    // `as`: JSON of a token.
    const body = JSON.parse(claims) as Record<string, unknown>
    const foreign = await new SignJWT(body)
      .setProtectedHeader({ ...decodeProtectedHeader(token), alg: 'HS256' })
      .sign(Buffer.alloc(32, 1))
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
    for (const bad of [forged, foreign, none, `${token}x`, header, 'a.b.c']) {
      expect(await statusOf(bad)).toBe(401)
    }
    expect(await statusOf(token)).toBe(200)
  })
})

const isQuiet = ({ callerName }: { readonly callerName: string }) => callerName === 'quiet'

it('writes no secret and no token into the logs, whatever fails', async () => {
  const secret = await created('quiet')
  const token = await tokenOf(login('quiet', secret))
  await login('quiet', `${secret}x`)
  await login(secret, 'x')
  await statusOf(`${token}x`)
  await exchange(`${token}x`, basic('quiet', `${secret}y`))
  await catalog.call('GET', `/v1/${secret}/namespaces`, { headers: { authorization: 'Bearer x' } })
  const filter = { action: 'getToken' }
  const noted = () => listAuditEntries(catalog.database, { filter, limit: 99 })
  await waitFor(async () => (await noted()).filter(isQuiet).length === 2, { timeoutMs: 5_000 })
  const names = (await noted()).map(({ callerName }) => callerName)
  expect(names).toContain('')
  expect(names.join()).not.toContain('tls_')
  const log = catalog.log.join('').replaceAll(`/v1/${secret}/namespaces`, '')
  for (const hidden of [secret, token, 'scrypt.', 'Bearer operator'])
    expect(log).not.toContain(hidden)
  const shown = await asOperator('GET', '/admin/v1/accounts/quiet')
  expect(shown.text).not.toContain(secret)
  expect(shown.text).not.toContain('scrypt')
})

it('shows what was last used of a secret, and keeps only its hash', async () => {
  const secret = await created('kept')
  await login('kept', secret)
  const shown = parseJson((await asOperator('GET', '/admin/v1/accounts/kept')).text)
  expect(shown).toMatchObject({ secrets: [{ 'last-used-ms': BigInt(catalog.clock.nowMs()) }] })
  const rows = await catalog.database.query('select * from account_secret')
  expect(JSON.stringify(rows, (_key, value: unknown) => String(value))).not.toContain(secret)
})

describe('who must prove anything', () => {
  const isOpen = async (config: object, prepare?: (catalog: TestCatalog) => Promise<unknown>) => {
    const first = await openTestCatalog({ config, on: 'pglite' })
    await prepare?.(first)
    const { status } = await first.call('GET', '/v1/config')
    await first.stop()
    return status === 200
  }

  it.each([
    ['auto', undefined, true],
    ['auto', 'operator', false],
    ['required', undefined, false],
    ['off', 'operator', true],
  ] as const)('%s with token %s: open %s', async (authentication, token, expected) => {
    const access = { ...defaultAccessConfig, authentication }
    expect(await isOpen({ access, ...(token === undefined ? {} : { token }) })).toBe(expected)
  })

  it('ignores credentials on an open server, and gives tokens there all the same', async () => {
    const open = await openTestCatalog()
    const headers = { authorization: 'Bearer None' }
    expect((await open.call('GET', '/v1/config', { headers })).status).toBe(200)
    const made = await open.call('POST', '/admin/v1/accounts', { body: { name: 'a' } })
    const form = { grant_type: 'client_credentials', client_id: 'a' }
    const body = new URLSearchParams({ ...form, client_secret: members(made)['secret'] ?? '' })
    const answer = await open.call('POST', TOKENS, { body: body.toString() })
    expect(await statusOf(await tokenOf(answer), open)).toBe(200)
    await open.stop()
  })
})
