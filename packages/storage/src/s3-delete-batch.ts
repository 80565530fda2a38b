import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { deleteEach } from './delete-each.ts'
import { type DeleteResult, LocationError, StoreUnavailableError } from './object-store.ts'
import type { S3Client } from './s3-client.ts'
import { deleteObject } from './s3-delete-object.ts'
import { parseS3ObjectLocation, type S3Location } from './s3-location.ts'
import { SdkCallError, type SdkClient, sdkUnavailable } from './s3-sdk-client.ts'

export const DELETE_BATCH_KEYS = 1_000
const STATUS_FORBIDDEN = 403
/** XML cannot carry these, so a batch cannot either. */
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\r\n\t]/

/** Whether batches are of use with a store. */
export interface BatchSupport {
  isRefused: boolean
}

export interface DeleteTools {
  readonly client: S3Client
  readonly sdk: () => Promise<SdkClient>
  readonly support: BatchSupport
  /** Throws LocationError. */
  readonly check: (location: string) => void
}

/**
 * Deletes in batches; what a batch cannot carry, or what the store refuses in one, is deleted one by one. A store that
 * does not know batches is not asked again.
 */
export async function deleteObjects(
  tools: DeleteTools,
  locations: readonly string[],
): Promise<DeleteResult[]> {
  const gone = new Set<string>()
  const failures = new Map<string, StoreUnavailableError>()
  for (const batch of batchesOf(tools, locations)) {
    if (tools.support.isRefused) break
    try {
      for (const key of await deleteBatch(tools, batch)) gone.add(locationOf(batch.bucket, key))
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
      for (const key of batch.keys) failures.set(locationOf(batch.bucket, key), error)
    }
  }
  return deleteEach(locations, async (location) => {
    if (gone.has(location)) return
    const failure = failures.get(location)
    if (failure !== undefined) throw failure
    tools.check(location)
    await deleteObject(tools.client, location)
  })
}

interface DeleteBatch {
  readonly bucket: string
  readonly keys: readonly string[]
}

/** What batches can carry, by bucket; what is refused or odd is left to the deletes one by one. */
function batchesOf({ check }: DeleteTools, locations: readonly string[]): DeleteBatch[] {
  const keysOf = new Map<string, Set<string>>()
  for (const location of locations) {
    const place = allowedPlace(check, location)
    if (place === undefined || NOT_IN_XML.test(place.key)) continue
    const keys = keysOf.get(place.bucket) ?? new Set()
    keysOf.set(place.bucket, keys.add(place.key))
  }
  return [...keysOf].flatMap(([bucket, found]) => {
    const keys = [...found]
    const batchCount = Math.ceil(keys.length / DELETE_BATCH_KEYS)
    return Array.from({ length: batchCount }, (_, index) => ({
      bucket,
      keys: keys.slice(index * DELETE_BATCH_KEYS, (index + 1) * DELETE_BATCH_KEYS),
    }))
  })
}

function allowedPlace(check: DeleteTools['check'], location: string): S3Location | undefined {
  try {
    check(location)
    return parseS3ObjectLocation(location)
  } catch (error) {
    if (error instanceof LocationError) return undefined
    throw error
  }
}

/** The keys that the store says are deleted; none when it refuses batches. Throws StoreUnavailableError. */
async function deleteBatch(
  { sdk, support }: DeleteTools,
  { bucket, keys }: DeleteBatch,
): Promise<readonly string[]> {
  const client = await sdk()
  const Objects = keys.map((Key) => ({ Key }))
  const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: false } })
  try {
    const answer = await client.repeat((s3) => s3.send(command))
    return (answer.Deleted ?? []).flatMap(({ Key }) => Key ?? [])
  } catch (error) {
    if (!(error instanceof SdkCallError) || error.verdict === 'try-again') {
      throw sdkUnavailable(`delete ${keys.length} objects of s3://${bucket}`, error)
    }
    // Credentials for a part of the bucket may be refused for a batch and allowed for its objects.
    if (error.facts.status !== STATUS_FORBIDDEN) support.isRefused = true
    return []
  }
}

function locationOf(bucket: string, key: string): string {
  return `s3://${bucket}/${key}`
}
