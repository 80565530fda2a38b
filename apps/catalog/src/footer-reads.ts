import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { type ObjectStore, ObjectNotFoundError } from '@timelake/storage/object-store'
import {
  decodeParquetFooter,
  footerSizeBytes,
  PARQUET_TAIL_SIZE_BYTES,
  type ParquetFooter,
} from '@timelake/timelake/footer/parquet-footer'
import { Slots } from './slots.ts'

/** Footers that are read at one time, for whatever table. */
export const FOOTER_READS_MAX = 16
/** A footer above this is not read, so that all that are read at one time fit into 128 MiB. */
export const FOOTER_BYTES_MAX = 8 * 1_048_576
/** Read at first; holds most footers whole. */
const FIRST_READ_BYTES = 64 * 1_024

export interface FileFooter {
  readonly footer: ParquetFooter
  readonly fileSizeBytes: bigint
}

/** Reads the footers of files that writers name. Calls beyond FOOTER_READS_MAX wait for their turn. */
export class FooterReads {
  readonly #slots = new Slots(FOOTER_READS_MAX)

  /**
   * The footer of a Parquet file and the file's size: two requests, three for a large footer, none of them for data. Throws
   * ObjectNotFoundError, CorruptFileError for anything but a Parquet file with a plain footer of at most FOOTER_BYTES_MAX,
   * and what the store throws.
   */
  read(store: ObjectStore, location: string): Promise<FileFooter> {
    return this.#slots.run(() => readFooter(store, normalizeLocation(location)))
  }
}

async function readFooter(store: ObjectStore, location: string): Promise<FileFooter> {
  const entry = await store.stat(location)
  if (entry === undefined) throw new ObjectNotFoundError(location)
  const { sizeBytes } = entry
  const readEnd = (lengthBytes: number): Promise<Uint8Array> => {
    const wanted = Math.min(lengthBytes, sizeBytes)
    return store.get(location, { range: { offset: sizeBytes - wanted, lengthBytes: wanted } })
  }
  if (sizeBytes < PARQUET_TAIL_SIZE_BYTES) throw new CorruptFileError('not a Parquet file')
  const end = await readEnd(FIRST_READ_BYTES)
  const neededBytes = footerSizeBytes(end) + PARQUET_TAIL_SIZE_BYTES
  if (neededBytes > FOOTER_BYTES_MAX) {
    throw new CorruptFileError(`its footer has ${neededBytes} bytes, more than are read here`)
  }
  const bytes = neededBytes <= end.length ? end : await readEnd(neededBytes)
  return { footer: decodeParquetFooter(bytes), fileSizeBytes: BigInt(sizeBytes) }
}
