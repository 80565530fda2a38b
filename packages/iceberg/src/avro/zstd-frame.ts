import type { ZstdFrameState } from './zstd-block.ts'
import { ZSTD_BLOCK_BYTES_MAX, appendBytes, decodeZstdBlock } from './zstd-block.ts'

const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50

/**
 * Decompresses Zstandard frames one after another (RFC 8878; no dictionaries, checksums are passed over). Written here
 * because the libraries for Node trust what a damaged block says and can spin for minutes: here time and memory are bounded by
 * `bytesMax`. Throws RangeError for damage and for outputs above `bytesMax`.
 */
export function zstdDecompress(bytes: Uint8Array, bytesMax: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  let position = 0
  let roomBytes = bytesMax
  while (position < bytes.length) {
    const magic = view.getUint32(position, true)
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      position += 8 + view.getUint32(position + 4, true)
      continue
    }
    if (magic !== MAGIC) throw new RangeError('expected a frame')
    const frame = readFrame(view, position, roomBytes)
    parts.push(frame.output)
    position = frame.end
    roomBytes -= frame.output.length
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : concat(parts)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let position = 0
  for (const part of parts) {
    whole.set(part, position)
    position += part.length
  }
  return whole
}

interface BlockHeader {
  readonly type: number
  readonly lengthBytes: number
  readonly start: number
  readonly end: number
}

/** Two passes: the block headers tell how much the frame can give, so that the output is allocated once. */
function readFrame(
  view: DataView,
  start: number,
  roomBytes: number,
): { output: Uint8Array; end: number } {
  const header = frameHeader(view, start)
  const { blocks, outputBytesMax } = readBlockHeaders(view, header.end)
  const outputBytes = header.contentBytes ?? outputBytesMax
  if (outputBytes > outputBytesMax)
    throw new RangeError('a content size above what the blocks can give')
  if (outputBytes > roomBytes) throw new RangeError(`expected at most ${roomBytes} bytes`)
  const state: ZstdFrameState = {
    output: new Uint8Array(outputBytes),
    length: 0,
    huffman: undefined,
    literalLengths: undefined,
    offsets: undefined,
    matchLengths: undefined,
    lastOffsets: [1, 4, 8],
  }
  for (const block of blocks) decodeBlock(view, block, state)
  if (header.contentBytes !== undefined && state.length !== header.contentBytes) {
    throw new RangeError(`expected ${header.contentBytes} bytes, got ${state.length}`)
  }
  const end = (blocks.at(-1)?.end ?? header.end) + (header.hasChecksum ? 4 : 0)
  if (end > view.byteLength) throw new RangeError('a frame that ends early')
  return { output: state.output.subarray(0, state.length), end }
}

function readBlockHeaders(
  view: DataView,
  start: number,
): { blocks: BlockHeader[]; outputBytesMax: number } {
  const blocks: BlockHeader[] = []
  let position = start
  let outputBytesMax = 0
  for (let isLast = false; !isLast;) {
    const head = view.getUint16(position, true) | (view.getUint8(position + 2) << 16)
    const type = (head >> 1) & 3
    const lengthBytes = head >> 3
    if (type === 3 || lengthBytes > ZSTD_BLOCK_BYTES_MAX)
      throw new RangeError('a block of unknown kind')
    const blockStart = position + 3
    position = blockStart + (type === 1 ? 1 : lengthBytes)
    if (position > view.byteLength) throw new RangeError('a block that ends early')
    outputBytesMax += type === 2 ? ZSTD_BLOCK_BYTES_MAX : lengthBytes
    blocks.push({ type, lengthBytes, start: blockStart, end: position })
    isLast = (head & 1) === 1
  }
  return { blocks, outputBytesMax }
}

function decodeBlock(view: DataView, block: BlockHeader, state: ZstdFrameState): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + block.start, block.end - block.start)
  if (block.type === 2) return decodeZstdBlock(bytes, state)
  appendBytes(
    state,
    block.type === 0 ? bytes : new Uint8Array(block.lengthBytes).fill(bytes[0] ?? 0),
  )
}

interface FrameHeader {
  readonly end: number
  readonly contentBytes: number | undefined
  readonly hasChecksum: boolean
}

function frameHeader(view: DataView, start: number): FrameHeader {
  const flags = view.getUint8(start + 4)
  if ((flags & 3) !== 0) throw new RangeError('expected no dictionary')
  if ((flags & 8) !== 0) throw new RangeError('reserved bits in a frame')
  const isSingle = (flags & 0x20) !== 0
  // The window does not matter: the whole output is kept until the frame ends.
  const position = start + (isSingle ? 5 : 6)
  const sizeBytes = flags >> 6 === 0 ? (isSingle ? 1 : 0) : 1 << (flags >> 6)
  const contentBytes = contentLength(view, position, sizeBytes)
  return { end: position + sizeBytes, contentBytes, hasChecksum: (flags & 4) !== 0 }
}

function contentLength(view: DataView, position: number, sizeBytes: number): number | undefined {
  switch (sizeBytes) {
    case 1:
      return view.getUint8(position)
    case 2:
      return view.getUint16(position, true) + 256
    case 4:
      return view.getUint32(position, true)
    case 8:
      return Number(view.getBigUint64(position, true))
    default:
      return undefined
  }
}
