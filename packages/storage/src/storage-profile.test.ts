import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeS3Credentials,
  decodeStorageProfile,
  encodeS3Credentials,
  encodeStorageProfile,
  storeIdentity,
  StorageProfileError,
  type S3Credentials,
  type S3Profile,
  type StorageProfile,
} from './storage-profile.ts'

const decodeText = (text: string): StorageProfile => decodeStorageProfile(JSON.parse(text))

const host = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
const endpoint = fc
  .record({ host, port: fc.integer({ min: 1024, max: 65_535 }) })
  .map(({ host, port }) => `https://${host}.example:${port}`)
const role = fc.record(
  {
    roleArn: fc.constant('arn:aws:iam::123456789012:role/lake'),
    externalId: fc.stringMatching(/^[\w+=,.@:/-]{2,20}$/),
    stsEndpoint: endpoint,
  },
  { requiredKeys: ['roleArn'] },
)
const s3: fc.Arbitrary<S3Profile> = fc
  .tuple(
    fc.record({ region: fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/), pathStyle: fc.boolean() }),
    fc.option(endpoint, { nil: undefined }),
    fc.option(role, { nil: undefined }),
  )
  .map(([base, endpoint, assumed]) => ({
    type: 's3' as const,
    ...base,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...assumed,
  }))

describe('a storage profile', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.oneof(s3, fc.constant({ type: 'file' } as const)), (profile) => {
        expect(decodeText(encodeStorageProfile(profile))).toEqual(profile)
      }),
    )
  })

  it('reads the members that an operator writes', () => {
    const json = {
      type: 's3',
      endpoint: 'http://127.0.0.1:8333/',
      region: 'us-east-1',
      'path-style': false,
      'role-arn': 'arn:aws:iam::1:role/x',
      'external-id': 'acme',
      'sts-endpoint': 'https://sts.example',
    }
    expect(decodeStorageProfile(json)).toEqual({
      type: 's3',
      endpoint: 'http://127.0.0.1:8333',
      region: 'us-east-1',
      pathStyle: false,
      roleArn: 'arn:aws:iam::1:role/x',
      externalId: 'acme',
      stsEndpoint: 'https://sts.example',
    })
  })

  it.each([
    [{ endpoint: 'http://h' }, true],
    [{}, false],
    [{ endpoint: 'http://h', 'path-style': false }, false],
    [{ 'path-style': true }, true],
  ])('puts the bucket into the path of %j: %s', (members, pathStyle) => {
    const profile = decodeStorageProfile({ type: 's3', region: 'x', ...members })
    expect(profile).toMatchObject({ pathStyle })
  })

  it.each<[string, unknown, string]>([
    ['no object', 'file', 'storage: expected an object, found string'],
    ['a list', [], 'storage: expected an object, found a list'],
    ['null', null, 'storage: expected an object, found null'],
    ['no type', {}, 'storage.type: expected "file" or "s3", found nothing'],
    ['another type', { type: 'gcs' }, 'storage.type: expected "file" or "s3", found "gcs"'],
    ['no region', { type: 's3' }, 'storage.region: expected text, found nothing'],
    [
      'an empty region',
      { type: 's3', region: '' },
      'storage.region: expected text, found an empty one',
    ],
    ['a number', { type: 's3', region: 7n }, 'storage.region: expected text, found a number'],
    [
      'an odd region',
      { type: 's3', region: 'eu/../x' },
      'storage.region: expected the name of a region, such as eu-central-1, found "eu/../x"',
    ],
    [
      'a text for a switch',
      { type: 's3', region: 'x', 'path-style': 'true' },
      'storage.path-style: expected true or false, found "true"',
    ],
    [
      'a misspelt member',
      { type: 'file', path_style: true },
      'storage: expected type, found the member "path_style"',
    ],
    [
      'a role that is none',
      { type: 's3', region: 'x', 'role-arn': 'lake' },
      'storage.role-arn: expected the ARN of a role, such as arn:aws:iam::123456789012:role/lake, found "lake"',
    ],
    [
      'an external id without a role',
      { type: 's3', region: 'x', 'external-id': 'acme' },
      'storage.external-id: expected only beside role-arn or client-role-arn',
    ],
    [
      'a role for clients that is none',
      { type: 's3', region: 'x', 'client-role-arn': 'lake' },
      'storage.client-role-arn: expected the ARN of a role, such as arn:aws:iam::123456789012:role/lake, found "lake"',
    ],
  ])('is refused when it is %s, and the message says where', (_, json, message) => {
    const error = errorOf(() => decodeStorageProfile(json))
    expect(error).toBeInstanceOf(StorageProfileError)
    expect(error.message).toBe(message)
  })

  it.each([
    'ftp://h',
    'h:9000',
    'https://',
    'http://user:hunter2@h',
    'http://h/hunter2',
    'http://h?key=hunter2',
    'http://h#hunter2',
    'http://h h',
    'http://@h',
    'http://h/?',
  ])('refuses the endpoint %s without repeating it (B201)', (endpoint) => {
    const error = errorOf(() => decodeStorageProfile({ type: 's3', region: 'x', endpoint }))
    expect(error.message).toMatch(/^storage\.endpoint: expected http/)
    expect(error.message).not.toContain('hunter2')
  })
})

describe('the identity of a store', () => {
  const at = (endpoint?: string): string =>
    storeIdentity(decodeStorageProfile({ type: 's3', region: 'x', ...(endpoint && { endpoint }) }))

  it.each([
    ['http://localhost:9000', 'https://127.0.0.1:9000'],
    ['http://localhost:9000', 'http://[::1]:9000'],
    ['https://MinIO.example', 'https://minio.example:443'],
    ['http://minio.example', 'http://minio.example:80'],
    ['https://s3.eu-central-1.amazonaws.com', undefined],
  ])('is the same for %s and %s', (one, other) => {
    expect(at(one)).toBe(at(other))
  })

  it.each([
    ['http://localhost:9000', 'http://localhost:9001'],
    ['http://a.example', 'http://b.example'],
    ['https://s3.amazonaws.com.evil.example', undefined],
    ['https://notamazonaws.com', undefined],
  ])('differs for %s and %s', (one, other) => {
    expect(at(one)).not.toBe(at(other))
  })

  it('of this machine is no bucket', () => {
    expect(storeIdentity({ type: 'file' })).toBe('file')
  })
})

describe('S3 credentials', () => {
  const text = fc.stringMatching(/^[!-~]{1,40}$/)
  const credentials: fc.Arbitrary<S3Credentials> = fc.record(
    { accessKeyId: text, secretAccessKey: text, sessionToken: text },
    { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
  )

  it('come back as they were written', () => {
    fc.assert(
      fc.property(credentials, (each) => {
        expect(decodeS3Credentials(JSON.parse(encodeS3Credentials(each)))).toEqual(each)
      }),
    )
  })

  it('may have a session token of several kilobytes', () => {
    const json = {
      'access-key-id': 'a',
      'secret-access-key': 'b',
      'session-token': 'x'.repeat(9_000),
    }
    expect(decodeS3Credentials(json).sessionToken).toHaveLength(9_000)
  })

  it.each<[string, unknown, string]>([
    ['null', null, 'credentials: expected an object, found null'],
    [
      'no secret',
      { 'access-key-id': 'AK' },
      'credentials.secret-access-key: expected text, found nothing',
    ],
    [
      'a number',
      { 'access-key-id': 'AK', 'secret-access-key': 5 },
      'credentials.secret-access-key: expected text, found a number',
    ],
    [
      'a space',
      { 'access-key-id': 'AK', 'secret-access-key': 'hunter2 ' },
      'credentials.secret-access-key: expected text without spaces or control characters, found another text',
    ],
    [
      'a misspelt member',
      { 'access-key-id': 'AK', secret: 'hunter2' },
      'credentials: expected access-key-id, secret-access-key, session-token, found the member "secret"',
    ],
  ])('are refused when they are %s, and the message holds no value (B201)', (_, json, message) => {
    const error = errorOf(() => decodeS3Credentials(json))
    expect(error).toBeInstanceOf(StorageProfileError)
    expect(error.message).toBe(message)
  })
})

function errorOf(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('expected an error')
}
