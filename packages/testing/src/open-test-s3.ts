import { randomUUID } from 'node:crypto'
import type { ObjectStore } from '@timelake/storage/object-store'
import { openS3ObjectStore } from '@timelake/storage/s3-object-store'
import type { S3Credentials, S3Profile } from '@timelake/storage/storage-profile'
import { testServices } from './test-services.ts'

export interface TestS3Store {
  readonly store: ObjectStore
  /** `s3://bucket/<uuid>`: nothing is there yet, and only what lies below it is served. */
  readonly location: string
  readonly profile: S3Profile
  readonly credentials: S3Credentials
  /** Deletes what is below the location and closes the store. */
  remove(): Promise<void>
}

/** A new, empty place on the real S3 server of the environment; undefined when there is none (test-services.ts). */
export function openTestS3Store(): TestS3Store | undefined {
  const { s3 } = testServices()
  if (s3 === undefined) return undefined
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = s3
  const profile = { type: 's3', endpoint, region, pathStyle: true } as const
  const credentials = { accessKeyId, secretAccessKey }
  const location = `s3://${bucket}/${randomUUID()}`
  const store = openS3ObjectStore({ profile, credentials, roots: [location] })
  return {
    store,
    location,
    profile,
    credentials,
    async remove() {
      const locations: string[] = []
      for await (const entry of store.list(location)) locations.push(entry.location)
      await store.deleteMany(locations)
      store.close()
    },
  }
}
