import { open, stat } from 'node:fs/promises'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import {
  decodeParquetFooter,
  footerSizeBytes,
  PARQUET_TAIL_SIZE_BYTES,
  type ParquetFooter,
} from '../footer/parquet-footer.ts'

/** Read at first; holds the footers of small files whole. */
const FIRST_READ_SIZE_BYTES = 64 * 1024

/**
 * The footer of a local file and the file's real size. At most two reads, none of the data.
 * Throws CorruptFileError naming the file.
 */
export async function readFooter(
  localPath: string,
): Promise<{ readonly footer: ParquetFooter; readonly fileSizeBytes: bigint }> {
  const { size } = await stat(localPath)
  const file = await open(localPath, 'r')
  const readEnd = async (lengthBytes: number): Promise<Uint8Array> => {
    const wanted = Math.min(lengthBytes, size)
    const { buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, size - wanted)
    return buffer
  }
  try {
    const end = await readEnd(FIRST_READ_SIZE_BYTES)
    const needed = footerSizeBytes(end) + PARQUET_TAIL_SIZE_BYTES
    const bytes = needed <= end.length ? end : await readEnd(needed)
    return { footer: decodeParquetFooter(bytes), fileSizeBytes: BigInt(size) }
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    throw new CorruptFileError(`cannot read the footer of ${localPath}`, { cause })
  } finally {
    await file.close()
  }
}
