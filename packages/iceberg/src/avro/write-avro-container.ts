import { createHash } from 'node:crypto'
import type { JsonValue } from '../spec/json-value.ts'
import { printJson } from '../spec/json.ts'
import { deflateBlock } from './avro-codec.ts'
import { AvroSink } from './avro-sink.ts'

const MAGIC = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01)
const SYNC_BYTES = 16
/** Uncompressed bytes after which a block is closed. */
const BLOCK_BYTES_TARGET = 64 * 1024
const BLOCK_HEAD_BYTES_MAX = 20

export type AvroWriteCodec = 'null' | 'deflate'

export interface AvroContainerContent<T> {
  /** Printed as it is, so Iceberg's `field-id`, `element-id` and `logicalType` members reach the file. */
  readonly schema: JsonValue
  /** Further key-values of the header, in this order. */
  readonly metadata: readonly (readonly [key: string, value: string])[]
  readonly codec: AvroWriteCodec
  readonly records: Iterable<T>
  readonly writeRecord: (sink: AvroSink, record: T) => void
}

/**
 * The bytes of an Avro object container. The same content gives the same bytes: the sync marker is a hash of the
 * header, not a random number. Spec: Avro 1.12, Object Container Files.
 */
export function writeAvroContainer<T>(content: AvroContainerContent<T>): Uint8Array {
  const header = writeHeader(content)
  const sync = createHash('sha256').update(header).digest().subarray(0, SYNC_BYTES)
  const parts: Uint8Array[] = [header, sync]
  const sink = new AvroSink()
  let recordCount = 0
  for (const record of content.records) {
    content.writeRecord(sink, record)
    recordCount += 1
    if (sink.lengthBytes < BLOCK_BYTES_TARGET) continue
    pushBlock(parts, { sink, recordCount, codec: content.codec, sync })
    recordCount = 0
  }
  if (recordCount > 0) pushBlock(parts, { sink, recordCount, codec: content.codec, sync })
  return concat(parts)
}

function writeHeader<T>(content: AvroContainerContent<T>): Uint8Array {
  const sink = new AvroSink()
  sink.fixed(MAGIC)
  const pairs: readonly (readonly [string, string])[] = [
    ['avro.schema', printJson(content.schema)],
    ['avro.codec', content.codec],
    ...content.metadata,
  ]
  sink.int(pairs.length)
  for (const [key, value] of pairs) {
    sink.text(key)
    sink.text(value)
  }
  sink.int(0)
  return sink.written().slice()
}

interface Block {
  readonly sink: AvroSink
  readonly recordCount: number
  readonly codec: AvroWriteCodec
  readonly sync: Uint8Array
}

function pushBlock(parts: Uint8Array[], block: Block): void {
  const { sink, codec } = block
  const stored = codec === 'deflate' ? deflateBlock(sink.written()) : sink.written().slice()
  const head = new AvroSink(BLOCK_HEAD_BYTES_MAX)
  head.int(block.recordCount)
  head.int(stored.length)
  parts.push(head.written().slice(), stored, block.sync)
  sink.clear()
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
