import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultDelegationConfig } from './delegation-config.ts'
import { makeAccount } from '../test-accounts.ts'
import {
  HAS_BUCKET,
  keysIn,
  NO_BUCKET,
  onlyCredential,
  openTestBucket,
  tableNamed,
  type TestBucket,
  VENDED,
} from '../test-bucket.ts'
import { appendBody } from '../test-bodies.ts'
import { errorOf, member, textAt } from '../test-json.ts'
import { testServices } from '@timelake/testing/test-services'

const SIGNED = { 'x-iceberg-access-delegation': 'remote-signing' }
const ASKED_ALL = { 'x-iceberg-access-delegation': 'remote-signing, Vended-Credentials' }

describe.skipIf(!HAS_BUCKET)(`delegated access (skipped: ${NO_BUCKET})`, () => {
  let bucket: TestBucket
  const call: TestBucket['catalog']['call'] = (...request) => bucket.catalog.call(...request)
  const tables = (warehouse: string) => `/v1/${warehouse}/namespaces/ns/tables`
  beforeAll(async () => {
    // A short life, so that sessions change when the clock is moved.
    const delegation = { ...defaultDelegationConfig, credentialsLifetimeMs: 600_000 }
    const warehouses = {
      vended: ['vended-credentials'],
      keyed: ['static-keys', 'remote-signing'],
      either: ['remote-signing', 'vended-credentials'],
      both: ['vended-credentials', 'remote-signing'],
      closed: [],
    } as const
    bucket = await openTestBucket(warehouses, { config: { delegation } })
  })
  afterAll(() => bucket.stop())

  const create = (warehouse: string, body: JsonObject, headers: Record<string, string> = VENDED) =>
    call('POST', tables(warehouse), { body, headers })

  /** The text of an object, by a request that the catalog signs; undefined when it does not. */
  const signedGet = async (endpoint: string, location: string): Promise<string | undefined> => {
    const { endpoint: store = '', region = '' } = testServices().s3 ?? {}
    const key = location.slice('s3://'.length).split('/').map(encodeURIComponent).join('/')
    const uri = `${store}/${key}`
    const request = { region, method: 'GET', uri, headers: { host: [new URL(uri).host] } }
    const signed = await call('POST', endpoint, { body: request })
    if (signed.status !== 200) return undefined
    const headers = Object.entries(member(signed.json, 'headers') as JsonObject) // `as`: of lists
      .filter(([name]) => name.toLowerCase() !== 'host')
      .map(([name, values]): [string, string] => [name, String((values as JsonValue[])[0])])
    return (await fetch(uri, { headers: Object.fromEntries(headers) })).text()
  }

  it('I54 gives credentials that reach their table and nothing beside it', async () => {
    const made = await create('vended', tableNamed('orders'))
    await create('vended', tableNamed('orders2'))
    const location = textAt(made.json, 'metadata', 'location')
    const parent = location.slice(0, location.lastIndexOf('/'))
    // Siblings whose names begin as the table's does.
    for (const name of [`${location}2/data/x`, `${location}-old/x`, `${parent}/x`]) {
      await bucket.store.putIfAbsent(name, Buffer.from('secret'))
    }
    const store = bucket.storeWith(keysIn(member(made.json, 'config')))
    expect(await store.putIfAbsent(`${location}/data/x`, Buffer.from('mine'))).toBe('created')
    expect(Buffer.from(await store.get(`${location}/data/x`)).toString()).toBe('mine')
    for (const name of [`${location}2/data/x`, `${location}-old/x`, `${parent}/x`]) {
      await expect(store.get(name)).rejects.toThrow()
      await expect(store.putIfAbsent(`${name}2`, Buffer.from('x'))).rejects.toThrow()
    }
    const listed = async (prefix: string) => {
      const found: string[] = []
      for await (const entry of store.list(prefix)) found.push(entry.location)
      return found
    }
    expect((await listed(`${location}/`)).every((one) => one.startsWith(`${location}/`))).toBe(true)
    await expect(listed(parent)).rejects.toThrow()
    await expect(listed(`${location}2/`)).rejects.toThrow()
  })

  it('gives the same in config and in one storage credential, on create, stage, load and register', async () => {
    const made = await create('vended', tableNamed('everywhere'))
    const path = `${tables('vended')}/everywhere`
    const staged = await create('vended', tableNamed('staged', { 'stage-create': true }))
    const loaded = await call('GET', path, { headers: VENDED })
    const body = { name: 'again', 'metadata-location': textAt(made.json, 'metadata-location') }
    await call('DELETE', path)
    const registered = await call('POST', '/v1/vended/namespaces/ns/register', {
      body,
      headers: VENDED,
    })
    for (const answer of [made, staged, loaded, registered]) {
      expect(answer.status, answer.text).toBe(200)
      const config = member(answer.json, 'config')
      const credential = onlyCredential(answer.json)
      expect(credential['config']).toEqual(config)
      expect(credential['prefix']).toBe(`${textAt(answer.json, 'metadata', 'location')}/`)
      expect(answer.headers['cache-control']).toBe('no-store')
      expect(member(config, 's3.path-style-access')).toBe('true')
      const expiresAtMs = Number(textAt(config, 's3.session-token-expires-at-ms'))
      const leftMs = expiresAtMs - bucket.catalog.clock.nowMs()
      expect(leftMs).toBeGreaterThanOrEqual(300_000)
      expect(leftMs).toBeLessThanOrEqual(600_000)
    }
    expect(textAt(loaded.json, 'config', 'client.refresh-credentials-endpoint')).toBe(
      'v1/vended/namespaces/ns/tables/everywhere/credentials',
    )
  })

  it('gives nothing to those who ask for nothing, and nothing where the warehouse gives nothing', async () => {
    await create('vended', tableNamed('quiet'))
    await create('closed', tableNamed('quiet'))
    const answers = [
      await call('GET', `${tables('vended')}/quiet`),
      await call('GET', `${tables('vended')}/quiet`, { headers: SIGNED }),
      await call('GET', `${tables('closed')}/quiet`, { headers: ASKED_ALL }),
    ]
    for (const answer of answers) {
      expect(member(answer.json, 'config')).toEqual({})
      expect(answer.json).not.toHaveProperty('storage-credentials')
      expect(answer.headers['cache-control']).toBeUndefined()
    }
  })

  it('I55 takes the first of the warehouse’s ways that was asked for', async () => {
    const made = await create('either', tableNamed('first'), ASKED_ALL)
    expect(member(made.json, 'config')).toMatchObject({ 's3.remote-signing-enabled': 'true' })
    expect(made.json).not.toHaveProperty('storage-credentials')
    const loaded = await call('GET', `${tables('either')}/first`, { headers: VENDED })
    expect(onlyCredential(loaded.json)).toHaveProperty('config')
    expect(member(loaded.json, 'config')).not.toHaveProperty('s3.remote-signing-enabled')
  })

  it('spells the way to the signer as all clients look for it', async () => {
    const made = await create('either', tableNamed('spelled'), SIGNED)
    const endpoint = 'v1/either/namespaces/ns/tables/spelled/sign'
    expect(member(made.json, 'config')).toMatchObject({
      'signer.endpoint': endpoint,
      's3.signer.endpoint': endpoint,
      's3.signer': 'S3V4RestSigner',
    })
    expect(made.text).not.toContain('access-key-id')
  })

  it('gives the warehouse’s own keys where it says so, and only to writers of all of it', async () => {
    const made = await create('keyed', tableNamed('keys'))
    const { s3 } = testServices()
    expect(member(made.json, 'config')).toMatchObject({ 's3.access-key-id': s3?.accessKeyId })
    expect(member(made.json, 'config')).not.toHaveProperty('s3.session-token')
    const path = `${tables('keyed')}/keys`
    for (const [name, grant] of [
      ['reads-all', { role: 'reader', warehouse: 'keyed' }],
      ['writes-some', { role: 'writer', warehouse: 'keyed', namespace: ['ns'] }],
    ] as const) {
      const as = await makeAccount(bucket.catalog, name, [grant])
      expect(member((await as('GET', path, { headers: VENDED })).json, 'config')).toEqual({})
      const signed = await as('GET', path, { headers: ASKED_ALL })
      expect(member(signed.json, 'config')).toHaveProperty(['signer.endpoint'])
      const own = await as('GET', `${path}/credentials`)
      expect(own.json).toEqual({ 'storage-credentials': [] })
    }
  })

  it.each(['q?mark#hash', 'st*r', '${aws:username}', 'dollar$'])(
    'names that no policy can say get keys where we choose the place, and signatures elsewhere: %s (B194)',
    async (name) => {
      const ours = await create('both', tableNamed(name), ASKED_ALL)
      expect(ours.status, ours.text).toBe(200)
      expect(textAt(ours.json, 'metadata', 'location')).not.toMatch(/[*?$\\#]/)
      expect(member(ours.json, 'config')).toHaveProperty(['s3.access-key-id'])
      const parent = textAt(ours.json, 'metadata', 'location').split('/').slice(0, -1).join('/')
      const location = `${parent}/chosen/${name}`
      const chosen = tableNamed(`chosen ${name}`, { location })
      const signed = await create('both', chosen, ASKED_ALL)
      const endpoint = textAt(signed.json, 'config', 'signer.endpoint')
      expect(signed.json).not.toHaveProperty('storage-credentials')
      await bucket.store.putIfAbsent(`${location}/data/x`, Buffer.from('chosen'))
      await bucket.store.putIfAbsent(`${parent}/chosen/qqmark/data/x`, Buffer.from('other'))
      const read = (place: string) => signedGet(`/${endpoint}`, place)
      expect(await read(`${location}/data/x`)).toBe('chosen')
      expect(await read(`${parent}/chosen/qqmark/data/x`)).toBeUndefined()
      // Who asks for nothing but keys gets none, and the log says why.
      const path = `${tables('both')}/${encodeURIComponent(`chosen ${name}`)}`
      const asked = await call('GET', path, { headers: VENDED })
      expect(member(asked.json, 'config')).toEqual({})
      expect(bucket.catalog.log.join()).toContain('a policy reads one of * ? $')
    },
  )

  it('gives readers, and scans, credentials that read only', async () => {
    const made = await create('vended', tableNamed('readable'))
    const location = textAt(made.json, 'metadata', 'location')
    await bucket.store.putIfAbsent(`${location}/data/x`, Buffer.from('x'))
    const path = `${tables('vended')}/readable`
    const grants = [{ role: 'reader', warehouse: 'vended', namespace: ['ns'] }] as const
    const reader = await makeAccount(bucket.catalog, 'reads-some', grants)
    const loaded = await reader('GET', path, { headers: VENDED })
    const refreshed = await reader('GET', `${path}/credentials`)
    const ofScan = await call('GET', `${path}/credentials?planId=anything`)
    const configs = [
      member(loaded.json, 'config'),
      onlyCredential(refreshed.json)['config'],
      onlyCredential(ofScan.json)['config'],
    ]
    for (const config of configs) {
      const store = bucket.storeWith(keysIn(config))
      expect(Buffer.from(await store.get(`${location}/data/x`)).toString()).toBe('x')
      await expect(store.putIfAbsent(`${location}/data/y`, Buffer.from('y'))).rejects.toThrow()
    }
  })

  it('I54 reaches what a table gave up, while others cannot have it', async () => {
    const made = await create('vended', tableNamed('moves'))
    const path = `${tables('vended')}/moves`
    const first = textAt(made.json, 'metadata', 'location')
    const base = first.slice(0, first.lastIndexOf('/'))
    const update = (...updates: JsonObject[]) => call('POST', path, { body: { updates } })
    const moves: JsonObject[] = [
      { action: 'set-properties', updates: { 'write.data.path': `${base}/data-one` } },
      { action: 'set-properties', updates: { 'write.data.path': `${base}/data-two` } },
      { action: 'set-location', location: `${base}/moved` },
    ]
    const body = appendBody({ id: 1n, sequenceNumber: 1n, location: first })
    expect((await call('POST', path, { body })).status).toBe(200)
    for (const move of moves) expect((await update(move)).status).toBe(200)
    const places = [first, `${base}/data-one`, `${base}/data-two`, `${base}/moved`]
    for (const place of [...places, `${base}/data-one2`])
      await bucket.store.putIfAbsent(`${place}/x`, Buffer.from('x'))
    const loaded = await call('GET', path, { headers: VENDED })
    const renewed = onlyCredential((await call('GET', `${path}/credentials`)).json)
    expect(onlyCredential(loaded.json)['prefix']).toBe(`${base}/`)
    for (const config of [member(loaded.json, 'config'), renewed['config']]) {
      const store = bucket.storeWith(keysIn(config))
      for (const place of places) {
        expect(Buffer.from(await store.get(`${place}/x`)).toString(), place).toBe('x')
      }
      await expect(store.get(`${base}/data-one2/x`)).rejects.toThrow()
    }
    const squatter = await create('vended', tableNamed('squats', { location: `${base}/data-one` }))
    expect(squatter.status).toBe(400)
  })

  it('B208: a tag holds as long as the credentials that came with it, and no longer', async () => {
    await create('vended', tableNamed('tagged'))
    const path = `${tables('vended')}/tagged`
    const load = (more: Record<string, string>) => call('GET', path, { headers: more })
    const first = await load(VENDED)
    const tag = String(first.headers.etag)
    expect((await load({ ...VENDED, 'if-none-match': tag })).status).toBe(304)
    // Others are in another answer: none, or of another caller.
    expect((await load({ 'if-none-match': tag })).status).toBe(200)
    const grants = [{ role: 'reader', warehouse: 'vended' }] as const
    const reader = await makeAccount(bucket.catalog, 'tag-reader', grants)
    const foreign = await reader('GET', path, { headers: { ...VENDED, 'if-none-match': tag } })
    expect(foreign.status).toBe(200)
    bucket.catalog.clock.advance(301_000)
    const later = await load({ ...VENDED, 'if-none-match': tag })
    expect(later.status).toBe(200)
    expect(textAt(later.json, 'config', 's3.access-key-id')).not.toBe(
      textAt(first.json, 'config', 's3.access-key-id'),
    )
  })

  it('gzips the shared part once and the access behind it', async () => {
    const properties = { filler: 'x'.repeat(4_000) }
    await create('vended', tableNamed('zipped', { properties }))
    const path = `${tables('vended')}/zipped`
    const plain = await call('GET', path, { headers: VENDED })
    const headers = { ...VENDED, authorization: 'Bearer operator-token', 'accept-encoding': 'gzip' }
    const answer = await fetch(`${bucket.catalog.running.url}${path}`, { headers })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(await answer.text()).toBe(plain.text)
  })

  it('renews for the creator of a staged table, and for nobody else', async () => {
    const staged = await create('vended', tableNamed('later', { 'stage-create': true }))
    const endpoint = textAt(staged.json, 'config', 'client.refresh-credentials-endpoint')
    const location = textAt(staged.json, 'metadata', 'location')
    const [path = '', ticket = ''] = endpoint.split('?')
    const renewed = await call('GET', `/${endpoint}`)
    expect(onlyCredential(renewed.json)['prefix']).toBe(`${location}/`)
    expect(
      textAt(onlyCredential(renewed.json), 'config', 'client.refresh-credentials-endpoint'),
    ).toBe(endpoint)
    const grants = [{ role: 'writer', warehouse: 'vended' }] as const
    const other = await makeAccount(bucket.catalog, 'other-writer', grants)
    const elsewhere = path.replace('/later/', '/sooner/')
    const refused = [
      await call('GET', `/${path}`),
      await call('GET', `/${elsewhere}?${ticket}`),
      await call('GET', `/${endpoint.slice(0, -4)}AAAA`),
      await call('GET', `/${endpoint.replace('ticket=', 'ticket=x')}`),
      await other('GET', `/${endpoint}`),
    ]
    for (const answer of refused)
      expect([answer.status, errorOf(answer).type]).toEqual([404, 'NoSuchTableException'])
    bucket.catalog.clock.advance(defaultDelegationConfig.stagedLifetimeMs)
    expect((await call('GET', `/${endpoint}`)).status).toBe(404)
  })

  it('follows a staged table into its commit, and keeps out of another that took the name', async () => {
    const staged = await create('vended', tableNamed('taken', { 'stage-create': true }))
    const endpoint = textAt(staged.json, 'config', 'client.refresh-credentials-endpoint')
    const winner = await create('vended', tableNamed('taken'))
    const renewed = await call('GET', `/${endpoint}`)
    expect(onlyCredential(renewed.json)['prefix']).toBe(
      `${textAt(staged.json, 'metadata', 'location')}/`,
    )
    expect(onlyCredential(renewed.json)['prefix']).not.toBe(
      `${textAt(winner.json, 'metadata', 'location')}/`,
    )
    // Another table lies where the staged one was to be.
    const location = textAt(staged.json, 'metadata', 'location')
    await create('vended', tableNamed('squatter', { location }))
    expect((await call('GET', `/${endpoint}`)).status).toBe(400)
  })

  it('says nothing of keys in the log and remembers who was given what', async () => {
    const grants = [{ role: 'writer', warehouse: 'vended' }] as const
    const writer = await makeAccount(bucket.catalog, 'noted-writer', grants)
    await create('vended', tableNamed('noted'))
    const path = `${tables('vended')}/noted`
    const secrets: string[] = []
    for (let time = 0; time < 3; time += 1) {
      const { json } = await writer('GET', path, { headers: VENDED })
      const keys = keysIn(member(json, 'config'))
      secrets.push(keys.secretAccessKey, String(keys.sessionToken))
    }
    const log = bucket.catalog.log.join('\n')
    for (const secret of secrets) expect(log).not.toContain(secret)
    const entries = async (): Promise<readonly JsonValue[]> => {
      const { json } = await call('GET', '/admin/v1/audit?pageSize=1000')
      const found = member(json, 'entries') as readonly JsonValue[] // `as`: a list
      return found.filter(
        (entry) => textAt(entry, 'action') === 'giveAccess' && textAt(entry, 'object') === 'noted',
      )
    }
    await expect.poll(async () => (await entries()).length).toBeGreaterThan(0)
    const ofWriter = (await entries()).filter((entry) =>
      JSON.stringify(entry, bigintText).includes('noted-writer'),
    )
    expect(ofWriter).toHaveLength(1)
  })
})

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
