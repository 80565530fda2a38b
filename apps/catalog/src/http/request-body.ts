import { Buffer } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { BodyTooLargeError, UnsupportedEncodingError } from './request-errors.ts'

const inflate = promisify(gunzip)

export interface BodyHeaders {
  readonly contentLength: string | undefined
  readonly contentEncoding: string | undefined
}

/**
 * Collects a request body and undoes its gzip encoding. At most `bytesMax` bytes are kept, counted both as sent and
 * as inflated. Throws BodyTooLargeError, UnsupportedEncodingError, and InvalidInputError for data that is not gzip.
 */
export async function readRequestBody(
  chunks: AsyncIterable<Uint8Array>,
  headers: BodyHeaders,
  bytesMax: number,
): Promise<Buffer> {
  const encoding = headers.contentEncoding?.trim().toLowerCase() ?? 'identity'
  if (!['identity', 'gzip', 'x-gzip', ''].includes(encoding)) {
    throw new UnsupportedEncodingError(encoding)
  }
  if (Number(headers.contentLength ?? 0) > bytesMax) throw new BodyTooLargeError(bytesMax)
  const sent = await collect(chunks, bytesMax)
  if (encoding === 'identity' || encoding === '' || sent.length === 0) return sent
  return inflateAtMost(sent, bytesMax)
}

async function collect(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let lengthBytes = 0
  for await (const chunk of chunks) {
    lengthBytes += chunk.length
    if (lengthBytes > bytesMax) throw new BodyTooLargeError(bytesMax)
    parts.push(chunk)
  }
  return Buffer.concat(parts, lengthBytes)
}

async function inflateAtMost(sent: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate(sent, { maxOutputLength: bytesMax })
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    if (isTooLarge) throw new BodyTooLargeError(bytesMax)
    throw new InvalidInputError('request body is not valid gzip data', undefined, { cause })
  }
}
