import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Fault,
  type FaultKind,
  openS3Double,
  type S3Double,
} from '@timelake/testing/open-s3-double'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ObjectStore, ObjectNotFoundError, StoreUnavailableError } from './object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

let double: S3Double
let store: ReturnType<typeof openS3ObjectStore>
/** For servers that are silent: one waits a little, one gives up soon, where giving up is what is expected. */
let quick: typeof store
let hasty: typeof store
let directory: string
let count = 0

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'timelake-faults-'))
  double = await openS3Double({ pageKeysMax: 2, partBytesMin: 1 })
  const { endpoint, region, accessKeyId, secretAccessKey } = double
  const open = (silenceMs: number) =>
    openS3ObjectStore({
      profile: { type: 's3', endpoint, region, pathStyle: true },
      credentials: { accessKeyId, secretAccessKey },
      firstByteTimeoutMs: silenceMs,
      idleTimeoutMs: silenceMs,
      singlePutBytesMax: 100_000,
      partBytes: 60_000,
      pieceBytes: 3,
      random: () => 0,
    })
  store = open(20_000)
  quick = open(200)
  hasty = open(30)
})

afterAll(async () => {
  for (const opened of [store, quick, hasty]) opened.close()
  await double.close()
  await rm(directory, { recursive: true })
})

beforeEach(() => double.setFault(undefined))

const APPLIED: readonly FaultKind[] = ['status-after', 'drop-response', 'hang-after', 'truncate']
const NOT_APPLIED: readonly FaultKind[] = ['status', 'drop-request', 'hang']
const FAILING = [...APPLIED, ...NOT_APPLIED]
const STATUSES = [429, 500, 502, 503, 504]

const isSilent = (kind: FaultKind | undefined) => kind === 'hang' || kind === 'hang-after'
/** Which store to try with a fault that passes, and with one that stays. */
const bearing = (kind: FaultKind | undefined) => (isSilent(kind) ? quick : store)
const failing = (kind: FaultKind) => (isSilent(kind) ? hasty : store)

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const newLocation = (leaf = 'object') => `s3://${double.bucket}/case-${++count}/${leaf}`
const keyOf = (location: string) => location.slice(`s3://${double.bucket}/`.length)
const stored = (location: string) => double.objects().get(keyOf(location))?.toString()

async function namesBelow(folder: string, from: ObjectStore = store): Promise<string[]> {
  const names: string[] = []
  for await (const { location } of from.list(folder)) names.push(location.slice(folder.length + 1))
  return names.sort()
}

interface Reading {
  readonly name: string
  readonly operation: NonNullable<NonNullable<Fault['match']>['operation']>
  readonly read: (location: string, from: ObjectStore) => Promise<unknown>
  readonly right: unknown
}

/** Calls that may be made twice, on an object with the content `content`. */
const READINGS: readonly Reading[] = [
  { name: 'get', operation: 'get', read: async (l, s) => textOf(await s.get(l)), right: 'content' },
  {
    name: 'get of a range',
    operation: 'get',
    read: async (l, s) => textOf(await s.get(l, { range: { offset: -4, lengthBytes: 2 } })),
    right: 'te',
  },
  { name: 'stat', operation: 'head', read: async (l, s) => (await s.stat(l))?.sizeBytes, right: 7 },
  {
    name: 'localFile',
    operation: 'get',
    read: async (l, s) => readFile(await s.localFile(l, directory), 'utf8'),
    right: 'content',
  },
  {
    name: 'list',
    operation: 'list',
    read: async (l, s) => namesBelow(l.slice(0, l.lastIndexOf('/')), s),
    right: ['a', 'b', 'c', 'object'],
  },
]

async function prepared(): Promise<string> {
  const location = newLocation()
  const folder = location.slice(0, location.lastIndexOf('/'))
  expect(await store.putIfAbsent(location, bytesOf('content'))).toBe('created')
  for (const leaf of ['a', 'b', 'c']) await store.putIfAbsent(`${folder}/${leaf}`, bytesOf('x'))
  return location
}

describe.each(READINGS)('$name', ({ operation, read, right }) => {
  it.each(FAILING)('gets over one %s', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation }, times: 1 })
    expect(await read(location, bearing(kind))).toEqual(right)
  })

  it.each(FAILING)('gets over one %s of a later request', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation }, times: 1, skip: 1 })
    expect(await read(location, bearing(kind))).toEqual(right)
  })

  it.each(FAILING)('answers unavailable, never absent, after %s for ever', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation } })
    await expect(read(location, failing(kind))).rejects.toThrow(StoreUnavailableError)
  })

  it.each(STATUSES)('gets over one %i and gives up on many', async (status) => {
    const location = await prepared()
    double.setFault({ kind: 'status', status, code: '', match: { operation }, times: 2 })
    expect(await read(location, store)).toEqual(right)
    double.setFault({ kind: 'status', status, code: '', match: { operation } })
    await expect(read(location, store)).rejects.toThrow(StoreUnavailableError)
  })

  it.each([
    [401, 'AccessDenied'],
    [403, 'AccessDenied'],
    [403, 'InvalidAccessKeyId'],
    [400, 'InvalidRequest'],
    [404, 'NoSuchBucket'],
    [301, 'PermanentRedirect'],
    [200, ''],
  ])('answers unavailable, never absent, after %i %s', async (status, code) => {
    if (status === 200 && operation !== 'head') return
    const location = await prepared()
    double.setFault({ kind: 'status', status, code })
    await expect(read(location, store)).rejects.toThrow(StoreUnavailableError)
  })

  it('does not take the 404 of something that is no store for an absence', async () => {
    const location = await prepared()
    double.setFault({ kind: 'status', status: 404, code: '' })
    await expect(read(location, store)).rejects.toThrow(StoreUnavailableError)
  })

  it('waits for a slow answer', async () => {
    const location = await prepared()
    double.setFault({ kind: 'delay', delayMs: 30 })
    expect(await read(location, store)).toEqual(right)
  })
})

it('names the bucket that does not exist', async () => {
  const missing = 's3://no-such-bucket/t'
  await expect(store.get(`${missing}/x`)).rejects.toThrow(/bucket does not exist/)
  await expect(store.stat(`${missing}/x`)).rejects.toThrow(/bucket does not exist/)
  await expect(store.putIfAbsent(`${missing}/x`, bytesOf('x'))).rejects.toThrow(
    /bucket does not exist/,
  )
  await expect(namesBelow(missing)).rejects.toThrow(/bucket does not exist/)
  await expect(store.delete(`${missing}/x`)).rejects.toThrow(/bucket does not exist/)
})

describe('putIfAbsent', () => {
  it.each(APPLIED)('after %s finds its own object and answers created', async (kind) => {
    const location = newLocation()
    double.setFault({ kind, match: { operation: 'put' } })
    expect(await bearing(kind).putIfAbsent(location, bytesOf('ours'))).toBe('created')
    expect(stored(location)).toBe('ours')
  })

  it.each(NOT_APPLIED)('after %s of a free name answers unknown', async (kind) => {
    const location = newLocation()
    double.setFault({ kind, match: { operation: 'put' } })
    expect(await bearing(kind).putIfAbsent(location, bytesOf('ours'))).toBe('unknown')
    expect(stored(location)).toBeUndefined()
  })

  it.each(FAILING)('after %s of a taken name answers exists and keeps it', async (kind) => {
    for (const theirs of ['theirs, and longer', 'them', 'it']) {
      const location = newLocation()
      await store.putIfAbsent(location, bytesOf(theirs))
      double.setFault({ kind, match: { operation: 'put' }, times: 1 })
      expect(await bearing(kind).putIfAbsent(location, bytesOf('ours'))).toBe('exists')
      expect(stored(location)).toBe(theirs)
    }
  })

  it.each(FAILING)('sends the write once, whatever comes of it: %s', async (kind) => {
    double.setFault({ kind, match: { operation: 'put' } })
    double.forgetRequests()
    await bearing(kind).putIfAbsent(newLocation(), bytesOf('ours'))
    expect(double.requests().filter(({ operation }) => operation === 'put')).toHaveLength(1)
  })

  it.each(FAILING)('answers unknown when reading back fails too: %s', async (kind) => {
    double.setFault({ kind })
    expect(await failing(kind).putIfAbsent(newLocation(), bytesOf('ours'))).toBe('unknown')
  })

  it.each(['ConditionalRequestConflict', 'OperationAborted'])(
    'writes again after 409 %s, by which the store says that it did nothing',
    async (code) => {
      const location = newLocation()
      double.setFault({ kind: 'status', status: 409, code, match: { operation: 'put' }, times: 1 })
      expect(await store.putIfAbsent(location, bytesOf('ours'))).toBe('created')
      expect(stored(location)).toBe('ours')
    },
  )

  it('finds its own object when a conflict was reported of a write that was done', async () => {
    const location = newLocation()
    const code = 'ConditionalRequestConflict'
    double.setFault({ kind: 'status-after', status: 409, code, match: { operation: 'put' } })
    expect(await store.putIfAbsent(location, bytesOf('ours'))).toBe('created')
  })

  it('takes 409 BlobAlreadyExists for a taken name', async () => {
    double.setFault({ kind: 'status', status: 409, code: 'BlobAlreadyExists', times: 1 })
    expect(await store.putIfAbsent(newLocation(), bytesOf('ours'))).toBe('exists')
  })

  it.each([
    [403, 'AccessDenied'],
    [400, 'EntityTooLarge'],
    [404, 'NoSuchBucket'],
    [409, 'ObjectParentIsFile'],
  ])('fails after %i %s, which wrote nothing', async (status, code) => {
    double.setFault({ kind: 'status', status, code })
    const answer = store.putIfAbsent(newLocation(), bytesOf('ours'))
    await expect(answer).rejects.toThrow(StoreUnavailableError)
  })
})

describe('delete and deleteMany', () => {
  it.each(FAILING)('delete gets over one %s', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation: 'delete' }, times: 1 })
    expect(await bearing(kind).delete(location)).toBe('deleted')
    expect(stored(location)).toBeUndefined()
  })

  it.each(FAILING)('delete fails after %s for ever', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation: 'delete' } })
    await expect(failing(kind).delete(location)).rejects.toThrow(StoreUnavailableError)
  })

  it.each(FAILING)('delete does not answer absent when looking fails: %s', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation: 'head' } })
    await expect(failing(kind).delete(location)).rejects.toThrow(StoreUnavailableError)
    expect(stored(location)).toBe('content')
  })

  it.each(FAILING)('deleteMany gets over one %s', async (kind) => {
    const location = await prepared()
    double.setFault({ kind, match: { operation: 'delete-batch' }, times: 1 })
    expect(await bearing(kind).deleteMany([location])).toEqual([{ location, outcome: 'gone' }])
    expect(stored(location)).toBeUndefined()
  })

  it.each(FAILING)('deleteMany answers failed after %s for ever', async (kind) => {
    const location = await prepared()
    double.setFault({ kind })
    const [result] = await failing(kind).deleteMany([location])
    expect(result).toMatchObject({ location, outcome: 'failed' })
    expect(result?.outcome === 'failed' && result.error).toBeInstanceOf(StoreUnavailableError)
  })
})

describe('putFileIfAbsent of a large file', () => {
  const sizeBytes = 250_000
  let path: string
  let content: Buffer

  beforeAll(async () => {
    content = Buffer.alloc(sizeBytes, 'large file ')
    path = join(directory, 'large')
    await writeFile(path, content)
  })

  // An upload whose beginning got no answer is nobody's; a slow machine makes some.
  const uploadsOf = (location: string) =>
    double.openUploads().filter((name) => name === keyOf(location))
  const isStored = (location: string) => double.objects().get(keyOf(location))?.equals(content)

  it.each([...FAILING, undefined])('gets over one %s of a part', async (kind) => {
    const location = newLocation()
    if (kind !== undefined) {
      double.setFault({ kind, match: { operation: 'upload-part' }, times: 1 })
    }
    expect(await bearing(kind).putFileIfAbsent(location, path)).toBe('created')
    expect(isStored(location)).toBe(true)
    if (!isSilent(kind)) expect(uploadsOf(location)).toEqual([])
  })

  it.each(FAILING)('fails and drops the upload after %s of parts for ever', async (kind) => {
    const location = newLocation()
    double.setFault({ kind, match: { operation: 'upload-part' } })
    await expect(failing(kind).putFileIfAbsent(location, path)).rejects.toThrow(
      StoreUnavailableError,
    )
    expect(stored(location)).toBeUndefined()
    if (!isSilent(kind)) expect(uploadsOf(location)).toEqual([])
  })

  it.each(APPLIED)('finds its own object after %s of the completion', async (kind) => {
    const location = newLocation()
    double.setFault({ kind, match: { operation: 'complete-upload' } })
    expect(await bearing(kind).putFileIfAbsent(location, path)).toBe('created')
    expect(isStored(location)).toBe(true)
  })

  it.each(NOT_APPLIED)('answers unknown after %s of the completion', async (kind) => {
    const location = newLocation()
    double.setFault({ kind, match: { operation: 'complete-upload' } })
    expect(await bearing(kind).putFileIfAbsent(location, path)).toBe('unknown')
    expect(stored(location)).toBeUndefined()
    if (!isSilent(kind)) expect(uploadsOf(location)).toEqual([])
  })

  it.each(NOT_APPLIED)('answers exists when another object is there after %s', async (kind) => {
    const location = newLocation()
    const other = Buffer.from(content)
    other[sizeBytes - 1] = 0
    const onHit = () => double.setObject(keyOf(location), other)
    double.setFault({ kind, match: { operation: 'complete-upload' }, onHit })
    expect(await bearing(kind).putFileIfAbsent(location, path)).toBe('exists')
    expect(double.objects().get(keyOf(location))?.equals(other)).toBe(true)
    if (!isSilent(kind)) expect(uploadsOf(location)).toEqual([])
  })

  it('sends the completion once', async () => {
    double.setFault({ kind: 'drop-response', match: { operation: 'complete-upload' } })
    double.forgetRequests()
    await store.putFileIfAbsent(newLocation(), path)
    const sent = double.requests().filter(({ operation }) => operation === 'complete-upload')
    expect(sent).toHaveLength(1)
  })

  it('leaves an object that came meanwhile', async () => {
    const location = newLocation()
    const uploading = store.putFileIfAbsent(location, path)
    await store.putIfAbsent(location, bytesOf('came first'))
    expect(await uploading).toBe('exists')
    expect(stored(location)).toBe('came first')
    expect(uploadsOf(location)).toEqual([])
  })
})

it('answers ObjectNotFoundError only when the store names the object', async () => {
  await expect(store.get(newLocation('nowhere'))).rejects.toThrow(ObjectNotFoundError)
})
