import { ListObjectsV2Command, type ListObjectsV2CommandOutput } from '@aws-sdk/client-s3'
import { type ObjectEntry, StoreUnavailableError } from './object-store.ts'
import { parseS3Location } from './s3-location.ts'
import { type SdkClient, sdkUnavailable } from './s3-sdk-client.ts'

export const LIST_PAGE_KEYS = 1_000

/**
 * Every object below the prefix, page by page, in the store's order, which is none. Markers of folders (empty, with a
 * trailing slash) are no objects. Throws StoreUnavailableError, also for a bucket that does not exist.
 */
export async function* listObjects(sdk: SdkClient, prefix: string): AsyncIterable<ObjectEntry> {
  const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
  const { bucket, key: folderKey } = parseS3Location(folder)
  const seenTokens = new Set<string>()
  let token: string | undefined
  do {
    const page = await readPage(sdk, { prefix, bucket, folderKey, token })
    for (const { Key: key, Size: sizeBytes, LastModified: time } of page.Contents ?? []) {
      if (key === undefined || sizeBytes === undefined || time === undefined) {
        throw new StoreUnavailableError(`cannot list ${prefix}: an entry has no key, size or time`)
      }
      if (!key.startsWith(folderKey) || (key.endsWith('/') && sizeBytes === 0)) continue
      const location = folder + key.slice(folderKey.length)
      yield { location, sizeBytes, lastModifiedMs: time.getTime() }
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    if (page.IsTruncated === true && (token === undefined || seenTokens.has(token))) {
      throw new StoreUnavailableError(`cannot list ${prefix}: a page does not say where to go on`)
    }
    if (token !== undefined) seenTokens.add(token)
  } while (token !== undefined)
}

interface PageRequest {
  readonly prefix: string
  readonly bucket: string
  readonly folderKey: string
  readonly token: string | undefined
}

async function readPage(
  sdk: SdkClient,
  { prefix, bucket, folderKey, token }: PageRequest,
): Promise<ListObjectsV2CommandOutput> {
  const command = new ListObjectsV2Command({
    Bucket: bucket,
    Prefix: folderKey,
    MaxKeys: LIST_PAGE_KEYS,
    ...(token === undefined ? {} : { ContinuationToken: token }),
  })
  try {
    return await sdk.repeat((s3) => s3.send(command))
  } catch (error) {
    throw sdkUnavailable(`list ${prefix}`, error)
  }
}
