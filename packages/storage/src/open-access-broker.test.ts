import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { openTestS3Store, type TestS3Store } from '@timelake/testing/open-test-s3'
import { testServices } from '@timelake/testing/test-services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type AccessBroker,
  type AccessScope,
  type ClientRequest,
  MalformedRequestError,
  RequestRefusedError,
  type SignedRequest,
  UnvendableScopeError,
} from './access-broker.ts'
import { StoreUnavailableError } from './object-store.ts'
import { openAccessBroker } from './open-access-broker.ts'
import { encodeStrictly, openAddressBook } from './s3-address.ts'
import { fixedCredentials } from './s3-credential-source.ts'
import type { SessionCredentials } from './session-credentials.ts'
import { canonicalQuery, openSigner, sha256Hex } from './s3-signer.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'

const HOUR_MS = 3_600_000
const asked = { sessionName: 'ann', durationMs: HOUR_MS }

function openBroker(profile: S3Profile, credentials: S3Credentials | undefined) {
  const source = fixedCredentials(credentials ?? { accessKeyId: 'own', secretAccessKey: 'own' })
  return openAccessBroker({ profile, credentials, source, nowMs: Date.now })
}

const batchOf = (...keys: string[]): string =>
  `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`

interface Sent {
  readonly status: number
  readonly text: string
}

/** Sends what a client would send after it got the signature; `changes` is what a dishonest one changes. */
async function sendSigned(
  broker: AccessBroker,
  scope: AccessScope,
  ask: Partial<ClientRequest> & {
    uri: string
    changes?: { body?: string; headers?: Record<string, string> }
  },
): Promise<Sent> {
  const { changes = {}, method = 'GET', headers: given = {}, uri, body } = ask
  const signed = await broker.sign(
    { method, uri, headers: given, ...(body === undefined ? {} : { body }) },
    scope,
  )
  const { host: _, ...rest } = signed.headers
  const headers = Object.fromEntries(
    Object.entries(rest).map(([name, values]) => [name, values.join(',')]),
  )
  const sentBody = changes.body ?? body
  const answer = await fetch(signed.uri, {
    method,
    headers: { ...headers, ...changes.headers },
    ...(sentBody === undefined ? {} : { body: sentBody }),
  })
  return { status: answer.status, text: await answer.text() }
}

describe('a broker of a store that checks what it should', () => {
  let double: S3Double
  let profile: S3Profile
  let keys: S3Credentials
  const scope: AccessScope = { prefixes: ['s3://lake/w/orders'], access: 'write' }
  const uriOf = (path: string): string => `${double.endpoint}/lake${path}`

  beforeAll(async () => {
    double = await openS3Double()
    const { endpoint, region, accessKeyId, secretAccessKey } = double
    profile = { type: 's3', endpoint, region, pathStyle: true }
    keys = { accessKeyId, secretAccessKey }
  })
  beforeEach(() => {
    double.setObject('w/orders/x', Buffer.from('mine'))
    double.setObject('w/orders2/x', Buffer.from('theirs'))
    double.forgetRequests()
  })
  afterAll(() => double.close())

  it('signs so that the store accepts, without a role', async () => {
    const broker = openBroker(profile, keys)
    const read = await sendSigned(broker, scope, { uri: uriOf('/w/orders/x') })
    expect(read).toEqual({ status: 200, text: 'mine' })
    const uri = uriOf("/w/orders/day%3D1/a%20b%2B'%C3%BC")
    expect(await sendSigned(broker, scope, { method: 'PUT', uri, body: 'new' })).toMatchObject({
      status: 200,
    })
    expect(double.objects().get("w/orders/day=1/a b+'ü")?.toString()).toBe('new')
    const list = uriOf('?list-type=2&prefix=w%2Forders%2Fday')
    expect((await sendSigned(broker, scope, { uri: list })).text).toContain('day=1/a b+')
    const batch = { method: 'POST', uri: uriOf('?delete'), body: batchOf('w/orders/x') }
    expect(await sendSigned(broker, scope, batch)).toMatchObject({ status: 200 })
    expect(double.objects().has('w/orders/x')).toBe(false)
    broker.close()
  })

  it('sends nothing for a read, and tries what the store checks once for writes', async () => {
    const broker = openBroker(profile, keys)
    await broker.sign({ method: 'GET', uri: uriOf('/w/orders/x'), headers: {} }, scope)
    expect(double.requests()).toHaveLength(0)
    const put = { method: 'PUT', uri: uriOf('/w/orders/y'), headers: {} }
    await broker.sign(put, scope)
    await broker.sign(put, scope)
    expect(double.requests()).toHaveLength(2)
    expect([...double.objects().keys()].filter((key) => key.includes('timelake-'))).toEqual([])
    broker.close()
  })

  it('gives signatures that hold for nothing else', async () => {
    const broker = openBroker(profile, keys)
    const added = { headers: { 'x-amz-copy-source': '/lake/w/orders2/x' } }
    const put = { method: 'PUT', uri: uriOf('/w/orders/stolen'), body: '', changes: added }
    expect((await sendSigned(broker, scope, put)).status).toBe(403)
    const other = { body: batchOf('w/orders2/x') }
    const batch = {
      method: 'POST',
      uri: uriOf('?delete'),
      body: batchOf('w/orders/x'),
      changes: other,
    }
    expect((await sendSigned(broker, scope, batch)).status).toBe(400)
    expect(double.objects().has('w/orders2/x')).toBe(true)
    broker.close()
  })

  it('answers the URI as it came, every header of the signature, and whether it may be used again', async () => {
    const broker = openBroker(profile, { ...keys, sessionToken: 'token' })
    const uri = uriOf("/w/orders/day=1/it's")
    const signed = await broker.sign(
      { method: 'HEAD', uri, headers: { 'X-Amz-Meta-A': ['b'] } },
      scope,
    )
    expect(signed).toMatchObject({ uri, isReusable: true })
    const [authorization = ''] = signed.headers['authorization'] ?? []
    const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []
    expect(names).toEqual([
      'host',
      'x-amz-content-sha256',
      'x-amz-date',
      'x-amz-meta-a',
      'x-amz-security-token',
    ])
    for (const name of names) expect(signed.headers).toHaveProperty(name)
    expect(JSON.stringify(signed)).not.toContain(keys.secretAccessKey)
    const removal = await broker.sign({ method: 'DELETE', uri, headers: {} }, scope)
    expect(removal.isReusable).toBe(false)
    broker.close()
  })

  it('I53: refuses what is outside before anything is sent (B198)', async () => {
    const broker = openBroker(
      { ...profile, roleArn: double.roleArn, stsEndpoint: double.endpoint },
      keys,
    )
    for (const uri of [
      uriOf('/w/orders2/x'),
      'http://evil.example/lake/w/orders/x',
      uriOf('?acl'),
    ]) {
      const answer = broker.sign({ method: 'GET', uri, headers: {} }, scope)
      await expect(answer).rejects.toThrow(RequestRefusedError)
    }
    expect(double.requests()).toHaveLength(0)
    broker.close()
  })

  it('signs with the session of the scope where there is a role', async () => {
    const broker = openBroker(
      { ...profile, roleArn: double.roleArn, stsEndpoint: double.endpoint },
      keys,
    )
    expect(await sendSigned(broker, scope, { uri: uriOf('/w/orders/x') })).toMatchObject({
      status: 200,
    })
    const signed = await broker.sign(
      { method: 'GET', uri: uriOf('/w/orders/x'), headers: {} },
      scope,
    )
    expect(signed.headers['x-amz-security-token']).toHaveLength(1)
    expect(signed.headers['authorization']?.[0]).not.toContain(keys.accessKeyId)
    broker.close()
  })

  it('signs with the keys for a scope that no session can be held to', async () => {
    const broker = openBroker(
      { ...profile, roleArn: double.roleArn, stsEndpoint: double.endpoint },
      keys,
    )
    double.setObject('w/*/x', Buffer.from('star'))
    const star: AccessScope = { prefixes: ['s3://lake/w/*'], access: 'read' }
    await expect(broker.vend(star, asked)).rejects.toMatchObject({ reason: 'wildcard' })
    const read = await sendSigned(broker, star, { uri: uriOf('/w/%2A/x') })
    expect(read).toEqual({ status: 200, text: 'star' })
    broker.close()
  })

  it('hands out neither sessions without a role nor keys that are not the warehouse’s', async () => {
    const broker = openBroker(profile, keys)
    expect(broker).toMatchObject({ canVend: false, hasKeys: true })
    await expect(broker.vend(scope, asked)).rejects.toThrow(UnvendableScopeError)
    expect(await broker.keys()).toEqual(keys)
    const own = openBroker(profile, undefined)
    expect(own).toMatchObject({ canVend: false, hasKeys: false })
    await expect(own.keys()).rejects.toMatchObject({ reason: 'no-keys' })
    broker.close()
    own.close()
  })

  it('signs no batch that does not show what it deletes, without a role', async () => {
    const broker = openBroker(profile, keys)
    const hidden = { method: 'POST', uri: uriOf('?delete'), headers: {} }
    await expect(broker.sign(hidden, scope)).rejects.toThrow(MalformedRequestError)
    broker.close()
  })

  it('gives access to nothing outside the places of the warehouse', async () => {
    const role = { roleArn: double.roleArn, stsEndpoint: double.endpoint }
    const source = fixedCredentials(keys)
    const roots = ['s3://lake/w', 's3://more']
    const options = { profile: { ...profile, ...role }, credentials: keys, source, roots }
    const broker = openAccessBroker({ ...options, nowMs: Date.now })
    for (const prefix of [
      's3://lake/w2/t',
      's3://lake',
      's3://lake/v',
      's3://other/w/t',
      's3://lake/w/../v',
    ]) {
      const outside = { prefixes: ['s3://lake/w/orders', prefix], access: 'read' } as const
      const answer = broker.vend(outside, asked)
      await expect(answer).rejects.toMatchObject({ reason: 'outside-warehouse' })
      const request = { method: 'GET', uri: uriOf('/w/orders/x'), headers: {} }
      await expect(broker.sign(request, outside)).rejects.toThrow(RequestRefusedError)
    }
    expect(double.requests()).toHaveLength(0)
    const inside = { prefixes: ['s3a://lake/w/orders', 's3://more/t'], access: 'read' } as const
    expect(await broker.vend(inside, asked)).toHaveProperty('sessionToken')
    broker.close()
  })

  it('says that the store is unavailable when it cannot be asked, and asks again', async () => {
    const broker = openBroker(profile, keys)
    const put = { method: 'PUT', uri: uriOf('/w/orders/y'), headers: {} }
    double.setFault({ kind: 'status', status: 503, code: 'SlowDown' })
    await expect(broker.sign(put, scope)).rejects.toThrow(StoreUnavailableError)
    double.setFault(undefined)
    expect((await broker.sign(put, scope)).isReusable).toBe(false)
    broker.close()
  })
})

const hasSessions = testServices().s3?.roleArn !== undefined

describe.skipIf(!hasSessions)(
  'on a real server with STS (needs the S3 variables of test-services.ts)',
  () => {
    let place: TestS3Store
    let profile: S3Profile
    let broker: ReturnType<typeof openBroker>
    let tables: string
    let bucket: string
    const call = openCaller()

    beforeAll(async () => {
      const opened = openTestS3Store()
      const { s3 } = testServices()
      if (opened === undefined || s3?.roleArn === undefined) throw new Error('the server went away')
      place = opened
      profile = { ...place.profile, roleArn: s3.roleArn, stsEndpoint: s3.endpoint }
      broker = openBroker(profile, place.credentials)
      bucket = s3.bucket
      tables = place.location.slice(`s3://${bucket}/`.length)
      const names = [
        'orders/x',
        'orders2/x',
        'orders-old',
        'other/x',
        'o\'r&d "[ab]/x',
        'a/x',
        'b/x',
        'ord/x',
      ]
      for (const name of names)
        await place.store.putIfAbsent(`${place.location}/${name}`, Buffer.from(name))
    })
    afterAll(async () => {
      broker.close()
      await place.remove()
    })

    const scopeOf = (access: 'read' | 'write', ...names: string[]): AccessScope => ({
      prefixes: names.map((name) => `${place.location}/${name}`),
      access,
    })
    const keyOf = (name: string): string => `${tables}/${name}`
    const contentOf = async (name: string): Promise<string | undefined> => {
      const location = `${place.location}/${name}`
      if ((await place.store.stat(location)) === undefined) return undefined
      return Buffer.from(await place.store.get(location)).toString()
    }
    /** Status of a request with a session of its own signature: what a client with vended credentials does. */
    const reach = (
      credentials: SessionCredentials,
      request: Omit<Call, 'bucket'>,
    ): Promise<number> => call(profile, credentials, { bucket, ...request })

    it('vends a session that does all that a writer does in its table', async () => {
      const session = await broker.vend(scopeOf('write', 'orders'), asked)
      expect(session.expiresAtMs).toBeGreaterThan(Date.now() + HOUR_MS / 2)
      const put = { method: 'PUT', key: keyOf('orders/new y'), body: '1' }
      expect(await reach(session, put)).toBe(200)
      expect(await reach(session, { method: 'GET', key: put.key })).toBe(200)
      expect(
        await reach(session, {
          method: 'GET',
          query: { 'list-type': '2', prefix: keyOf('orders/') },
        }),
      ).toBe(200)
      const copy = { 'x-amz-copy-source': `/${bucket}/${keyOf('orders/x')}` }
      expect(
        await reach(session, { method: 'PUT', key: keyOf('orders/copy'), headers: copy }),
      ).toBe(200)
      expect(await reach(session, { method: 'DELETE', key: put.key })).toBe(204)
      const uploads = { method: 'POST', key: keyOf('orders/m'), query: { uploads: '' } }
      expect(await reach(session, uploads)).toBe(200)
    })

    it.each(['orders2/x', 'orders-old', 'orders', 'other/x', 'absent'])(
      'vends a session that cannot read, write, delete or copy %s',
      async (name) => {
        const session = await broker.vend(scopeOf('write', 'orders'), asked)
        const key = keyOf(name)
        const before = await contentOf(name)
        expect(await reach(session, { method: 'GET', key })).toBe(403)
        expect(await reach(session, { method: 'HEAD', key })).toBe(403)
        expect(await reach(session, { method: 'PUT', key, body: 'evil' })).toBe(403)
        expect(await reach(session, { method: 'DELETE', key })).toBe(403)
        expect(await reach(session, { method: 'POST', key, query: { uploads: '' } })).toBe(403)
        const source = { 'x-amz-copy-source': `/${bucket}/${key}` }
        expect(
          await reach(session, { method: 'PUT', key: keyOf('orders/in'), headers: source }),
        ).toBe(403)
        const own = { 'x-amz-copy-source': `/${bucket}/${keyOf('orders/x')}` }
        expect(await reach(session, { method: 'PUT', key, headers: own })).toBe(403)
        await reach(session, { method: 'POST', query: { delete: '' }, body: batchOf(key) })
        expect(await contentOf(name)).toBe(before)
        expect(await contentOf('orders/in')).toBeUndefined()
      },
    )

    it('vends a session that lists nothing but its table', async () => {
      const session = await broker.vend(scopeOf('write', 'orders'), asked)
      const prefixes = ['', `${tables}`, keyOf(''), keyOf('orders'), keyOf('orders2/'), keyOf('o')]
      for (const prefix of prefixes) {
        expect(await reach(session, { method: 'GET', query: { 'list-type': '2', prefix } })).toBe(
          403,
        )
      }
      expect(await reach(session, { method: 'GET', query: { 'list-type': '2' } })).toBe(403)
      expect(await reach(session, { method: 'GET', query: { uploads: '' } })).toBe(403)
      expect(await reach(session, { method: 'GET', query: { policy: '' } })).toBe(403)
    })

    it('vends a session to a reader that changes nothing', async () => {
      const session = await broker.vend(scopeOf('read', 'orders'), asked)
      const key = keyOf('orders/x')
      expect(await reach(session, { method: 'GET', key })).toBe(200)
      expect(
        await reach(session, {
          method: 'GET',
          query: { 'list-type': '2', prefix: keyOf('orders/') },
        }),
      ).toBe(200)
      expect(await reach(session, { method: 'PUT', key, body: 'evil' })).toBe(403)
      expect(await reach(session, { method: 'DELETE', key })).toBe(403)
      expect(await reach(session, { method: 'POST', key, query: { uploads: '' } })).toBe(403)
      await reach(session, { method: 'POST', query: { delete: '' }, body: batchOf(key) })
      expect(await contentOf('orders/x')).toBe('orders/x')
    })

    it('covers several places with one session', async () => {
      const session = await broker.vend(scopeOf('write', 'orders', 'other'), asked)
      expect(await reach(session, { method: 'GET', key: keyOf('orders/x') })).toBe(200)
      expect(await reach(session, { method: 'GET', key: keyOf('other/x') })).toBe(200)
      expect(await reach(session, { method: 'GET', key: keyOf('orders2/x') })).toBe(403)
    })

    it('reaches what a table gave up, for keys and signatures, and is none the worse for what cannot be said', async () => {
      const [location = ''] = scopeOf('write', 'orders').prefixes
      const formerly = (name: string) => `${location.slice(0, location.lastIndexOf('/'))}/${name}`
      const former = [formerly('w?ld'), 's3://elsewhere/x', 'not a location', formerly('other')]
      const scope = { ...scopeOf('write', 'orders'), former }
      const session = await broker.vend(scope, asked)
      expect(await reach(session, { method: 'GET', key: keyOf('orders/x') })).toBe(200)
      expect(await reach(session, { method: 'GET', key: keyOf('other/x') })).toBe(200)
      expect(await reach(session, { method: 'GET', key: keyOf('orders2/x') })).toBe(403)
      const uriOf = (key: string) => ({ uri: `${profile.endpoint}/${bucket}/${keyOf(key)}` })
      expect(await sendSigned(broker, scope, uriOf('other/x'))).toMatchObject({ status: 200 })
      expect(await sendSigned(broker, scope, uriOf('orders/x'))).toMatchObject({ status: 200 })
      await expect(sendSigned(broker, scope, uriOf('orders2/x'))).rejects.toThrow(
        RequestRefusedError,
      )
    })

    it('takes quotes, brackets and spaces literally, and refuses wildcards (B194)', async () => {
      const odd = 'o\'r&d "[ab]'
      const session = await broker.vend(scopeOf('write', odd), asked)
      expect(await reach(session, { method: 'GET', key: keyOf(`${odd}/x`) })).toBe(200)
      for (const name of ['orders/x', 'o\'r&d "a/x', 'a/x', 'ord/x']) {
        expect(await reach(session, { method: 'GET', key: keyOf(name) })).toBe(403)
      }
      for (const name of ['*', 'ord?rs', '${aws:username}', 'o*', 'a\\']) {
        await expect(broker.vend(scopeOf('write', name), asked)).rejects.toThrow(
          UnvendableScopeError,
        )
      }
      const brackets = await broker.vend(scopeOf('write', '[ab]'), asked)
      expect(await reach(brackets, { method: 'GET', key: keyOf('a/x') })).toBe(403)
    })

    it('signs what a writer does, and the store holds a dishonest client to the scope', async () => {
      const scope = scopeOf('write', 'orders')
      const uriOf = (path: string): string => `${profile.endpoint}/${bucket}${path}`
      const put = {
        method: 'PUT',
        uri: uriOf(`/${keyOf('orders/day%3D1/signed')}`),
        body: 'signed',
      }
      expect(await sendSigned(broker, scope, put)).toMatchObject({ status: 200 })
      const list = { uri: uriOf(`?list-type=2&prefix=${encodeURIComponent(keyOf('orders/'))}`) }
      expect((await sendSigned(broker, scope, list)).text).toContain('day=1/signed')
      const batch = {
        method: 'POST',
        uri: uriOf('?delete'),
        body: batchOf(keyOf('orders/day=1/signed')),
      }
      // This server does not compare the body with the hash that was signed: only the session holds it back.
      const other = { ...batch, changes: { body: batchOf(keyOf('orders2/x')) } }
      await sendSigned(broker, scope, other)
      expect(await contentOf('orders2/x')).toBe('orders2/x')
      expect(await sendSigned(broker, scope, batch)).toMatchObject({ status: 200 })
      expect(await contentOf('orders/day=1/signed')).toBeUndefined()
      const added = { headers: { 'x-amz-copy-source': `/${bucket}/${keyOf('orders2/x')}` } }
      const stolen = {
        method: 'PUT',
        uri: uriOf(`/${keyOf('orders/stolen')}`),
        body: '',
        changes: added,
      }
      expect((await sendSigned(broker, scope, stolen)).status).toBe(403)
    })

    it.each(['with a role', 'without one'])(
      'signs for the SDK all that it does with a table, %s',
      async (way) => {
        const used = way === 'with a role' ? broker : openBroker(place.profile, place.credentials)
        const scope = scopeOf('write', 'orders')
        const sdk = sdkOf(profile, (request) => used.sign(request, scope))
        const Key = keyOf("orders/ts=10%3A30 é+&/it's (1).parquet")
        const at = { Bucket: bucket, Key }
        await sdk.send(new PutObjectCommand({ ...at, Body: Buffer.from('hello') }))
        const encrypted = {
          ...at,
          Body: Buffer.from('hello'),
          ServerSideEncryption: 'AES256',
        } as const
        await sdk.send(new PutObjectCommand(encrypted))
        const tagged = sdk.send(new PutObjectCommand({ ...at, Body: 'tagged', Tagging: 'a=b' }))
        await expect(tagged).rejects.toThrow(RequestRefusedError)
        const read = await sdk.send(new GetObjectCommand({ ...at, Range: 'bytes=1-3' }))
        expect(await read.Body?.transformToString()).toBe('ell')
        expect((await sdk.send(new HeadObjectCommand(at))).ContentLength).toBe(5)
        const copy = { Bucket: bucket, Key: keyOf('orders/copied') }
        const CopySource = `${bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`
        await sdk.send(new CopyObjectCommand({ ...copy, CopySource }))
        const part = Buffer.alloc(5 * 1_024 * 1_024, 'x')
        const { UploadId } = await sdk.send(new CreateMultipartUploadCommand(copy))
        const upload = { ...copy, UploadId }
        const { ETag } = await sdk.send(
          new UploadPartCommand({ ...upload, PartNumber: 1, Body: part }),
        )
        await sdk.send(new ListPartsCommand(upload))
        const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] }
        await sdk.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }))
        const Prefix = keyOf('orders/ts')
        const list = await sdk.send(new ListObjectsV2Command({ Bucket: bucket, Prefix }))
        expect(list.Contents?.map((object) => object.Key)).toEqual([Key])
        const Delete = { Objects: [{ Key }, { Key: copy.Key }] }
        const batch = sdk.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }))
        if (way === 'with a role') expect((await batch).Deleted).toHaveLength(2)
        else await expect(batch).rejects.toThrow(RequestRefusedError)
        for (const { Key: key } of Delete.Objects) {
          await sdk.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }))
        }
        await expect(
          sdk.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf('orders2/x') })),
        ).rejects.toThrow(RequestRefusedError)
        sdk.destroy()
        if (used !== broker) used.close()
      },
    )

    it('gives no batch away without a role, since this server does not compare bodies with their hash', async () => {
      const plain = openBroker(place.profile, place.credentials)
      const uri = `${profile.endpoint}/${bucket}?delete`
      const body = batchOf(keyOf('orders/x'))
      const answer = plain.sign(
        { method: 'POST', uri, headers: {}, body },
        scopeOf('write', 'orders'),
      )
      await expect(answer).rejects.toThrow('does not check that a body is the one that was signed')
      const put = {
        method: 'PUT',
        uri: `${profile.endpoint}/${bucket}/${keyOf('orders/plain')}`,
        body: 'x',
      }
      expect(await sendSigned(plain, scopeOf('write', 'orders'), put)).toMatchObject({
        status: 200,
      })
      plain.close()
    })

    it('says that the store is unavailable when the role is not to be had', async () => {
      const roleArn = 'arn:aws:iam::000000000000:role/NoRole'
      const lost = openBroker({ ...profile, clientRoleArn: roleArn }, place.credentials)
      const answer = lost.vend(scopeOf('read', 'orders'), asked)
      await expect(answer).rejects.toThrow(StoreUnavailableError)
      await expect(answer).rejects.toThrow(/^(?!.*secret)/)
      lost.close()
    })
  },
)

/** The SDK as a client with remote signing runs it: it sends what it was told to, and nothing of its own keys. */
function sdkOf(
  { endpoint, region }: S3Profile,
  sign: (request: ClientRequest) => Promise<SignedRequest>,
): S3Client {
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    signer: {
      async sign(request) {
        // `as`: every request of this client is one of HTTP.
        const sent = request as unknown as SdkRequest
        const { method, protocol, hostname, port, path, query, headers, body } = sent
        const parameters = Object.entries(query).map(
          ([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value ?? '')}`,
        )
        const text = parameters.length === 0 ? '' : `?${parameters.join('&')}`
        const lists = Object.entries(headers).map(([name, value]) => [name, [value]] as const)
        const signed = await sign({
          method,
          uri: `${protocol}//${hostname}:${port}${path}${text}`,
          headers: Object.fromEntries(lists),
          ...(typeof body === 'string' && 'delete' in query ? { body } : {}),
        })
        for (const [name, values] of Object.entries(signed.headers)) {
          sent.headers[name] = values.join(',')
        }
        return request
      },
    },
  })
}

interface SdkRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port: number
  readonly path: string
  readonly query: Readonly<Record<string, string | null>>
  readonly headers: Record<string, string>
  readonly body: unknown
}

interface Call {
  readonly method: string
  readonly bucket: string
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends requests with credentials as a client that signs by itself. */
function openCaller() {
  return async (profile: S3Profile, credentials: S3Credentials, request: Call): Promise<number> => {
    const { method, bucket, key = '', body = '' } = request
    const address = openAddressBook(profile)({ bucket, key })
    const query = canonicalQuery(request.query)
    const signable = {
      ...address,
      method,
      query,
      headers: request.headers ?? {},
      payloadHash: sha256Hex(body),
    }
    const { host: _, ...headers } = openSigner(profile.region)(signable, credentials, Date.now())
    const answer = await fetch(`${profile.endpoint}${address.path}?${query}`, {
      method,
      headers,
      ...(method === 'PUT' || method === 'POST' ? { body } : {}),
    })
    await answer.arrayBuffer()
    return answer.status
  }
}
