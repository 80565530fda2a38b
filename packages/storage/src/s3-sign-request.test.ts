import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AccessScope,
  type ClientRequest,
  MalformedRequestError,
  RequestRefusedError,
} from './access-broker.ts'
import { checkClientRequest } from './s3-sign-request.ts'
import { EMPTY_PAYLOAD_HASH, sha256Hex } from './s3-signer.ts'
import type { S3Profile } from './storage-profile.ts'

const profile: S3Profile = {
  type: 's3',
  endpoint: 'http://s3.example:9000',
  region: 'x',
  pathStyle: true,
}
const BASE = 'http://s3.example:9000'
const writer: AccessScope = {
  prefixes: ['s3://lake/w/orders', 's3://data/w/orders'],
  access: 'write',
}
const reader: AccessScope = { ...writer, access: 'read' }

interface Case extends Partial<Omit<ClientRequest, 'headers'>> {
  readonly headers?: Readonly<Record<string, string>>
}

function check(
  method: string,
  target: string,
  { headers = {}, ...rest }: Case = {},
  scope = writer,
) {
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
  return checkClientRequest(
    { method, uri: `${BASE}${target}`, headers: lists, ...rest },
    scope,
    profile,
  )
}

const batch = (...keys: string[]): string =>
  `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`
const copyOf = (source: string): Case => ({ headers: { 'x-amz-copy-source': source } })
const OBJECT = '/lake/w/orders/data/x'

const READS: readonly (readonly [string, string, string])[] = [
  ['get-object', 'GET', OBJECT],
  ['get-object', 'GET', `${OBJECT}?x-id=GetObject`],
  ['get-object', 'GET', `${OBJECT}?partNumber=1`],
  ['get-object', 'GET', '/data/w/orders/x'],
  ['head-object', 'HEAD', OBJECT],
  [
    'list-objects',
    'GET',
    '/lake?list-type=2&prefix=w%2Forders%2F&delimiter=%2F&max-keys=5&encoding-type=url',
  ],
  [
    'list-objects',
    'GET',
    '/lake/?list-type=2&prefix=w/orders/data&start-after=w/orders/data/x&fetch-owner=false',
  ],
  ['list-objects', 'GET', '/lake?prefix=w%2Forders%2F&marker='],
  ['list-objects', 'GET', '/lake?list-type=2&prefix=w%2Forders%2F&continuation-token=abc%3D'],
]

const WRITES: [string, string, string, Case?][] = [
  ['put-object', 'PUT', OBJECT],
  ['put-part', 'PUT', `${OBJECT}?partNumber=1&uploadId=u`],
  ['create-upload', 'POST', `${OBJECT}?uploads`],
  ['create-upload', 'POST', `${OBJECT}?uploads=&x-id=CreateMultipartUpload`],
  ['complete-upload', 'POST', `${OBJECT}?uploadId=u`],
  ['abort-upload', 'DELETE', `${OBJECT}?uploadId=u`],
  ['list-parts', 'GET', `${OBJECT}?uploadId=u&max-parts=10`],
  ['delete-object', 'DELETE', OBJECT],
  ['delete-objects', 'POST', '/lake?delete', { body: batch('w/orders/a', 'w/orders/b/c') }],
  ['copy-object', 'PUT', OBJECT, copyOf('/lake/w/orders/y')],
  ['copy-object', 'PUT', OBJECT, copyOf('data/w/orders/y%20z')],
  ['copy-part', 'PUT', `${OBJECT}?partNumber=1&uploadId=u`, copyOf('lake/w/orders/y')],
]

describe('checkClientRequest', () => {
  it.each(READS)('lets readers and writers %s by %s %s', (name, method, target) => {
    expect(check(method, target, {}, reader).operation.name).toBe(name)
    expect(check(method, target, {}, writer).operation.name).toBe(name)
  })

  it.each(WRITES)('lets writers alone %s by %s %s', (name, method, target, more = {}) => {
    expect(check(method, target, more, writer).operation.name).toBe(name)
    expect(() => check(method, target, more, reader)).toThrow(RequestRefusedError)
  })

  it.each<[string, string, Case?]>([
    ['GET', '/lake/w/orders2/x'],
    ['GET', '/lake/w/orders'],
    ['GET', '/lake/w/order'],
    ['GET', '/lake/w/'],
    ['GET', '/lake/W/orders/x'],
    ['GET', '/other/w/orders/x'],
    ['GET', '/lake/w/%6Frders2/x'],
    ['HEAD', '/lake/w/orders-old/x'],
    ['PUT', '/lake/w/orders2/x'],
    ['DELETE', '/lake/w/orders2/x'],
    ['POST', '/lake/w/orders2/x?uploads'],
    ['DELETE', '/lake/w/orders2/x?uploadId=u'],
    ['PUT', '/lake/w/orders2/x?partNumber=1&uploadId=u'],
    ['GET', '/lake?list-type=2&prefix=w%2Forders2%2F'],
    ['GET', '/lake?list-type=2&prefix=w%2Forders'],
    ['GET', '/lake?list-type=2&prefix=w%2F'],
    ['GET', '/lake?list-type=2&prefix='],
    ['GET', '/lake?list-type=2&prefix=w%2Forders%2F&start-after=w%2Fp'],
    ['GET', '/lake?prefix=w%2Forders%2F&marker=w%2Fp'],
    ['POST', '/lake?delete', { body: batch('w/orders/a', 'w/orders2/a') }],
    ['POST', '/lake?delete', { body: batch('w/orders') }],
    ['POST', '/other?delete', { body: batch('w/orders/a') }],
    ['PUT', OBJECT, copyOf('/lake/w/orders2/y')],
    ['PUT', OBJECT, copyOf('other/w/orders/y')],
    ['PUT', `${OBJECT}?partNumber=1&uploadId=u`, copyOf('lake/w/orders2/y')],
    ['PUT', '/lake/w/orders2/x', copyOf('lake/w/orders/y')],
  ])('refuses %s %s %j, which reaches outside the scope (B198)', (method, target, more = {}) => {
    expect(() => check(method, target, more)).toThrow(RequestRefusedError)
  })

  it.each([
    ['GET', '/lake'],
    ['HEAD', '/lake'],
    ['PUT', '/lake'],
    ['DELETE', '/lake'],
    ['GET', '/lake?list-type=2'],
    ['GET', '/lake?location'],
    ['GET', '/lake?uploads&prefix=w%2Forders%2F'],
    ['GET', '/lake?versions&prefix=w%2Forders%2F'],
    ['GET', '/lake?policy&prefix=w%2Forders%2F'],
    ['PUT', '/lake?policy'],
    ['PUT', '/lake?acl'],
    ['PUT', '/lake?lifecycle'],
    ['GET', `${OBJECT}?acl`],
    ['PUT', `${OBJECT}?acl`],
    ['GET', `${OBJECT}?tagging`],
    ['PUT', `${OBJECT}?tagging`],
    ['PUT', `${OBJECT}?retention`],
    ['PUT', `${OBJECT}?legal-hold`],
    ['GET', `${OBJECT}?versionId=1`],
    ['DELETE', `${OBJECT}?versionId=1`],
    ['GET', `${OBJECT}?torrent`],
    ['GET', `${OBJECT}?attributes`],
    ['POST', `${OBJECT}?select&select-type=2`],
    ['POST', `${OBJECT}?restore`],
    ['POST', `${OBJECT}?delete`],
    ['POST', OBJECT],
    ['POST', '/lake'],
    ['PUT', `${OBJECT}?partNumber=1`],
    ['PUT', `${OBJECT}?uploadId=u`],
    ['PUT', `${OBJECT}?X-Amz-Expires=999999`],
    ['GET', `${OBJECT}?X-Amz-Algorithm=AWS4-HMAC-SHA256`],
    ['GET', `${OBJECT}?response-content-type=text%2Fhtml`],
    ['PATCH', OBJECT],
    ['OPTIONS', OBJECT],
    ['get', OBJECT],
    ['TRACE', OBJECT],
    ['', OBJECT],
    ['GET\r\nx: y', OBJECT],
  ])('refuses %j %s, which no table has need of', (method, target) => {
    expect(() => check(method, target)).toThrow(RequestRefusedError)
  })

  it.each<[string, string, Case]>([
    ['POST', '/lake?delete', { body: '<Delete/>' }],
    ['POST', '/lake?delete', { body: batch('w/orders/../orders2/x') }],
    ['POST', '/lake?delete', { body: batch('w/orders/%2e%2e/orders2/x') }],
    ['POST', '/lake?delete', { body: batch('w/orders//x') }],
    ['POST', '/lake?delete', { body: batch('w/orders\\..\\x') }],
    ['GET', '/lake?list-type=2&prefix=w%2Forders%2F..%2Forders2%2F', {}],
    ['GET', '/lake?list-type=2&prefix=w%2Forders%2F%252e%252e%2Forders2%2F', {}],
    ['GET', OBJECT, copyOf('lake/w/orders/y')],
    ['DELETE', OBJECT, copyOf('lake/w/orders/y')],
    ['POST', `${OBJECT}?uploads`, copyOf('lake/w/orders/y')],
    ['PUT', OBJECT, copyOf('')],
    ['PUT', OBJECT, copyOf('lake')],
    ['PUT', OBJECT, copyOf('//lake/w/orders/y')],
    ['PUT', OBJECT, copyOf('lake/w/orders/y?versionId=1')],
    ['PUT', OBJECT, copyOf('lake/w/orders/../orders2/y')],
    ['PUT', OBJECT, copyOf('lake/w/orders/%2e%2e/orders2/y')],
    ['PUT', OBJECT, copyOf('lake/w/orders%2Fy')],
    ['PUT', OBJECT, copyOf('lake%2Fw%2Forders%2Fy')],
    ['PUT', OBJECT, copyOf('lake/w/orders/a+b')],
    ['PUT', OBJECT, copyOf('lake/w/orders/y,other/w/x')],
    ['PUT', OBJECT, copyOf('arn:aws:s3:::lake/w/orders/y')],
    ['GET', OBJECT, { headers: { Host: 'evil.example' } }],
    ['GET', OBJECT, { headers: { Host: 's3.example:9001' } }],
    ['GET', OBJECT, { headers: { 'x-amz-meta-a': 'b\r\nx-amz-acl: public-read' } }],
    ['GET', OBJECT, { headers: { 'x-amz-meta a': 'b' } }],
    [
      'PUT',
      OBJECT,
      { headers: { 'x-amz-copy-source': 'lake/w/orders/y', 'X-Amz-Copy-Source': 'b' } },
    ],
    ['PUT', OBJECT, { headers: { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' } }],
  ])('refuses %s %s %j, which could be read in two ways', (method, target, more) => {
    expect(() => check(method, target, more)).toThrow(MalformedRequestError)
  })

  it.each([
    'x-amz-acl',
    'x-amz-grant-read',
    'x-amz-grant-full-control',
    'x-amz-tagging',
    'x-amz-tagging-directive',
    'x-amz-object-lock-mode',
    'x-amz-bypass-governance-retention',
    'x-amz-website-redirect-location',
    'x-amz-mfa',
    'x-amz-what-comes-next',
  ])('refuses the header %s', (name) => {
    expect(() => check('PUT', OBJECT, { headers: { [name]: 'x' } })).toThrow(RequestRefusedError)
  })

  it.each([
    ['x-amz-te', 'append-md5'],
    ['x-amz-user-agent', 'aws-sdk-js/3'],
    ['x-amz-checksum-mode', 'ENABLED'],
    ['x-amz-checksum-crc32', 'NhCmhg=='],
    ['x-amz-sdk-checksum-algorithm', 'CRC32'],
  ])('signs the header %s, which SDKs send by themselves', (name, value) => {
    const { signable } = check('GET', OBJECT, { headers: { [name]: value } })
    expect(signable.headers).toEqual({ [name]: value })
  })

  it.each([
    ['s3.sse.type=s3', { 'x-amz-server-side-encryption': 'AES256' }],
    [
      's3.sse.type=kms',
      {
        'x-amz-server-side-encryption': 'aws:kms',
        'x-amz-server-side-encryption-aws-kms-key-id': 'arn:aws:kms:eu-west-1:1:key/k',
      },
    ],
    [
      's3.sse.type=custom',
      {
        'x-amz-server-side-encryption-customer-algorithm': 'AES256',
        'x-amz-server-side-encryption-customer-key': 'a2V5',
        'x-amz-server-side-encryption-customer-key-md5': 'bWQ1',
      },
    ],
  ])('signs what clients with %s ask the store to encrypt with', (_, headers) => {
    expect(check('PUT', OBJECT, { headers }).signable.headers).toEqual(headers)
  })

  it('signs no change of tags, access lists or encryption beside a write', () => {
    for (const parameter of ['tagging', 'acl', 'encryption', 'retention', 'legal-hold']) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const asked = () => check(method, `${OBJECT}?${parameter}`)
        expect(asked, `${method} ${parameter}`).toThrow(RequestRefusedError)
      }
    }
  })

  it('signs what S3 wants signed, and leaves alone what changes on the way', () => {
    const headers = {
      Host: 's3.example:9000',
      'Content-Type': 'application/octet-stream',
      'Content-MD5': 'md5',
      'x-amz-meta-a': '  b   c ',
      'x-amz-date': 'theirs',
      'X-Amz-Security-Token': 'theirs',
      Authorization: 'theirs',
      Range: 'bytes=0-9',
      'If-None-Match': '*',
      'User-Agent': 'x',
      'amz-sdk-invocation-id': 'x',
      'Content-Length': '5',
    }
    expect(check('PUT', OBJECT, { headers }).signable).toEqual({
      method: 'PUT',
      host: 's3.example:9000',
      path: OBJECT,
      query: '',
      headers: {
        'content-type': 'application/octet-stream',
        'content-md5': 'md5',
        'x-amz-meta-a': 'b c',
      },
      payloadHash: 'UNSIGNED-PAYLOAD',
    })
  })

  it('signs the hash of the body that names what is deleted, whatever the client says of it', () => {
    const body = batch('w/orders/a')
    const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
    expect(check('POST', '/lake?delete', { body, headers }).signable.payloadHash).toBe(
      sha256Hex(body),
    )
  })

  it('marks a batch that does not show what it deletes, and refuses it to readers and elsewhere', () => {
    const { operation, signable } = check('POST', '/lake?delete')
    expect(operation).toMatchObject({ name: 'delete-objects', hiddenIn: 'lake' })
    expect(signable.payloadHash).toBe('UNSIGNED-PAYLOAD')
    expect(() => check('POST', '/lake?delete', {}, reader)).toThrow(RequestRefusedError)
    expect(() => check('POST', '/other?delete')).toThrow(RequestRefusedError)
  })

  it('signs the hash that the client gives of other bodies, or that of none', () => {
    const hash = sha256Hex('x')
    const asked = (value: string): Case => ({ headers: { 'x-amz-content-sha256': value } })
    expect(check('PUT', OBJECT, asked(hash)).signable.payloadHash).toBe(hash)
    const trailer = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
    expect(check('PUT', OBJECT, asked(trailer)).signable.payloadHash).toBe(trailer)
    expect(check('GET', OBJECT, asked('required')).signable.payloadHash).toBe(EMPTY_PAYLOAD_HASH)
    expect(check('PUT', OBJECT, asked('required')).signable.payloadHash).toBe('UNSIGNED-PAYLOAD')
  })

  it('signs nothing for a scope of nothing, or of a whole bucket', () => {
    for (const prefixes of [[], ['s3://lake'], ['s3://lake/']]) {
      const scope = { prefixes, access: 'write' } as const
      expect(() => check('GET', OBJECT, {}, scope)).toThrow(RequestRefusedError)
    }
  })

  it('compares names with * ? [ ] and quotes as they are', () => {
    const prefixes = ['s3://lake/w/*', 's3://lake/w/a?c', 's3://lake/w/[ab]', `s3://lake/w/o'r"d`]
    const scope = { prefixes, access: 'write' } as const
    for (const segment of ['*', 'a?c', '[ab]', `o'r"d`]) {
      const target = `/lake/w/${encodeURIComponent(segment)}/x`
      expect(check('GET', target, {}, scope).operation.name).toBe('get-object')
    }
    for (const segment of ['orders', 'abc', 'a', 'ord']) {
      expect(() => check('GET', `/lake/w/${segment}/x`, {}, scope)).toThrow(RequestRefusedError)
    }
  })
})

describe('whatever is signed', () => {
  /** How servers are known to read a path: as it is, decoded again, with dots, slashes and back slashes resolved. */
  function readingsOf(target: string): string[] {
    const readings = [target]
    for (let layer = 0; layer < 4; layer += 1) {
      const last = readings.at(-1) ?? ''
      readings.push(
        last.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
          String.fromCharCode(Number.parseInt(hex, 16)),
        ),
      )
    }
    return readings
      .flatMap((text) => [text, text.replaceAll('\\', '/')])
      .map((text) => {
        const kept: string[] = []
        for (const segment of text.split('/')) {
          if (segment === '..') kept.pop()
          else if (segment !== '.' && segment !== '') kept.push(segment)
        }
        return `/${kept.join('/')}`
      })
  }

  const piece = fc.constantFrom(
    ...['/', '//', '..', '.', '%2e', '%2E%2e', '%2f', '%5C', '\\', '%252e', '%252f', '%25', '%00'],
    ...[
      'w',
      'orders',
      'orders2',
      'lake',
      'x',
      '%6Frders',
      '%20',
      '*',
      '?',
      '#',
      ';',
      '+',
      '@',
      ':',
    ],
  )

  it('lies below the scope in every reading of it', () => {
    let signedCount = 0
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), fc.boolean(), (pieces, isBelow) => {
        const target = `${isBelow ? '/lake/w/orders/' : '/'}${pieces.join('')}`
        try {
          check('GET', target)
        } catch (error) {
          return error instanceof RequestRefusedError || error instanceof MalformedRequestError
        }
        signedCount += 1
        return readingsOf(target).every((reading) => `${reading}/`.startsWith('/lake/w/orders/'))
      }),
      { numRuns: 5_000 },
    )
    expect(signedCount).toBeGreaterThan(100)
  })

  it('copies from below the scope, and deletes there, in every reading', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = `w/orders/${pieces.join('')}`
        const isInside = (target: string): boolean =>
          readingsOf(target).every((reading) => `${reading}/`.startsWith('/lake/w/orders/'))
        const attempts = [
          () => check('PUT', OBJECT, copyOf(`/lake/${text}`)),
          () => check('POST', '/lake?delete', { body: batch(text) }),
        ]
        return attempts.every((attempt) => {
          try {
            attempt()
          } catch (error) {
            return error instanceof RequestRefusedError || error instanceof MalformedRequestError
          }
          return isInside(`/lake/${text}`)
        })
      }),
      { numRuns: 2_000 },
    )
  })
})
