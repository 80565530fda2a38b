import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openAddressBook } from './s3-address.ts'
import { canonicalQuery, EMPTY_PAYLOAD_HASH, openSigner, sha256Hex } from './s3-signer.ts'

const NOW_MS = Date.parse('2013-05-24T00:00:00Z')
const REGION = 'us-east-1'
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
}

// AWS's own examples: "Signature Calculations for the Authorization Header".
describe('the examples that AWS publishes', () => {
  const host = 'examplebucket.s3.amazonaws.com'
  const sign = openSigner(REGION)

  it('signs a GET of a range', () => {
    const headers = sign(
      {
        method: 'GET',
        host,
        path: '/test.txt',
        query: '',
        headers: { range: 'bytes=0-9' },
        payloadHash: EMPTY_PAYLOAD_HASH,
      },
      credentials,
      NOW_MS,
    )
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    )
  })

  it('signs a PUT', () => {
    const headers = sign(
      {
        method: 'PUT',
        host,
        path: '/test%24file.text',
        query: '',
        headers: {
          date: 'Fri, 24 May 2013 00:00:00 GMT',
          'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        },
        payloadHash: sha256Hex('Welcome to Amazon S3.'),
      },
      credentials,
      NOW_MS,
    )
    expect(headers['authorization']).toMatch(
      /Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/,
    )
  })

  it('signs a query', () => {
    const query = canonicalQuery({ prefix: 'J', 'max-keys': '2' })
    expect(query).toBe('max-keys=2&prefix=J')
    const request = { method: 'GET', host, path: '/', query, headers: {} }
    const headers = sign({ ...request, payloadHash: EMPTY_PAYLOAD_HASH }, credentials, NOW_MS)
    expect(headers['authorization']).toMatch(
      /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/,
    )
  })
})

describe('compared with the SDK', async () => {
  // Comes with the SDK, and is used here only as a judge.
  const sdk = await import('@smithy/signature-v4').catch(() => undefined)

  it.skipIf(sdk === undefined)('signs every key, query and session alike', async () => {
    if (sdk === undefined) return
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    const odd = fc.constantFrom(
      'a b',
      '+',
      '%20',
      '%',
      '?',
      '#',
      "'",
      '"',
      '*',
      '(!)',
      '~',
      'é',
      '😀',
    )
    const segment = fc.oneof(text, odd).filter((name) => !/^\.{0,2}$|\/|\p{Surrogate}/u.test(name))
    const request = fc.record({
      key: fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/')),
      method: fc.constantFrom('GET', 'PUT', 'HEAD', 'DELETE'),
      query: fc.dictionary(fc.stringMatching(/^[a-zA-Z-]{1,10}$/), segment, { maxKeys: 3 }),
      sessionToken: fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{1,40}$/), { nil: undefined }),
      nowMs: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      body: fc.uint8Array({ maxLength: 100 }),
    })
    await fc.assert(
      fc.asyncProperty(request, async ({ key, method, query, sessionToken, nowMs, body }) => {
        const profile = {
          type: 's3',
          endpoint: 'http://h:9',
          region: REGION,
          pathStyle: true,
        } as const
        const { host, path } = openAddressBook(profile)({ bucket: 'lake', key })
        const keys = { ...credentials, ...(sessionToken === undefined ? {} : { sessionToken }) }
        const payloadHash = sha256Hex(body)
        const extra = { 'if-none-match': '*' }
        const ours = openSigner(REGION)(
          { method, host, path, query: canonicalQuery(query), headers: extra, payloadHash },
          keys,
          nowMs,
        )
        const signer = new sdk.SignatureV4({
          service: 's3',
          region: REGION,
          credentials: keys,
          sha256: Sha256,
          uriEscapePath: false,
        })
        const headers = { ...extra, host, 'x-amz-content-sha256': payloadHash }
        const theirs = await signer.sign(
          { method, protocol: 'http:', hostname: 'h', port: 9, path, query, headers, body },
          { signingDate: new Date(nowMs) },
        )
        expect(ours['authorization']).toBe(theirs.headers['authorization'])
      }),
      { numRuns: 300 },
    )
  })
})

/** What the SDK's signer wants of a hash. */
class Sha256 {
  #hash: ReturnType<typeof createHash> | ReturnType<typeof createHmac>
  readonly #secret: string | ArrayBuffer | ArrayBufferView | undefined
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret
    this.#hash = this.#open()
  }
  #open() {
    const secret = this.#secret
    if (secret === undefined) return createHash('sha256')
    return createHmac('sha256', typeof secret === 'string' ? secret : bytesOf(secret))
  }
  update(data: Uint8Array | string): void {
    this.#hash.update(data)
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
  reset(): void {
    this.#hash = this.#open()
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
}
