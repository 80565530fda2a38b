import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose'

/** An identity provider for tests: a real server with a discovery document and keys that can be changed. */
export interface TestIdentityProvider {
  readonly issuer: string
  /** How often the keys were read. */
  readonly readCount: () => number
  /** Answers 500 while it is off. */
  isOn: boolean
  /** Forgets the keys before and makes another one with this id. */
  rotate(kid: string): Promise<void>
  /** Signed with the current key. */
  token(claims: JWTPayload, nowMs: number): Promise<string>
  readonly privateKey: () => CryptoKey
  readonly publicKey: () => JWK
  close(): Promise<void>
}

export async function openTestIdentityProvider(): Promise<TestIdentityProvider> {
  let kid = 'first'
  let pair = await generateKeyPair('RS256', { extractable: true })
  let shown = await exportJWK(pair.publicKey)
  let readCount = 0
  const server = createServer((request, response) => {
    if (!provider.isOn) return void response.writeHead(500).end()
    const isKeys = request.url === '/keys'
    if (isKeys) readCount += 1
    const document = isKeys
      ? { keys: [{ ...shown, kid, alg: 'RS256', use: 'sig' }] }
      : { issuer: provider.issuer, jwks_uri: `${provider.issuer}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // `as`: a TCP server has no other kind of address
  const provider: TestIdentityProvider = {
    issuer: `http://127.0.0.1:${port}`,
    readCount: () => readCount,
    isOn: true,
    async rotate(next) {
      kid = next
      pair = await generateKeyPair('RS256', { extractable: true })
      shown = await exportJWK(pair.publicKey)
    },
    token: (claims, nowMs) =>
      new SignJWT({ iss: provider.issuer, aud: 'timelake', sub: 'ann', ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .setExpirationTime(claims.exp ?? Math.floor(nowMs / 1_000) + 600)
        .sign(pair.privateKey),
    privateKey: () => pair.privateKey,
    publicKey: () => shown,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
  return provider
}
