import { afterEach, expect, it } from 'vitest'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { openS3Double } from '@timelake/testing/open-s3-double'
import { waitFor } from '@timelake/testing/wait-for'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { textAt } from '../test-json.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function openBucketCatalog(conditions: 'honoured' | 'ignored'): Promise<TestCatalog> {
  const s3 = await openS3Double({ conditions })
  closers.push(() => s3.close())
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const store = openS3ObjectStore({
    profile: { type: 's3', endpoint, region, pathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
  })
  closers.push(async () => store.close())
  const catalog = await openTestCatalog({ stores: () => sameStoreForAll(store) })
  closers.push(() => catalog.stop())
  const storage = { type: 's3', endpoint, region }
  const body = { name: 'bucket', location: 's3://lake/w', storage }
  expect((await catalog.call('POST', '/admin/v1/warehouses', { body })).status).toBe(201)
  const namespace = { namespace: ['ns'] }
  await catalog.call('POST', '/v1/bucket/namespaces', { body: namespace })
  return catalog
}

const warnings = (catalog: TestCatalog): string[] =>
  catalog.log.filter((line) => line.includes('the store of a warehouse lacks something'))

it('says once that a store ignores conditions, and two racing commits still have one winner', async () => {
  const catalog = await openBucketCatalog('ignored')
  await waitFor(() => warnings(catalog).length > 0, { timeoutMs: 20_000 })
  const tables = '/v1/bucket/namespaces/ns/tables'
  const made = await catalog.call('POST', tables, { body: { name: 't', schema: SCHEMA } })
  expect(made.status, made.text).toBe(200)
  const location = textAt(made.json, 'metadata', 'location')
  const append = (id: bigint) =>
    catalog.call('POST', `${tables}/t`, { body: appendBody({ id, sequenceNumber: 1n, location }) })
  const answers = await Promise.all([1n, 2n, 3n].map(append))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  expect(warnings(catalog)).toHaveLength(1)
  expect(warnings(catalog)[0]).toContain('conditional-put')
})

it('says nothing of a store that does what is needed', async () => {
  const catalog = await openBucketCatalog('honoured')
  // Stopping waits for what runs in the background.
  await catalog.stop()
  closers.pop()
  expect(warnings(catalog)).toEqual([])
})
