import { afterAll, beforeAll, expect, it } from 'vitest'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { openS3Double, type S3Double } from '@timelake/testing/open-s3-double'
import { waitFor } from '@timelake/testing/wait-for'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { SCHEMA } from '../test-bodies.ts'
import { member, textAt } from '../test-json.ts'

let s3: S3Double
let store: ReturnType<typeof openS3ObjectStore>
let catalog: TestCatalog
beforeAll(async () => {
  s3 = await openS3Double()
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  })
  catalog = await openTestCatalog({ stores: () => sameStoreForAll(store) })
  const body = {
    name: 'bucket',
    location: 's3://lake/w',
    storage: { type: 's3', endpoint, region },
  }
  expect((await catalog.call('POST', '/admin/v1/warehouses', { body })).status).toBe(201)
  const namespace = { namespace: ['ns'] }
  await catalog.call('POST', '/v1/bucket/namespaces', { body: namespace })
})
afterAll(async () => {
  await catalog.stop()
  store.close()
  await s3.close()
})

const metadataFiles = (location: string): string[] =>
  [...s3.objects().keys()]
    .map((key) => `s3://lake/${key}`)
    .filter((file) => file.startsWith(`${location}/`) && file.endsWith('.metadata.json'))

async function makeCleaned(name: string): Promise<{ path: string; location: string }> {
  const properties = {
    'write.metadata.previous-versions-max': '2',
    'write.metadata.delete-after-commit.enabled': 'TRUE',
  }
  const path = '/v1/bucket/namespaces/ns/tables'
  const body = { name, schema: SCHEMA, properties }
  const made = await catalog.call('POST', path, { body })
  expect(made.status, made.text).toBe(200)
  return { path: `${path}/${name}`, location: textAt(made.json, 'metadata', 'location') }
}

async function commitTimes(path: string, times: number): Promise<void> {
  for (let value = 0; value < times; value += 1) {
    const updates = [{ action: 'set-properties', updates: { value: String(value) } }]
    const answer = await catalog.call('POST', path, { body: { updates } })
    expect(answer.status, answer.text).toBe(200)
  }
}

async function namedFiles(path: string): Promise<string[]> {
  const { json } = await catalog.call('GET', path)
  const log = member(json, 'metadata', 'metadata-log') as { 'metadata-file': string }[]
  return [...log.map((entry) => entry['metadata-file']), textAt(json, 'metadata-location')].sort()
}

it('deletes from a bucket what falls out of the log, and nothing else', async () => {
  const { path, location } = await makeCleaned('cleaned')
  await commitTimes(path, 6)
  await waitFor(() => metadataFiles(location).length === 3, { timeoutMs: 10_000 })
  expect(metadataFiles(location).sort()).toEqual(await namedFiles(path))
})

it('does not mind clients that delete first, nor a store that fails a deletion', async () => {
  const { path, location } = await makeCleaned('raced')
  for (let round = 0; round < 4; round += 1) {
    await commitTimes(path, 1)
    const current = (await namedFiles(path)).at(-1)
    await store.deleteMany(metadataFiles(location).filter((file) => file !== current))
  }
  s3.setFault({
    kind: 'status',
    match: { operation: 'delete' },
    status: 403,
    code: 'AccessDenied',
  })
  await commitTimes(path, 4)
  s3.setFault(undefined)
  expect((await catalog.call('GET', path)).status).toBe(200)
  expect(metadataFiles(location)).toEqual(expect.arrayContaining([(await namedFiles(path)).at(-1)]))
})
