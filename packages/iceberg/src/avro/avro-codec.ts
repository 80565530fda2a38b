import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { snappyUncompressor } from 'hysnappy'
import { CorruptFileError } from '../spec/errors.ts'
import { AVRO_BLOCK_BYTES_MAX } from './avro-limits.ts'
import { zstdDecompress } from './zstd-frame.ts'

const DEFLATE_LEVEL = 4
/** A little above the 64,000 bytes that most writers cut blocks at: output that fits into one piece is not copied. */
const INFLATE_PIECE_BYTES_MAX = 72 * 1024
const INFLATE_PIECE_BYTES_MIN = 1_024
const INFLATE_RATIO = 8
const CRC_BYTES = 4

/**
 * Decompresses one block. Codecs: null, deflate, snappy (with its CRC) and zstandard. Throws CorruptFileError for
 * damage, for an output above AVRO_BLOCK_BYTES_MAX and, naming codec and file, for any other codec.
 */
export function decompressBlock(codec: string, block: Uint8Array, what: string): Uint8Array {
  switch (codec) {
    case 'null':
      return block
    case 'deflate':
      return translate('deflate', what, () => inflate(block))
    case 'snappy':
      return translate('snappy', what, () => unsnappy(block))
    case 'zstandard':
      return translate('zstandard', what, () => zstdDecompress(block, AVRO_BLOCK_BYTES_MAX))
    default:
      throw new CorruptFileError(
        `cannot read ${what}: expected codec null, deflate, snappy or zstandard, got ${JSON.stringify(codec)}`,
      )
  }
}

/** Compresses one block as Avro's `deflate` (raw, no header). */
export function deflateBlock(block: Uint8Array): Uint8Array {
  return asPlainBytes(deflateRawSync(block, { level: DEFLATE_LEVEL }))
}

function translate(codec: string, what: string, run: () => Uint8Array): Uint8Array {
  try {
    return run()
  } catch (error) {
    throw new CorruptFileError(`cannot decompress a ${codec} block of ${what}`, { cause: error })
  }
}

function inflate(block: Uint8Array): Uint8Array {
  const wantedBytes = Math.max(INFLATE_PIECE_BYTES_MIN, block.length * INFLATE_RATIO)
  const chunkSize = Math.min(INFLATE_PIECE_BYTES_MAX, wantedBytes)
  return asPlainBytes(inflateRawSync(block, { chunkSize, maxOutputLength: AVRO_BLOCK_BYTES_MAX }))
}

function unsnappy(block: Uint8Array): Uint8Array {
  if (block.length <= CRC_BYTES) throw new RangeError('expected a checksum, got too few bytes')
  const body = block.subarray(0, block.length - CRC_BYTES)
  const lengthBytes = snappyLengthBytes(body)
  const bytes = lengthBytes === 0 ? new Uint8Array(0) : snappyUncompressor()(body, lengthBytes)
  const expected = new DataView(block.buffer, block.byteOffset + body.length, CRC_BYTES).getUint32(
    0,
  )
  if (crc32(bytes) !== expected) throw new RangeError('the checksum does not match')
  return bytes
}

/** The declared output length; checked before the decoder allocates it. */
function snappyLengthBytes(body: Uint8Array): number {
  let lengthBytes = 0
  for (let index = 0; index < 5; index += 1) {
    const byte = body[index]
    if (byte === undefined) break
    lengthBytes += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80 && lengthBytes <= AVRO_BLOCK_BYTES_MAX) return lengthBytes
    if (byte < 0x80) break
  }
  throw new RangeError(`expected a length of at most ${AVRO_BLOCK_BYTES_MAX} bytes`)
}

function asPlainBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
