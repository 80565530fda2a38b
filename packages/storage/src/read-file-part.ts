import type { FileHandle } from 'node:fs/promises'
import { type ByteRange, StoreUnavailableError } from './object-store.ts'

/** Exactly these bytes of a local file. Throws StoreUnavailableError when the file ends before. */
export async function readFilePart(
  file: FileHandle,
  { offset, lengthBytes }: ByteRange,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(lengthBytes)
  let doneBytes = 0
  while (doneBytes < lengthBytes) {
    const { bytesRead } = await file.read(
      bytes,
      doneBytes,
      lengthBytes - doneBytes,
      offset + doneBytes,
    )
    if (bytesRead === 0) throw new StoreUnavailableError('a local file shrank while it was read')
    doneBytes += bytesRead
  }
  return bytes
}
