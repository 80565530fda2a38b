/*
 * Reading objects: whole or in part, and looking them up. "Absent" is said only when the store says so of the object.
 */
import {
  type ByteRange,
  type GetOptions,
  type ObjectEntry,
  ObjectNotFoundError,
  ObjectTooLargeError,
  StoreUnavailableError,
} from './object-store.ts'
import { resolveRange } from './resolve-range.ts'
import type { S3Answer, S3Client } from './s3-client.ts'
import type { HttpHead } from './s3-exchange.ts'
import { parseS3ObjectLocation } from './s3-location.ts'
import { unavailable } from './s3-verdict.ts'

/** A range that begins this far from the end is read to the end and cut; a longer one is looked up first. */
const SUFFIX_BYTES_MAX = 65_536
/** What is read of an object whose store ignores ranges. */
const IGNORED_RANGE_BYTES_MAX = 67_108_864
const STATUS_PARTIAL = 206
const STATUS_BEYOND_END = 416

/** The object's bytes. Errors: ObjectNotFoundError, ObjectTooLargeError, LocationError, StoreUnavailableError, the signal's reason. */
export async function readObject(
  client: S3Client,
  location: string,
  options: GetOptions = {},
): Promise<Buffer> {
  options.signal?.throwIfAborted()
  const { range } = options
  if (range === undefined) return (await readPart(client, location, options)).bytes
  const isFarSuffix = range.offset < -SUFFIX_BYTES_MAX && range.lengthBytes < -range.offset
  if (range.lengthBytes > 0 && !isFarSuffix) {
    return (await readPart(client, location, options)).bytes
  }
  const entry = await statObject(client, location)
  if (entry === undefined) throw new ObjectNotFoundError(location)
  const { startBytes, endBytes } = resolveRange(entry.sizeBytes, range)
  if (endBytes === startBytes) return Buffer.alloc(0)
  const absolute = { offset: startBytes, lengthBytes: endBytes - startBytes }
  return (await readPart(client, location, { ...options, range: absolute })).bytes
}

export interface ObjectPart {
  readonly bytes: Buffer
  /** Of the whole object. */
  readonly sizeBytes: number
  readonly etag: string | undefined
}

/** A part, with what the answer said of the whole. An empty range is not asked for. Errors as readObject. */
export async function readPart(
  client: S3Client,
  location: string,
  options: GetOptions,
): Promise<ObjectPart> {
  const { range, signal } = options
  const place = parseS3ObjectLocation(location)
  const headers: Record<string, string> = range === undefined ? {} : { range: rangeHeader(range) }
  const checkHead = (head: HttpHead): void => checkSize(location, head, options)
  const answer = await client.send({ method: 'GET', place, headers, signal, checkHead })
  const etag = answer.headers.etag
  if (answer.status === STATUS_BEYOND_END && range !== undefined) {
    return { bytes: Buffer.alloc(0), sizeBytes: totalBytesOf(answer) ?? 0, etag }
  }
  switch (answer.verdict) {
    case 'ok':
      return { ...cutPart(location, answer, range), etag }
    case 'absent':
      throw new ObjectNotFoundError(location)
    case 'exists':
    case 'conflict':
    case 'unsupported':
    case 'try-again':
    case 'expired':
    case 'no-bucket':
    case 'refused':
      throw unavailable(`read ${location}`, answer.facts)
  }
}

function rangeHeader({ offset, lengthBytes }: ByteRange): string {
  return offset < 0 ? `bytes=${offset}` : `bytes=${offset}-${offset + lengthBytes - 1}`
}

function checkSize(location: string, head: HttpHead, { range, sizeBytesMax }: GetOptions): void {
  if (head.status >= 300) return
  const lengthBytes = Number(head.headers['content-length'])
  if (!Number.isSafeInteger(lengthBytes)) {
    throw new StoreUnavailableError(`cannot read ${location}: the answer has no length`)
  }
  const isWhole = head.status !== STATUS_PARTIAL
  const totalBytes = isWhole ? lengthBytes : totalBytesOf(head)
  const { startBytes, endBytes } = resolveRange(totalBytes ?? lengthBytes, range)
  const wantedBytes = endBytes - startBytes
  if (wantedBytes > (sizeBytesMax ?? Infinity)) {
    throw new ObjectTooLargeError(
      `cannot read ${location}: expected at most ${sizeBytesMax} bytes, found ${wantedBytes}`,
    )
  }
  if (range !== undefined && isWhole && lengthBytes > IGNORED_RANGE_BYTES_MAX) {
    throw new StoreUnavailableError(`cannot read a part of ${location}: the store ignores ranges`)
  }
}

/** The size after the slash of `Content-Range: bytes 0-3/10`. */
function totalBytesOf({ headers }: HttpHead): number | undefined {
  const text = /\/(\d+)$/.exec(headers['content-range'] ?? '')?.[1]
  return text === undefined ? undefined : Number(text)
}

function cutPart(
  location: string,
  answer: S3Answer,
  range: ByteRange | undefined,
): { bytes: Buffer; sizeBytes: number } {
  const { body } = answer
  if (answer.status !== STATUS_PARTIAL) {
    const { startBytes, endBytes } = resolveRange(body.length, range)
    return { bytes: body.subarray(startBytes, endBytes), sizeBytes: body.length }
  }
  const contentRange = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(answer.headers['content-range'] ?? '')
  const [firstBytes, lastBytes, sizeBytes] = (contentRange ?? []).slice(1).map(Number)
  if (firstBytes === undefined || lastBytes === undefined || sizeBytes === undefined) {
    throw new StoreUnavailableError(`cannot read ${location}: the answer names no range`)
  }
  const { startBytes, endBytes } = resolveRange(sizeBytes, range)
  const bytes = body.subarray(startBytes - firstBytes, endBytes - firstBytes)
  if (firstBytes > startBytes || bytes.length !== endBytes - startBytes) {
    throw new StoreUnavailableError(
      `cannot read ${location}: expected bytes ${startBytes} to ${endBytes}, found ${firstBytes} to ${lastBytes + 1}`,
    )
  }
  return { bytes, sizeBytes }
}

/** Size and time, or undefined when the store says that the object is absent. Errors as readObject. */
export async function statObject(
  client: S3Client,
  location: string,
): Promise<ObjectEntry | undefined> {
  const place = parseS3ObjectLocation(location)
  const answer = await client.send({ method: 'HEAD', place })
  if (answer.verdict === 'ok') {
    return entryOf(location, answer, Number(answer.headers['content-length']))
  }
  // Answers to HEAD have no code: whether the object, its bucket or a right is missing only a GET tells.
  if (answer.status < 400 || answer.verdict === 'try-again') {
    throw unavailable(`look up ${location}`, answer.facts)
  }
  const headers = { range: 'bytes=0-0' }
  const second = await client.send({ method: 'GET', place, headers, checkHead: refuseLargeBody })
  if (second.verdict === 'absent') return undefined
  const sizeBytes = second.status === STATUS_PARTIAL ? totalBytesOf(second) : second.body.length
  if (second.verdict !== 'ok' || sizeBytes === undefined) {
    throw unavailable(`look up ${location}`, second.facts)
  }
  return entryOf(location, second, sizeBytes)
}

/** A store that ignores the range of one byte sends the whole object. */
function refuseLargeBody({ status, headers }: HttpHead): void {
  if (status >= 300 || Number(headers['content-length']) <= IGNORED_RANGE_BYTES_MAX) return
  throw new StoreUnavailableError('cannot look up an object: the store ignores ranges')
}

function entryOf(location: string, { headers }: HttpHead, sizeBytes: number): ObjectEntry {
  const lastModifiedMs = Date.parse(headers['last-modified'] ?? '')
  if (!Number.isSafeInteger(sizeBytes) || Number.isNaN(lastModifiedMs)) {
    throw new StoreUnavailableError(`cannot look up ${location}: the answer has no size or no time`)
  }
  return { location, sizeBytes, lastModifiedMs }
}
