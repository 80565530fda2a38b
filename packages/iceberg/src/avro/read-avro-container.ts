import { CorruptFileError } from '../spec/errors.ts'
import { decompressBlock } from './avro-codec.ts'
import { AvroCursor } from './avro-cursor.ts'
import {
  AVRO_DECODED_BYTES_MAX,
  AVRO_HEADER_BYTES_MAX,
  AVRO_HEADER_KEYS_MAX,
  AVRO_ITEMS_MAX,
  AVRO_RECORDS_MAX,
} from './avro-limits.ts'
import type { AvroRecord } from './avro-schema.ts'
import { parseAvroSchema } from './avro-schema.ts'

const MAGIC = [0x4f, 0x62, 0x6a, 0x01]
const SYNC_BYTES = 16

/** The header of an Avro object container file and where its blocks begin. */
export interface AvroContainer {
  readonly bytes: Uint8Array
  readonly what: string
  /** Every key-value of the header but the schema and the codec; values are text as written. */
  readonly metadata: ReadonlyMap<string, string>
  readonly schema: AvroRecord
  readonly codec: string
  readonly sync: Uint8Array
  readonly blocksStart: number
}

/**
 * Opens an object container of records. `what` names the file in errors. Throws CorruptFileError for anything that is
 * none, and for headers above AVRO_HEADER_BYTES_MAX. Spec: Avro 1.12, Object Container Files.
 */
export function openAvroContainer(bytes: Uint8Array, what: string): AvroContainer {
  const header =
    bytes.length > AVRO_HEADER_BYTES_MAX ? bytes.subarray(0, AVRO_HEADER_BYTES_MAX) : bytes
  const cursor = new AvroCursor(header, what)
  if (bytes.length < MAGIC.length || MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw cursor.fail('expected an Avro object container')
  }
  cursor.skipBytes(MAGIC.length)
  const metadata = readKeyValues(cursor)
  const sync = cursor.fixed(SYNC_BYTES)
  const schemaText = metadata.get('avro.schema')
  if (schemaText === undefined) throw cursor.fail('it has no avro.schema')
  const schema = parseAvroSchema(schemaText, what)
  if (schema.kind !== 'record') throw cursor.fail(`expected records, got ${schema.kind}`)
  const codec = metadata.get('avro.codec') ?? 'null'
  metadata.delete('avro.schema')
  metadata.delete('avro.codec')
  return { bytes, what, metadata, schema, codec, sync, blocksStart: cursor.position }
}

function readKeyValues(cursor: AvroCursor): Map<string, string> {
  const metadata = new Map<string, string>()
  for (let count = cursor.itemBlock(); count > 0; count = cursor.itemBlock()) {
    for (let index = 0; index < count; index += 1) {
      metadata.set(cursor.text(), utf8Text(cursor.byteString()))
      if (metadata.size > AVRO_HEADER_KEYS_MAX) throw cursor.fail('too many header keys')
    }
  }
  return metadata
}

function utf8Text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/**
 * Calls `readRecord` once for every record, in file order, with a cursor before it; it must read exactly one record.
 * Checks sync markers, that each block is used up, and the limits on decompressed bytes, records and kept elements.
 */
export function readAvroRecords(
  container: AvroContainer,
  readRecord: (cursor: AvroCursor) => void,
): void {
  const file = new AvroCursor(container.bytes, container.what)
  file.skipBytes(container.blocksStart)
  const budget = { decodedBytes: 0, records: 0, itemsLeft: AVRO_ITEMS_MAX }
  while (file.remainingBytes > 0) {
    const count = file.long()
    const stored = file.byteString()
    checkSync(file, container.sync)
    if (count === 0n) continue
    const block = decompressBlock(container.codec, stored, container.what)
    spend(container, budget, { count, blockBytes: block.length })
    const cursor = new AvroCursor(block, container.what, budget.itemsLeft)
    for (let index = Number(count); index > 0; index -= 1) readRecord(cursor)
    if (cursor.remainingBytes > 0)
      throw cursor.fail(`${cursor.remainingBytes} bytes left in a block`)
    budget.itemsLeft = cursor.itemsLeft
  }
}

function checkSync(file: AvroCursor, sync: Uint8Array): void {
  const marker = file.fixed(SYNC_BYTES)
  if (!sync.every((byte, index) => marker[index] === byte))
    throw file.fail('a block without its sync marker')
}

interface Budget {
  decodedBytes: number
  records: number
}

function spend(
  container: AvroContainer,
  budget: Budget,
  block: { count: bigint; blockBytes: number },
): void {
  const { count, blockBytes } = block
  const fail = (problem: string): CorruptFileError =>
    new CorruptFileError(`cannot read ${container.what}: ${problem}`)
  if (count < 0n || count > BigInt(blockBytes))
    throw fail(`${count} records in a block of ${blockBytes} bytes`)
  budget.decodedBytes += blockBytes
  budget.records += Number(count)
  if (budget.decodedBytes > AVRO_DECODED_BYTES_MAX) {
    throw fail(`more than ${AVRO_DECODED_BYTES_MAX} decompressed bytes`)
  }
  if (budget.records > AVRO_RECORDS_MAX) throw fail(`more than ${AVRO_RECORDS_MAX} records`)
}
