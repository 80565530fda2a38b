import { gunzipSync } from 'node:zlib'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'

/** A metadata file above this, uncompressed, is not read. */
export const METADATA_BYTES_MAX = 1024 * 1024 * 1024

/** Reads an object; undefined when it is not there. */
export type ReadIfPresent = (
  location: string,
  options: { readonly sizeBytesMax: number; readonly signal?: AbortSignal },
) => Promise<Uint8Array | undefined>

/** A metadata file, plain or gzip; undefined when it is not there. Errors: those of `read`, CorruptFileError. */
export async function readTableMetadata(
  read: ReadIfPresent,
  location: string,
  signal: AbortSignal,
): Promise<TableMetadata | undefined> {
  const bytes = await read(location, { sizeBytesMax: METADATA_BYTES_MAX, signal })
  return bytes && decodeTableMetadata(unzipped(bytes, location))
}

function unzipped(bytes: Uint8Array, location: string): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: METADATA_BYTES_MAX })
  } catch (cause) {
    throw new CorruptFileError(`cannot unzip metadata file ${location}`, { cause })
  }
}
