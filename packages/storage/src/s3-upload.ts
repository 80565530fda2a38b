/*
 * A local file as one object: in one PUT when it is small, else in parts. The condition is on the call that completes
 * the parts; until then nothing is visible.
 */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
} from '@aws-sdk/client-s3'
import type { FileHandle } from 'node:fs/promises'
import {
  ObjectNotFoundError,
  ObjectTooLargeError,
  type PutOutcome,
  StoreUnavailableError,
} from './object-store.ts'
import { readFilePart } from './read-file-part.ts'
import { runBounded } from './run-bounded.ts'
import type { S3Client } from './s3-client.ts'
import { parseS3ObjectLocation, type S3Location } from './s3-location.ts'
import type { ConditionSupport } from './s3-put.ts'
import { readObject, statObject } from './s3-read.ts'
import { SdkCallError, type SdkClient, sdkUnavailable } from './s3-sdk-client.ts'
import { unavailable } from './s3-verdict.ts'

const PARTS_MAX = 10_000
const PARTS_IN_FLIGHT_MAX = 4

export interface UploadTools {
  readonly client: S3Client
  readonly sdk: SdkClient
  readonly support: ConditionSupport
  /** Of a part, unless PARTS_MAX of them are not enough for the file. */
  readonly partBytes: number
}

export interface UploadRequest {
  readonly location: string
  readonly file: FileHandle
  readonly sizeBytes: number
}

interface Upload extends S3Location {
  readonly id: string
}

/**
 * Uploads in parts; what was uploaded is dropped unless it became the object. Errors: LocationError;
 * StoreUnavailableError when the store refused, so nothing was created.
 */
export async function uploadObject(
  tools: UploadTools,
  request: UploadRequest,
): Promise<PutOutcome> {
  const { location } = request
  // A taken name is found out before a large file is sent; the condition at the end is what decides.
  if ((await statObject(tools.client, location)) !== undefined) return 'exists'
  const upload = await beginUpload(tools, location)
  let outcome: PutOutcome | undefined
  try {
    const parts = await uploadParts(tools, upload, request)
    outcome = await completeUpload(tools, { ...request, upload, parts })
    return outcome
  } finally {
    if (outcome !== 'created') await dropUpload(tools.sdk, upload)
  }
}

async function beginUpload({ sdk }: UploadTools, location: string): Promise<Upload> {
  const { bucket, key } = parseS3ObjectLocation(location)
  const command = new CreateMultipartUploadCommand({ Bucket: bucket, Key: key })
  const { UploadId: id } = await sdk
    .repeat((s3) => s3.send(command))
    .catch((error: unknown) => {
      throw sdkUnavailable(`begin the upload of ${location}`, error)
    })
  if (id === undefined) throw new StoreUnavailableError(`cannot upload ${location}: it got no id`)
  return { bucket, key, id }
}

async function uploadParts(
  tools: UploadTools,
  { bucket, key, id }: Upload,
  { location, file, sizeBytes }: UploadRequest,
): Promise<CompletedPart[]> {
  const partBytes = Math.max(tools.partBytes, Math.ceil(sizeBytes / PARTS_MAX))
  const numbers = Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, index) => index + 1)
  const parts: CompletedPart[] = []
  await runBounded(numbers, PARTS_IN_FLIGHT_MAX, async (number) => {
    const offset = (number - 1) * partBytes
    const lengthBytes = Math.min(partBytes, sizeBytes - offset)
    const body = await readFilePart(file, { offset, lengthBytes })
    const query = { partNumber: String(number), uploadId: id }
    const answer = await tools.client.send({ method: 'PUT', place: { bucket, key }, query, body })
    const ETag = answer.headers.etag
    if (answer.verdict !== 'ok' || ETag === undefined) {
      throw unavailable(`upload part ${number} of ${location}`, answer.facts)
    }
    parts[number - 1] = { PartNumber: number, ETag }
  })
  return parts
}

interface Completion extends UploadRequest {
  readonly upload: Upload
  readonly parts: CompletedPart[]
}

/** One attempt. When its fate is unknown, what is at the name is compared with the file. */
async function completeUpload(tools: UploadTools, completion: Completion): Promise<PutOutcome> {
  const { upload, parts, location } = completion
  const isPlain = tools.support.isRefused
  if (isPlain && (await statObject(tools.client, location)) !== undefined) return 'exists'
  const command = new CompleteMultipartUploadCommand({
    Bucket: upload.bucket,
    Key: upload.key,
    UploadId: upload.id,
    MultipartUpload: { Parts: parts },
    ...(isPlain ? {} : { IfNoneMatch: '*' }),
  })
  try {
    await tools.sdk.once((s3) => s3.send(command))
    return 'created'
  } catch (error) {
    if (!(error instanceof SdkCallError)) throw error
    return outcomeOfFailure(tools, completion, error)
  }
}

function outcomeOfFailure(
  tools: UploadTools,
  completion: Completion,
  { verdict, facts }: SdkCallError,
): Promise<PutOutcome> | PutOutcome {
  switch (verdict) {
    case 'exists':
      return 'exists'
    case 'ok':
    case 'try-again':
    case 'conflict':
      return readBack(tools, completion)
    case 'unsupported':
      if (tools.support.isRefused) break
      tools.support.isRefused = true
      return completeUpload(tools, completion)
    case 'absent':
    case 'expired':
    case 'no-bucket':
    case 'refused':
      break
  }
  throw unavailable(`complete the upload of ${completion.location}`, facts)
}

async function readBack(
  { client, partBytes }: UploadTools,
  request: UploadRequest,
): Promise<PutOutcome> {
  const { location, file, sizeBytes } = request
  try {
    const entry = await statObject(client, location)
    if (entry === undefined) return 'unknown'
    if (entry.sizeBytes !== sizeBytes) return 'exists'
    for (let offset = 0; offset < sizeBytes; offset += partBytes) {
      const range = { offset, lengthBytes: Math.min(partBytes, sizeBytes - offset) }
      const stored = await readObject(client, location, { range })
      if (!stored.equals(await readFilePart(file, range))) return 'exists'
    }
    return 'created'
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return 'exists'
    if (error instanceof ObjectNotFoundError || error instanceof StoreUnavailableError) {
      return 'unknown'
    }
    throw error
  }
}

/** The store drops forgotten uploads by its own rules where this fails; it must not hide what went wrong before. */
async function dropUpload(sdk: SdkClient, { bucket, key, id }: Upload): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id })
  await sdk.repeat((s3) => s3.send(command)).catch(() => undefined)
}
