import { Buffer } from 'node:buffer'
import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'

const deflate = promisify(deflateRaw)
/** Fast levels give up a tenth of the size for a third of the time. */
const LEVEL = 4

/** The compressed beginning of a body whose end is not known yet. */
export interface DeflatedHead {
  /** Deflate blocks that end on a byte, none of which is the last. */
  readonly blocks: Buffer
  readonly crc: number
  readonly sizeBytes: number
}

/** Compresses the beginning of a body outside the event loop. */
export async function deflateHead(head: Buffer): Promise<DeflatedHead> {
  const blocks = await deflate(head, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH })
  return { blocks, crc: crc32(head), sizeBytes: head.length }
}

/** Magic, deflate, no flags, no time, no extra flags, unknown system. Spec: RFC 1952, 2.3. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])

/**
 * A gzip file of the head and the tail: one member, because some clients read the first one alone. The tail refers to nothing
 * in the head, so its blocks follow as they are.
 */
export function gzipWithTail(head: DeflatedHead, tail: Buffer): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(tail, head.crc), 0)
  trailer.writeUInt32LE((head.sizeBytes + tail.length) >>> 0, 4)
  return Buffer.concat([GZIP_HEADER, head.blocks, deflateRawSync(tail), trailer])
}
