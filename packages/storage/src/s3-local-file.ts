import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from './contained-path.ts'
import { type GetOptions, StoreUnavailableError } from './object-store.ts'
import { runBounded } from './run-bounded.ts'
import type { S3Client } from './s3-client.ts'
import { readPart } from './s3-read.ts'

const PIECES_IN_FLIGHT_MAX = 4

export interface DownloadRequest {
  readonly location: string
  readonly directory: string
  readonly signal: AbortSignal | undefined
  /** Length of the pieces that are read at the same time. */
  readonly pieceBytes: number
}

/**
 * A new file in the directory with the object's content; there is none when it fails. Errors: those of reading;
 * StoreUnavailableError when the object was replaced meanwhile or the file cannot be written.
 */
export async function downloadObject(client: S3Client, request: DownloadRequest): Promise<string> {
  const { location, directory, signal, pieceBytes } = request
  const range = { offset: 0, lengthBytes: pieceBytes }
  const first = await readPart(client, location, { range, ...withSignal(signal) })
  const path = join(directory, randomUUID())
  const file = await open(path, 'wx').catch((error: unknown) => {
    throw writeError(path, error)
  })
  try {
    await writePiece(file, 0, first.bytes)
    await downloadRest(client, request, { file, first })
  } catch (error) {
    await rm(path, { force: true })
    throw errorCode(error) === undefined ? error : writeError(path, error)
  } finally {
    await file.close()
  }
  return path
}

interface Download {
  readonly file: FileHandle
  readonly first: { readonly sizeBytes: number; readonly etag: string | undefined }
}

async function downloadRest(
  client: S3Client,
  { location, signal, pieceBytes }: DownloadRequest,
  { file, first }: Download,
): Promise<void> {
  const pieceCount = Math.ceil(first.sizeBytes / pieceBytes)
  const indexes = Array.from({ length: Math.max(0, pieceCount - 1) }, (_, index) => index + 1)
  await runBounded(indexes, PIECES_IN_FLIGHT_MAX, async (index) => {
    const offset = index * pieceBytes
    const lengthBytes = Math.min(pieceBytes, first.sizeBytes - offset)
    const piece = await readPart(client, location, {
      range: { offset, lengthBytes },
      ...withSignal(signal),
    })
    if (piece.etag !== first.etag || piece.sizeBytes !== first.sizeBytes) {
      throw new StoreUnavailableError(`cannot read ${location}: it was replaced meanwhile`)
    }
    await writePiece(file, offset, piece.bytes)
  })
}

async function writePiece(file: FileHandle, offset: number, bytes: Uint8Array): Promise<void> {
  let doneBytes = 0
  while (doneBytes < bytes.length) {
    const { bytesWritten } = await file.write(
      bytes,
      doneBytes,
      bytes.length - doneBytes,
      offset + doneBytes,
    )
    doneBytes += bytesWritten
  }
}

function writeError(path: string, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(`write ${path}: ${errorCode(cause) ?? 'failed'}`, { cause })
}

function withSignal(signal: AbortSignal | undefined): Pick<GetOptions, 'signal'> {
  return signal === undefined ? {} : { signal }
}
