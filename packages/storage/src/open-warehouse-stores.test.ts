import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LocationError, StoreUnavailableError } from './object-store.ts'
import { OPEN_STORES_MAX, openWarehouseStores } from './open-warehouse-stores.ts'
import { noSecretBox, openSecretBox, type SecretBox } from './secret-box.ts'
import {
  encodeS3Credentials,
  encodeStorageProfile,
  StorageProfileError,
} from './storage-profile.ts'
import type { StoredWarehouse } from './warehouse-stores.ts'

const bytes = new TextEncoder().encode('x')
const key = Buffer.alloc(32, 7).toString('base64')
const SECRET = 'a-secret-that-must-not-show'

let directory: string
let double: S3Double

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'timelake-stores-')))
  await mkdir(join(directory, 'inside'))
  await mkdir(join(directory, 'outside'))
  await symlink(join(directory, 'outside'), join(directory, 'inside', 'link'))
  double = await openS3Double()
})

afterAll(async () => {
  await rm(directory, { recursive: true })
  await double.close()
})

const open = (options: Partial<Parameters<typeof openWarehouseStores>[0]> = {}) =>
  openWarehouseStores({
    secretBox: openSecretBox({ key }),
    localRootDirs: [join(directory, 'inside')],
    extraAllowedLocations: [],
    ...options,
  })

const fileWarehouse = (more: Partial<StoredWarehouse> = {}): StoredWarehouse => ({
  id: 'w-file',
  location: `file://${directory}/inside/w`,
  storageProfile: encodeStorageProfile({ type: 'file' }),
  sealedCredentials: undefined,
  version: 1n,
  ...more,
})

const bucketWarehouse = (more: Partial<StoredWarehouse> = {}): StoredWarehouse => ({
  id: 'w-s3',
  location: `s3://${double.bucket}/w`,
  storageProfile: encodeStorageProfile({
    type: 's3',
    endpoint: double.endpoint,
    region: double.region,
    pathStyle: true,
  }),
  sealedCredentials: openSecretBox({ key }).seal(
    encodeS3Credentials({
      accessKeyId: double.accessKeyId,
      secretAccessKey: double.secretAccessKey,
    }),
    more.id ?? 'w-s3',
  ),
  version: 1n,
  ...more,
})

function caught(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a warehouse of files', () => {
  it('is served below its location and nowhere else', async () => {
    const { location } = fileWarehouse()
    const store = open().storeOf(fileWarehouse())
    expect(await store.putIfAbsent(`${location}/a`, bytes)).toBe('created')
    await expect(store.get(`file://${directory}/inside/v/a`)).rejects.toThrow(LocationError)
  })

  it('is served at what the process and the warehouse allow besides, inside the directories', async () => {
    const allowed = `file://${directory}/inside/extra`
    const own = `file://${directory}/inside/own`
    const foreign = `file://${directory}/outside`
    const settings = JSON.stringify({ allowedLocations: [own, foreign] })
    const stores = open({ extraAllowedLocations: [allowed] })
    const store = stores.storeOf(fileWarehouse({ settings }))
    expect(await store.putIfAbsent(`${allowed}/a`, bytes)).toBe('created')
    expect(await store.putIfAbsent(`${own}/a`, bytes)).toBe('created')
    await expect(store.putIfAbsent(`${foreign}/a`, bytes)).rejects.toThrow(LocationError)
  })

  it.each(['outside', 'inside2', 'inside/link', 'inside/../outside', ''])(
    'is refused outside the directories: %j',
    (path) => {
      const location = `file://${directory}/${path}`
      const error = caught(() => open().storeOf(fileWarehouse({ location })))
      expect(error).toBeInstanceOf(StorageProfileError)
      expect(String(error)).toContain('w-file')
    },
  )

  it('is refused when there are no directories', () => {
    const stores = open({ localRootDirs: [] })
    expect(() => stores.storeOf(fileWarehouse())).toThrow(StorageProfileError)
  })

  it('is refused at a location that is none of this machine', () => {
    const warehouse = fileWarehouse({ location: 's3://lake/w' })
    expect(() => open().storeOf(warehouse)).toThrow(StorageProfileError)
  })
})

describe('a warehouse of objects', () => {
  it('is served with its own credentials, below its location and what is allowed besides', async () => {
    const settings = JSON.stringify({ allowedLocations: ['s3a://lake/own/'] })
    const stores = open({ extraAllowedLocations: ['s3://lake/extra', 'file:///x'] })
    const store = stores.storeOf(bucketWarehouse({ settings }))
    for (const folder of ['w', 'own', 'extra']) {
      expect(await store.putIfAbsent(`s3://lake/${folder}/a`, bytes)).toBe('created')
    }
    await expect(store.get('s3://lake/other/a')).rejects.toThrow(LocationError)
    await expect(store.get('file:///x/a')).rejects.toThrow(LocationError)
    stores.close()
  })

  it('is served with the keys of the process when it has none', async () => {
    const { accessKeyId, secretAccessKey, endpoint } = double
    const stores = open({
      secretBox: noSecretBox(),
      defaultCredentials: {
        endpoint,
        location: undefined,
        credentials: { accessKeyId, secretAccessKey },
      },
    })
    const store = stores.storeOf(bucketWarehouse({ sealedCredentials: undefined }))
    expect(await store.putIfAbsent('s3://lake/w/default', bytes)).toBe('created')
    stores.close()
  })

  it('is not served with them at another endpoint than theirs', async () => {
    // The process's own identity, which the store does not know.
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'SOMEBODY')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'else')
    const { accessKeyId, secretAccessKey } = double
    const endpoint = 'https://store.example'
    const stores = open({
      defaultCredentials: {
        endpoint,
        location: 's3://lake/home',
        credentials: { accessKeyId, secretAccessKey },
      },
    })
    const store = stores.storeOf(bucketWarehouse({ sealedCredentials: undefined }))
    await expect(store.get('s3://lake/w/default')).rejects.toThrow(StoreUnavailableError)
    vi.unstubAllEnvs()
    stores.close()
  })

  it.each<[string, () => SecretBox]>([
    ['another key', () => openSecretBox({ key: Buffer.alloc(32, 8).toString('base64') })],
    ['no key', noSecretBox],
  ])('is refused by a process with %s, by its id and without its secret', (_, secretBox) => {
    const error = caught(() => open({ secretBox: secretBox() }).storeOf(bucketWarehouse()))
    expect(error).toBeInstanceOf(StorageProfileError)
    expect(String(error)).toContain('w-s3')
    expect(inspect(error, { depth: 10 })).not.toContain(double.secretAccessKey)
  })

  it.each([SECRET, `{"access-key-id":"${SECRET}"`, `{"secret":"${SECRET}"}`])(
    'does not show credentials that are malformed: %j',
    (text) => {
      const sealedCredentials = openSecretBox({ key }).seal(text, 'w-s3')
      const error = caught(() => open().storeOf(bucketWarehouse({ sealedCredentials })))
      expect(error).toBeInstanceOf(StorageProfileError)
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
    },
  )

  it('is refused when its credentials were sealed for another one', () => {
    const { sealedCredentials } = bucketWarehouse({ id: 'w-other' })
    expect(() => open().storeOf(bucketWarehouse({ sealedCredentials }))).toThrow(
      StorageProfileError,
    )
  })
})

describe('stores that are kept', () => {
  const countingBox = (): SecretBox & { openCount: () => number } => {
    const box = openSecretBox({ key })
    let count = 0
    return {
      ...box,
      open(sealed, context) {
        count += 1
        return box.open(sealed, context)
      },
      openCount: () => count,
    }
  }

  it('opens a store and its credentials once for a row', () => {
    const secretBox = countingBox()
    const stores = open({ secretBox })
    const store = stores.storeOf(bucketWarehouse())
    expect(stores.storeOf(bucketWarehouse())).toBe(store)
    expect(secretBox.openCount()).toBe(1)
    stores.close()
  })

  it('opens another one when the row changes, and stays with the newer one', () => {
    const secretBox = countingBox()
    const stores = open({ secretBox })
    const first = stores.storeOf(bucketWarehouse())
    const second = stores.storeOf(bucketWarehouse({ version: 2n }))
    expect(second).not.toBe(first)
    expect(stores.storeOf(bucketWarehouse({ version: 1n }))).toBe(second)
    expect(secretBox.openCount()).toBe(2)
    stores.close()
  })

  it('keeps the store that works when a newer row cannot be served', () => {
    const stores = open()
    const first = stores.storeOf(bucketWarehouse())
    const broken = bucketWarehouse({ version: 2n, storageProfile: '{"type":"tape"}' })
    expect(() => stores.storeOf(broken)).toThrow(StorageProfileError)
    expect(stores.storeOf(bucketWarehouse())).toBe(first)
    stores.close()
  })

  it('lets calls of a replaced store end', async () => {
    const stores = open()
    const first = stores.storeOf(bucketWarehouse())
    await first.putIfAbsent('s3://lake/w/replaced', bytes)
    double.setFault({ kind: 'delay', delayMs: 50 })
    const answer = first.get('s3://lake/w/replaced')
    stores.storeOf(bucketWarehouse({ version: 2n }))
    expect(await answer).toHaveLength(1)
    double.setFault(undefined)
    stores.close()
  })

  it('keeps a bounded number, those that were asked for last', () => {
    const stores = open()
    const warehouse = (index: number) =>
      fileWarehouse({ id: `w-${index}`, location: `file://${directory}/inside/${index}` })
    const first = stores.storeOf(warehouse(0))
    const second = stores.storeOf(warehouse(1))
    for (let index = 2; index < OPEN_STORES_MAX; index += 1) stores.storeOf(warehouse(index))
    expect(stores.storeOf(warehouse(0))).toBe(first)
    stores.storeOf(warehouse(OPEN_STORES_MAX))
    expect(stores.storeOf(warehouse(0))).toBe(first)
    expect(stores.storeOf(warehouse(1))).not.toBe(second)
  })
})
