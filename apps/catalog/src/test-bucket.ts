import { randomUUID } from 'node:crypto'
import type { ObjectStore } from '@timelake/storage/object-store'
import { openWarehouseStores } from '@timelake/storage/open-warehouse-stores'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import { openSecretBox } from '@timelake/storage/secret-box'
import type { S3Credentials } from '@timelake/storage/storage-profile'
import { testServices } from '@timelake/testing/test-services'
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { DelegationMode } from './catalog/warehouse.ts'
import type { TestCatalog, TestCatalogOptions } from './open-test-catalog.ts'
import { openGuardedCatalog } from './test-accounts.ts'
import { SCHEMA } from './test-bodies.ts'
import { member, textAt } from './test-json.ts'

const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

/** Whether there is an S3 server whose STS cuts sessions. */
export const HAS_BUCKET = testServices().s3?.roleArn !== undefined
/** Why suites of delegated access are skipped where they are. */
export const NO_BUCKET = 'no S3 server with STS found (tools/services)'
/** The headers by which a client asks for credentials. */
export const VENDED = { 'x-iceberg-access-delegation': 'vended-credentials' }

export interface TestBucket {
  readonly catalog: TestCatalog
  /** The bucket with everybody's objects. */
  readonly store: ObjectStore
  /** The bucket as the holder of the keys sees it. */
  storeWith(credentials: S3Credentials): ObjectStore
  stop(): Promise<void>
}

/**
 * A guarded catalog on the real S3 server of the environment, with these warehouses, which give access in these ways and have
 * a namespace `ns` each. Throws when there is no such server.
 */
export async function openTestBucket(
  warehouses: Readonly<Record<string, readonly DelegationMode[]>>,
  options: TestCatalogOptions = {},
): Promise<TestBucket> {
  const { s3 } = testServices()
  if (s3?.roleArn === undefined) throw new Error(NO_BUCKET)
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, roleArn } = s3
  const profile = { type: 's3', endpoint, region, pathStyle: true } as const
  const credentials = { accessKeyId, secretAccessKey }
  const secretBox = openSecretBox({ key: SECRET_KEY })
  const stores = openWarehouseStores({ secretBox, localRootDirs: [], extraAllowedLocations: [] })
  const catalog = await openGuardedCatalog({ ...options, secretBox, stores: () => stores })
  const root = `s3://${bucket}/${randomUUID()}`
  const role = { 'role-arn': roleArn, 'sts-endpoint': endpoint }
  const keys = { 'access-key-id': accessKeyId, 'secret-access-key': secretAccessKey }
  for (const [name, delegation] of Object.entries(warehouses)) {
    const isKeyed = delegation.includes('static-keys')
    const storage = { type: 's3', endpoint, region, ...(isKeyed ? {} : role) }
    const access = { credentials: keys, delegation: [...delegation] }
    const body = { name, location: `${root}/${name}`, storage, ...access }
    const made = await catalog.call('POST', '/admin/v1/warehouses', { body })
    expect(made.status, made.text).toBe(201)
    const namespace = { namespace: ['ns'] }
    await catalog.call('POST', `/v1/${name}/namespaces`, { body: namespace })
  }
  const open = [openS3ObjectStore({ profile, credentials })]
  return {
    catalog,
    store: open[0] as ObjectStore, // `as`: the list was made with one
    storeWith(held) {
      const store = openS3ObjectStore({ profile, credentials: held })
      open.push(store)
      return store
    },
    async stop() {
      await catalog.stop()
      const [all] = open
      const locations: string[] = []
      for await (const { location } of all?.list(root) ?? []) locations.push(location)
      await all?.deleteMany(locations)
      for (const store of open) store.close()
      stores.close()
    },
  }
}

/** The keys in a table's config, or in one of its storage credentials. */
export function keysIn(config: JsonValue | undefined): S3Credentials {
  return {
    accessKeyId: textAt(config, 's3.access-key-id'),
    secretAccessKey: textAt(config, 's3.secret-access-key'),
    sessionToken: textAt(config, 's3.session-token'),
  }
}

/** The only storage credential of an answer. */
export function onlyCredential(json: JsonValue | undefined): JsonObject {
  const credentials = member(json, 'storage-credentials')
  expect(credentials).toHaveLength(1)
  return (credentials as readonly JsonObject[])[0] as JsonObject // `as`: it has one, an object
}

/** The body that makes a table. */
export function tableNamed(name: string, more: JsonObject = {}): JsonObject {
  return { name, schema: SCHEMA, ...more }
}
