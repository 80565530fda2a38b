import { exportJWK, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { defaultAccessConfig } from './access-config.ts'
import { openTestIdentityProvider, type TestIdentityProvider } from './test-identity-provider.ts'

let provider: TestIdentityProvider
let catalog: TestCatalog

beforeEach(async () => {
  provider = await openTestIdentityProvider()
  catalog = await openTestCatalog({
    config: {
      token: 'operator',
      access: {
        ...defaultAccessConfig,
        identityProviders: {
          issuers: [provider.issuer],
          audiences: ['timelake'],
          algorithms: ['RS256'],
          subjectClaim: 'sub',
          nameClaim: 'preferred_username',
          groupsClaim: 'realm_access.roles',
          clockSkewMs: 30_000,
        },
      },
    },
  })
  await asOperator('POST', '/admin/v1/accounts', { name: 'ann', kind: 'federated', subject: 'ann' })
  await asOperator('POST', '/admin/v1/grants', {
    account: 'ann',
    role: 'reader',
    warehouse: 'main',
  })
})

afterEach(async () => {
  await catalog.stop()
  await provider.close()
})

const asOperator = (method: string, path: string, body?: Record<string, string | boolean>) =>
  catalog.call(method, path, {
    headers: { authorization: 'Bearer operator' },
    ...(body === undefined ? {} : { body }),
  })
const statusOf = async (token: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (await catalog.call('GET', '/v1/main/namespaces', { headers })).status
}
const token = (claims = {}) => provider.token(claims, catalog.clock.nowMs())
const seconds = () => Math.floor(catalog.clock.nowMs() / 1_000)

it('lets a token of the provider in', async () => {
  expect(await statusOf(await token())).toBe(200)
  expect(provider.readCount()).toBe(1)
})

describe('refuses', () => {
  it.each([
    ['another audience', () => token({ aud: 'other' })],
    ['another issuer', () => token({ iss: 'https://evil.example' })],
    ['a token without an end', () => tokenWithout('exp')],
    ['a token without a subject', () => token({ sub: '' })],
    ['a token that is over, beyond the skew', () => token({ exp: seconds() - 31 })],
    ['a token whose time has not come', () => token({ nbf: seconds() + 31 })],
    ['no signature', () => unsecured()],
    ['a shared key that is the public key', () => signedWithPublicKey()],
    ['another algorithm of the same key', () => signedAs('RS512')],
  ])('%s', async (_what, make) => {
    expect(await statusOf(await make())).toBe(401)
    expect(await statusOf(await token())).toBe(200)
  })

  const claims = () => ({ iss: provider.issuer, aud: 'timelake', sub: 'ann', exp: seconds() + 600 })
  const unsecured = async () => new UnsecuredJWT(claims()).encode()
  const signedWithPublicKey = () =>
    new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(Buffer.from(JSON.stringify(provider.publicKey())))
  const signedAs = async (alg: string) => {
    const key = await importJWK(await exportJWK(provider.privateKey()), alg)
    return new SignJWT(claims()).setProtectedHeader({ alg, kid: 'first' }).sign(key)
  }
  const tokenWithout = (claim: 'exp') => {
    const { [claim]: _gone, ...rest } = claims()
    return new SignJWT(rest)
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(provider.privateKey())
  }
})

it('bears clocks that are off by the skew, and no more', async () => {
  const late = await token({ exp: seconds() - 29 })
  expect(await statusOf(late)).toBe(200)
  catalog.clock.advance(2_000)
  expect(await statusOf(late)).toBe(401)
})

it('finds a new key when a token comes that is signed with it, and forgets the old one', async () => {
  const old = await token()
  expect(await statusOf(old)).toBe(200)
  await provider.rotate('second')
  catalog.clock.advance(30_000)
  expect(await statusOf(await token())).toBe(200)
  expect(provider.readCount()).toBe(2)
  const again = await token({ jti: 'unseen' })
  expect(await statusOf(again)).toBe(200)
  expect(provider.readCount()).toBe(2)
})

it('asks for keys once in a while only, however many tokens name unknown ones', async () => {
  await token().then(statusOf)
  await provider.rotate('second')
  for (const jti of ['a', 'b', 'c']) expect(await statusOf(await token({ jti }))).toBe(401)
  expect(provider.readCount()).toBe(1)
  catalog.clock.advance(30_000)
  expect(await statusOf(await token({ jti: 'd' }))).toBe(200)
})

it('goes on with the keys it knows while the provider is away, up to a day', async () => {
  expect(await statusOf(await token())).toBe(200)
  provider.isOn = false
  catalog.clock.advance(86_400_000)
  expect(await statusOf(await token({ jti: 'a' }))).toBe(200)
  catalog.clock.advance(1)
  expect(await statusOf(await token({ jti: 'b' }))).toBe(503)
  provider.isOn = true
  catalog.clock.advance(30_000)
  expect(await statusOf(await token({ jti: 'c' }))).toBe(200)
})

it('answers 503 before the keys were ever read', async () => {
  provider.isOn = false
  expect(await statusOf(await token())).toBe(503)
  expect(await statusOf(await token({ iss: 'https://evil.example' }))).toBe(401)
})

it('locks a disabled account out at once', async () => {
  const mine = await token()
  expect(await statusOf(mine)).toBe(200)
  await asOperator('PATCH', '/admin/v1/accounts/ann', { disabled: true })
  expect(await statusOf(mine)).toBe(401)
})
