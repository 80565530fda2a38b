import { open } from 'node:fs/promises'
import { errorCode } from './contained-path.ts'
import { checkNewLocation } from './location-path.ts'
import { joinBytes } from './object-bytes.ts'
import {
  type ObjectEntry,
  type ObjectStore,
  type PutOutcome,
  StoreUnavailableError,
} from './object-store.ts'
import { readFilePart } from './read-file-part.ts'
import { openS3Client, type S3Client } from './s3-client.ts'
import { credentialSourceOf } from './s3-credential-source.ts'
import { deleteObject } from './s3-delete-object.ts'
import { downloadObject } from './s3-local-file.ts'
import { confineToRoots, parseS3Location } from './s3-location.ts'
import { putObject } from './s3-put.ts'
import { readObject, statObject } from './s3-read.ts'
import type { SdkClient } from './s3-sdk-client.ts'
import { DEFAULT_S3_SIZES, type S3Sizes } from './s3-sizes.ts'
import { DEFAULT_S3_TIMEOUTS, type S3Timeouts } from './s3-timeouts.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'

export interface S3ObjectStoreOptions extends Partial<S3Timeouts>, Partial<S3Sizes> {
  readonly profile: S3Profile
  /** Absent: the process's own identity. */
  readonly credentials?: S3Credentials
  /** Only what lies below one of these, such as `s3://bucket/prefix`, is served. Absent: everything. */
  readonly roots?: readonly string[]
  readonly nowMs?: () => number
  readonly random?: () => number
}

/**
 * Objects of an S3-compatible store, locations as `s3://bucket/key` with literal characters. Small calls are signed and sent
 * by ourselves; lists, batches and uploads in parts go through the AWS SDK, which is loaded at the first of them. Nothing
 * is opened before the first call; `close` lets calls that run go on.
 */
export function openS3ObjectStore(
  options: S3ObjectStoreOptions,
): ObjectStore & { refusesConditions(): boolean; close(): void } {
  const parts = openParts(options)
  const { client, sizes, sdk, support, batches } = parts
  const check = confineToRoots(options.roots)
  const checked = (location: string): string => {
    check(location)
    return location
  }
  const checkedNew = (location: string): string => {
    checkNewLocation(location)
    return checked(location)
  }
  return {
    get: async (location, getOptions) => readObject(client, checked(location), getOptions),
    stat: async (location) => statObject(client, checked(location)),
    putIfAbsent: async (location, bytes) =>
      putObject(client, { location: checkedNew(location), bytes: joinBytes(bytes) }, support),
    putFileIfAbsent: async (location, localPath) => putFile(parts, checkedNew(location), localPath),
    localFile: async (location, directory, signal) =>
      downloadObject(client, {
        location: checked(location),
        directory,
        signal,
        pieceBytes: sizes.pieceBytes,
      }),
    async delete(location) {
      if ((await statObject(client, checked(location))) === undefined) return 'absent'
      await deleteObject(client, location)
      return 'deleted'
    },
    async deleteMany(locations) {
      const { deleteObjects } = await import('./s3-delete-batch.ts')
      return deleteObjects({ client, sdk, support: batches, check }, locations)
    },
    list: (prefix) => list(sdk, checked, prefix),
    async prepareTableFolders(tableLocation) {
      parseS3Location(checkedNew(tableLocation))
    },
    refusesConditions: () => support.isRefused,
    close: () => parts.close(),
  }
}

interface StoreParts {
  readonly client: S3Client
  readonly sizes: S3Sizes
  readonly sdk: () => Promise<SdkClient>
  readonly support: { isRefused: boolean }
  readonly batches: { isRefused: boolean }
  close(): void
}

function openParts(options: S3ObjectStoreOptions): StoreParts {
  const { profile, nowMs = Date.now, random = Math.random } = options
  const { connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs, ...rest } = {
    ...DEFAULT_S3_TIMEOUTS,
    ...DEFAULT_S3_SIZES,
    ...options,
  }
  const timeouts = { connectTimeoutMs, firstByteTimeoutMs, idleTimeoutMs }
  const credentials = credentialSourceOf(profile, options.credentials, nowMs)
  const client = openS3Client({ profile, credentials, timeouts, nowMs, random })
  let clients: Promise<SdkClient> | undefined
  const openSdk = async (): Promise<SdkClient> => {
    const { openSdkClient } = await import('./s3-sdk-client.ts')
    return openSdkClient({ profile, credentials, timeouts, nowMs, random })
  }
  return {
    client,
    sizes: rest,
    sdk: () => (clients ??= openSdk()),
    support: { isRefused: false },
    batches: { isRefused: false },
    close() {
      client.close()
      void clients?.then((opened) => opened.close())
    },
  }
}

async function putFile(
  { client, sizes, sdk, support }: StoreParts,
  location: string,
  localPath: string,
): Promise<PutOutcome> {
  const file = await open(localPath, 'r').catch((cause: unknown) => {
    throw new StoreUnavailableError(`read ${localPath}: ${errorCode(cause) ?? 'failed'}`, { cause })
  })
  try {
    const { size: sizeBytes } = await file.stat()
    if (sizeBytes <= sizes.singlePutBytesMax) {
      const bytes = await readFilePart(file, { offset: 0, lengthBytes: sizeBytes })
      return await putObject(client, { location, bytes }, support)
    }
    const { uploadObject } = await import('./s3-upload.ts')
    return await uploadObject(
      { client, sdk: await sdk(), support, partBytes: sizes.partBytes },
      { location, file, sizeBytes },
    )
  } finally {
    await file.close()
  }
}

async function* list(
  sdk: StoreParts['sdk'],
  checked: (location: string) => string,
  prefix: string,
): AsyncIterable<ObjectEntry> {
  parseS3Location(checked(prefix))
  const { listObjects } = await import('./s3-list.ts')
  yield* listObjects(await sdk(), prefix)
}
