import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { openTestS3Store } from '@timelake/testing/open-test-s3'
import type { DoubleTraits } from '@timelake/testing/s3-double-objects'
import { testServices } from '@timelake/testing/test-services'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeObjectStoreContract } from './conformance.ts'
import { LocationError, type ObjectStore, StoreUnavailableError } from './object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

describeObjectStoreContract('S3, a double', async () => {
  const double = await openS3Double()
  const store = openS3ObjectStore(optionsOf(double))
  return {
    store,
    location: `s3://${double.bucket}/conformance`,
    async remove() {
      store.close()
      await double.close()
    },
  }
})

const hasServer = openTestS3Store() !== undefined

describe.skipIf(!hasServer)('on a real server (needs the S3 variables of test-services.ts)', () => {
  describeObjectStoreContract('S3, a real server', async () => {
    const subject = openTestS3Store()
    if (subject === undefined) throw new Error('the server went away')
    // This server queues writers of one name for whole seconds.
    return { ...subject, racerCount: 4 }
  })
})

describe('a store on one server', () => {
  let double: S3Double
  let store: ReturnType<typeof openS3ObjectStore>
  let directory: string

  beforeAll(async () => {
    double = await openS3Double({ pageKeysMax: 1000 })
    store = openS3ObjectStore({ ...optionsOf(double), roots: [`s3://${double.bucket}/lake`] })
    directory = await mkdtemp(join(tmpdir(), 'timelake-s3-'))
  })

  afterAll(async () => {
    store.close()
    await double.close()
    await rm(directory, { recursive: true })
  })

  it.each([
    's3://lake/other/x',
    's3://lake/lake2/x',
    's3://lake/lak',
    's3://lake',
    's3://other-bucket/lake/x',
    's3://lake/lake/../other/x',
    's3://lake/lake/./x',
    's3a://lake/lake/x',
    'file:///lake/x',
    'https://lake/lake/x',
    's3://la ke/lake/x',
    's3://lake@host/x',
    's3:///lake/x',
    '',
  ])('refuses every operation on %j, and sends nothing', async (location) => {
    double.forgetRequests()
    const path = join(directory, 'source')
    await writeFile(path, 'x')
    await expect(store.get(location)).rejects.toThrow(LocationError)
    await expect(store.stat(location)).rejects.toThrow(LocationError)
    await expect(store.localFile(location, directory)).rejects.toThrow(LocationError)
    await expect(store.delete(location)).rejects.toThrow(LocationError)
    await expect(store.putIfAbsent(location, bytesOf('x'))).rejects.toThrow(LocationError)
    await expect(store.putFileIfAbsent(location, path)).rejects.toThrow(LocationError)
    await expect(store.prepareTableFolders(location)).rejects.toThrow(LocationError)
    await expect(namesOf(store, location)).rejects.toThrow(LocationError)
    const [result] = await store.deleteMany([location])
    expect(result?.outcome === 'failed' && result.error).toBeInstanceOf(LocationError)
    expect(double.requests()).toEqual([])
  })

  it('lists and deletes more than one page holds', async () => {
    const names = Array.from({ length: 2_345 }, (_, index) => `s3://lake/lake/many/${index}`)
    for (const name of names) double.setObject(name.slice('s3://lake/'.length), Buffer.from('x'))
    expect((await namesOf(store, 's3://lake/lake/many')).sort()).toEqual([...names].sort())
    double.forgetRequests()
    const results = await store.deleteMany(names)
    expect(results.map(({ location }) => location)).toEqual(names)
    expect(results.every(({ outcome }) => outcome === 'gone')).toBe(true)
    expect(double.requests().map(({ operation }) => operation)).toEqual(
      Array.from({ length: 3 }, () => 'delete-batch'),
    )
    expect(await namesOf(store, 's3://lake/lake/many')).toEqual([])
  })

  it('reads and writes without lists, looks or anything else around it', async () => {
    double.forgetRequests()
    await store.putIfAbsent('s3://lake/lake/hot', bytesOf('x'))
    await store.get('s3://lake/lake/hot')
    await store.prepareTableFolders('s3://lake/lake/t')
    expect(double.requests().map(({ operation }) => operation)).toEqual(['put', 'get'])
  })

  it('uploads a large file in parts and downloads it in pieces', async () => {
    const { bucket } = double
    const cut = { singlePutBytesMax: 6_000_000, partBytes: 5_242_880, pieceBytes: 1_000_000 }
    const cutting = openS3ObjectStore({ ...optionsOf(double), ...cut })
    const content = randomBytes(12_000_001)
    const path = join(directory, 'large')
    await writeFile(path, content)
    double.forgetRequests()
    expect(await cutting.putFileIfAbsent(`s3://${bucket}/large`, path)).toBe('created')
    const parts = double.requests().filter(({ operation }) => operation === 'upload-part')
    expect(parts).toHaveLength(3)
    expect(await cutting.putFileIfAbsent(`s3://${bucket}/large`, path)).toBe('exists')
    const copy = await cutting.localFile(`s3://${bucket}/large`, directory)
    expect(content.equals(await readFile(copy))).toBe(true)
    expect(double.openUploads()).toEqual([])
    cutting.close()
  })

  it('leaves no local file of a download that fails', async () => {
    await store.putIfAbsent('s3://lake/lake/half', bytesOf('0123456789'))
    const empty = await mkdtemp(join(directory, 'empty-'))
    const piecewise = openS3ObjectStore({ ...optionsOf(double), pieceBytes: 4 })
    const fault = { kind: 'status', status: 403, code: 'AccessDenied', skip: 1 } as const
    double.setFault(fault)
    const answer = piecewise.localFile('s3://lake/lake/half', empty)
    await expect(answer).rejects.toThrow(StoreUnavailableError)
    double.setFault(undefined)
    expect(await readdir(empty)).toEqual([])
    piecewise.close()
  })

  it('ends a call that waits when its signal is aborted', async () => {
    await store.putIfAbsent('s3://lake/lake/slow', bytesOf('x'))
    double.setFault({ kind: 'hang' })
    double.forgetRequests()
    const abort = new AbortController()
    const answer = store.get('s3://lake/lake/slow', { signal: abort.signal })
    await waitFor(() => double.requests().length > 0, { timeoutMs: 5_000 })
    abort.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    double.setFault(undefined)
  })

  it('gives up on a server that is not there', async () => {
    const profile = { type: 's3', endpoint: 'http://127.0.0.1:9', region: 'x', pathStyle: true }
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const nowhere = openS3ObjectStore({ profile: { ...profile, type: 's3' }, credentials })
    await expect(nowhere.get('s3://lake/x')).rejects.toThrow(StoreUnavailableError)
    await expect(nowhere.stat('s3://lake/x')).rejects.toThrow(StoreUnavailableError)
    await expect(namesOf(nowhere, 's3://lake/x')).rejects.toThrow(StoreUnavailableError)
    expect(await nowhere.putIfAbsent('s3://lake/x', bytesOf('x'))).toBe('unknown')
    nowhere.close()
  })

  it('lets calls that run end when it is closed', async () => {
    const closing = openS3ObjectStore(optionsOf(double))
    await closing.putIfAbsent('s3://lake/closing', bytesOf('x'))
    double.setFault({ kind: 'delay', delayMs: 50 })
    const answer = closing.get('s3://lake/closing')
    closing.close()
    expect(await answer).toHaveLength(1)
    double.setFault(undefined)
  })
})

describe('stores of other kinds', () => {
  const withDouble = async (
    traits: DoubleTraits,
    use: (store: ReturnType<typeof openS3ObjectStore>, double: S3Double) => Promise<void>,
  ) => {
    const double = await openS3Double(traits)
    const store = openS3ObjectStore(optionsOf(double))
    try {
      await use(store, double)
    } finally {
      store.close()
      await double.close()
    }
  }

  it('looks before it writes where conditions are refused, also in uploads', async () => {
    await withDouble({ conditions: 'refused' }, async (store) => {
      expect(store.refusesConditions()).toBe(false)
      expect(await store.putIfAbsent('s3://lake/a', bytesOf('first'))).toBe('created')
      expect(await store.putIfAbsent('s3://lake/a', bytesOf('second'))).toBe('exists')
      expect(new TextDecoder().decode(await store.get('s3://lake/a'))).toBe('first')
      expect(store.refusesConditions()).toBe(true)
    })
    await withDouble({ conditions: 'refused', partBytesMin: 1 }, async (_, double) => {
      const store = openS3ObjectStore({ ...optionsOf(double), singlePutBytesMax: 2, partBytes: 2 })
      const path = join(await mkdtemp(join(tmpdir(), 'timelake-s3-')), 'file')
      await writeFile(path, 'abcdef')
      expect(await store.putFileIfAbsent('s3://lake/b', path)).toBe('created')
      expect(await store.putFileIfAbsent('s3://lake/b', path)).toBe('exists')
      store.close()
    })
  })

  it.each(['refused', 'refused-per-key'] as const)(
    'deletes one by one where batches are %s',
    async (batches) => {
      await withDouble({ batches }, async (store, double) => {
        const locations = ['s3://lake/a', 's3://lake/b']
        for (const location of locations) await store.putIfAbsent(location, bytesOf('x'))
        const gone = locations.map((location) => ({ location, outcome: 'gone' }))
        expect(await store.deleteMany(locations)).toEqual(gone)
        expect(double.objects().size).toBe(0)
        double.forgetRequests()
        await store.deleteMany(locations)
        const batchCount = double.requests().filter((r) => r.operation === 'delete-batch').length
        expect(batchCount).toBe(batches === 'refused' ? 0 : 1)
      })
    },
  )

  it('cuts parts out of whole objects where ranges are ignored', async () => {
    await withDouble({ ignoresRanges: true }, async (store) => {
      await store.putIfAbsent('s3://lake/a', bytesOf('0123456789'))
      const read = async (offset: number, lengthBytes: number) =>
        new TextDecoder().decode(await store.get('s3://lake/a', { range: { offset, lengthBytes } }))
      expect(await read(2, 3)).toBe('234')
      expect(await read(-3, 2)).toBe('78')
      expect(await read(10, 1)).toBe('')
    })
  })
})

describe('credentials', () => {
  let double: S3Double
  beforeAll(async () => {
    double = await openS3Double()
  })
  afterAll(() => double.close())

  it.each([
    ['a wrong secret', { secretAccessKey: 'wrong-secret' }, /secret key/],
    ['an unknown key', { accessKeyId: 'AKIAWRONG' }, /does not know the access key/],
  ])('says what is wrong with %s, and nothing that is secret', async (_, wrong, expected) => {
    const { profile, credentials } = optionsOf(double)
    const store = openS3ObjectStore({ profile, credentials: { ...credentials, ...wrong } })
    const calls = [
      () => store.get('s3://lake/x'),
      () => store.putIfAbsent('s3://lake/x', bytesOf('x')),
      () => namesOf(store, 's3://lake/x'),
    ]
    for (const call of calls) {
      const error = await call().catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(StoreUnavailableError)
      expect(String(error)).toMatch(expected)
      const shown = inspect(error, { depth: 10, showHidden: true })
      expect(shown).not.toMatch(/a secret of the request|Signature=|wrong-secret|StringToSign/)
      expect(shown).not.toContain(double.secretAccessKey)
    }
    store.close()
  })

  it('are those of the process when there are none, and a failure when it has none', async () => {
    const { profile } = optionsOf(double)
    const before = { ...process.env }
    try {
      process.env['AWS_ACCESS_KEY_ID'] = double.accessKeyId
      process.env['AWS_SECRET_ACCESS_KEY'] = double.secretAccessKey
      const store = openS3ObjectStore({ profile })
      expect(await store.putIfAbsent('s3://lake/own-identity', bytesOf('x'))).toBe('created')
      await store.delete('s3://lake/own-identity')
      store.close()
      delete process.env['AWS_ACCESS_KEY_ID']
      Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' })
      const poor = openS3ObjectStore({ profile })
      await expect(poor.get('s3://lake/x')).rejects.toThrow(/cannot find credentials/)
      await expect(namesOf(poor, 's3://lake/x')).rejects.toThrow(/cannot find credentials/)
      poor.close()
    } finally {
      process.env = before
    }
  })

  it('assumes a role, and again when its session has ended', async () => {
    const { profile, credentials } = optionsOf(double)
    const { endpoint: stsEndpoint, roleArn } = double
    const store = openS3ObjectStore({ profile: { ...profile, roleArn, stsEndpoint }, credentials })
    double.forgetRequests()
    expect(await store.putIfAbsent('s3://lake/role', bytesOf('x'))).toBe('created')
    await Promise.all([store.get('s3://lake/role'), namesOf(store, 's3://lake')])
    const assumed = () => double.requests().filter((r) => r.operation === 'assume-role').length
    expect(assumed()).toBe(1)
    double.endSessions()
    expect(await store.putIfAbsent('s3://lake/role2', bytesOf('x'))).toBe('created')
    expect(assumed()).toBe(2)
    double.endSessions()
    expect(await namesOf(store, 's3://lake')).toHaveLength(2)
    store.close()
  })
})

describe.skipIf(!hasServer)('a role on the real server', () => {
  it('is assumed', async () => {
    const { s3 } = testServices()
    const subject = openTestS3Store()
    if (s3?.roleArn === undefined || subject === undefined) return
    const { profile, credentials, location } = subject
    const { roleArn, endpoint: stsEndpoint } = s3
    const store = openS3ObjectStore({ profile: { ...profile, roleArn, stsEndpoint }, credentials })
    expect(await store.putIfAbsent(`${location}/a`, bytesOf('x'))).toBe('created')
    expect(await namesOf(store, location)).toEqual([`${location}/a`])
    store.close()
    await subject.remove()
  })
})

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

async function namesOf(store: ObjectStore, location: string): Promise<string[]> {
  const names: string[] = []
  for await (const entry of store.list(location)) names.push(entry.location)
  return names
}

function optionsOf({ endpoint, region, accessKeyId, secretAccessKey }: S3Double) {
  return {
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  } as const
}
