import { decompress } from 'fzstd'

const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
const BLOCK_BYTES_MAX = 128 * 1024
const WINDOW_BYTES_MAX = 128 * 1024 * 1024

/**
 * Decompresses Zstandard frames (RFC 8878) after checking by their headers that neither the window nor the output
 * can exceed `bytesMax`, since the decoder allocates what a header declares. Throws RangeError or the decoder's error.
 */
export function zstdDecompress(bytes: Uint8Array, bytesMax: number): Uint8Array {
  checkFrames(bytes, bytesMax)
  return decompress(bytes)
}

function checkFrames(bytes: Uint8Array, bytesMax: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let position = 0
  let outputBytes = 0
  while (position < bytes.length) {
    const magic = view.getUint32(position, true)
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      position += 8 + view.getUint32(position + 4, true)
      continue
    }
    if (magic !== MAGIC) throw new RangeError('expected a frame')
    const frame = walkFrame(view, position)
    position = frame.end
    outputBytes += frame.outputBytesMax
    if (outputBytes > bytesMax) throw new RangeError(`expected at most ${bytesMax} bytes`)
  }
}

/** The end of the frame and the most that its blocks can give; only block headers are read. */
function walkFrame(view: DataView, start: number): { end: number; outputBytesMax: number } {
  const header = frameHeader(view, start)
  let position = header.end
  let outputBytesMax = 0
  for (let last = false; !last;) {
    const block = view.getUint16(position, true) | (view.getUint8(position + 2) << 16)
    const lengthBytes = block >> 3
    if (lengthBytes > BLOCK_BYTES_MAX) throw new RangeError('a block above its limit')
    const type = (block >> 1) & 3
    position += 3 + (type === 1 ? 1 : lengthBytes)
    outputBytesMax += type === 2 ? Math.min(BLOCK_BYTES_MAX, header.windowBytes) : lengthBytes
    last = (block & 1) === 1
  }
  const end = position + (header.hasChecksum ? 4 : 0)
  if (end > view.byteLength) throw new RangeError('ends early')
  return { end, outputBytesMax: header.contentBytes ?? outputBytesMax }
}

interface FrameHeader {
  readonly end: number
  readonly windowBytes: number
  readonly contentBytes: number | undefined
  readonly hasChecksum: boolean
}

function frameHeader(view: DataView, start: number): FrameHeader {
  const flags = view.getUint8(start + 4)
  if ((flags & 3) !== 0) throw new RangeError('expected no dictionary')
  const single = (flags & 0x20) !== 0
  const window = single ? undefined : view.getUint8(start + 5)
  const position = start + (single ? 5 : 6)
  const sizeBytes = flags >> 6 === 0 ? (single ? 1 : 0) : 1 << (flags >> 6)
  const contentBytes = contentLength(view, position, sizeBytes)
  const windowBytes = window === undefined ? (contentBytes ?? 0) : windowLength(window)
  if (windowBytes > WINDOW_BYTES_MAX) throw new RangeError('a window above its limit')
  return { end: position + sizeBytes, windowBytes, contentBytes, hasChecksum: (flags & 4) !== 0 }
}

function windowLength(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
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
