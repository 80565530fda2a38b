import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { snappyCompress } from 'hysnappy'
import { describe, expect, it } from 'vitest'
import { readManifest } from '../manifest/read-manifest.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { decompressBlock } from './avro-codec.ts'
import { AVRO_BLOCK_BYTES_MAX } from './avro-limits.ts'
import { openAvroContainer, readAvroRecords } from './read-avro-container.ts'
import { writeAvroContainer } from './write-avro-container.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/fastavro-1.12')
const fixture = (codec: string): Uint8Array =>
  new Uint8Array(readFileSync(join(FIXTURES, `${codec}.avro`)))
const codecs = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.avro'))
  .map((name) => name.slice(0, -'.avro'.length))
const readable = ['null', 'deflate', 'snappy', 'zstandard']

describe('B127: a manifest written by fastavro', () => {
  const expected = readManifest(fixture('null')).entries

  it.each(codecs.filter((codec) => readable.includes(codec)))(
    'reads the same with codec %s',
    (codec) => {
      const found = readManifest(fixture(codec))
      expect(found.header.codec).toBe(codec)
      expect(found.entries.length).toBeGreaterThan(8)
      expect(found.entries).toEqual(expected)
    },
  )

  it.each(codecs.filter((codec) => !readable.includes(codec)))(
    'is refused by name with codec %s',
    (codec) => {
      const manifest = { manifestPath: 'file:///lake/m.avro' } as never
      expect(() => readManifest(fixture(codec), { manifest })).toThrow(
        `cannot read manifest file:///lake/m.avro: expected codec null, deflate, snappy or zstandard, got "${codec}"`,
      )
    },
  )

  it.each(readable)(
    'fails whole when one bit of a %s block is wrong or the file ends early',
    (codec) => {
      const bytes = fixture(codec)
      const cut = bytes.subarray(0, bytes.length - 1)
      expect(() => readManifest(cut)).toThrow(CorruptFileError)
      const marker = bytes.slice()
      marker[marker.length - 1]! ^= 1
      expect(() => readManifest(marker)).toThrow('a block without its sync marker')
    },
  )

  it('does not pass a snappy block whose checksum differs', () => {
    const body = snappyCompress(new TextEncoder().encode('abcdabcdabcd'))
    const block = new Uint8Array([...body, 0, 0, 0, 0])
    expect(() => decompressBlock('snappy', block, 'x.avro')).toThrow(
      'cannot decompress a snappy block of x.avro',
    )
  })
})

describe('a container', () => {
  const schema: JsonValue = {
    type: 'record',
    name: 'r',
    fields: [{ name: 'a', type: 'string' }],
  }
  const write = (records: readonly string[]): Uint8Array =>
    writeAvroContainer({
      schema,
      metadata: [['key', 'välue']],
      codec: 'null',
      records,
      writeRecord: (sink, record) => sink.text(record),
    })
  const read = (bytes: Uint8Array): string[] => {
    const found: string[] = []
    readAvroRecords(openAvroContainer(bytes, 'test file'), (cursor) => found.push(cursor.text()))
    return found
  }

  it('without records has no blocks', () => {
    expect(read(write([]))).toEqual([])
  })

  it('keeps its key-values', () => {
    const container = openAvroContainer(write(['x']), 'test file')
    expect([...container.metadata]).toEqual([['key', 'välue']])
  })

  it('is cut into blocks', () => {
    const records = Array.from({ length: 300 }, (_, index) => `${index}`.repeat(1000))
    expect(read(write(records))).toEqual(records)
  })

  it('may hold empty blocks', () => {
    const bytes = write([])
    const withEmpty = new Uint8Array([...bytes, 0, 0, ...bytes.subarray(bytes.length - 16)])
    expect(read(withEmpty)).toEqual([])
  })

  it('is null coded when it names no codec', () => {
    const bytes = write(['hello'])
    const name = Buffer.from(bytes).indexOf('avro.codec')
    bytes.set(new TextEncoder().encode('other.name'), name)
    expect(read(bytes)).toEqual(['hello'])
  })

  it.each([
    ['an empty file', new Uint8Array(0)],
    ['another format', new TextEncoder().encode('PAR1 and more')],
    ['only the magic', Uint8Array.of(0x4f, 0x62, 0x6a, 0x01)],
    ['a huge key count', Uint8Array.of(0x4f, 0x62, 0x6a, 0x01, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x0f)],
  ])('is refused when it is %s', (_, bytes) => {
    expect(() => openAvroContainer(bytes, 'test file')).toThrow(CorruptFileError)
  })

  it('is refused when a block claims more records than bytes', () => {
    const bytes = write([])
    const forged = new Uint8Array([
      ...bytes,
      0xd0,
      0x0f,
      2,
      0,
      ...bytes.subarray(bytes.length - 16),
    ])
    expect(() => read(forged)).toThrow('1000 records in a block of 1 bytes')
  })

  it('is refused when a block has bytes left', () => {
    const bytes = write([])
    const forged = new Uint8Array([...bytes, 2, 4, 0, 0, ...bytes.subarray(bytes.length - 16)])
    expect(() => read(forged)).toThrow('1 bytes left in a block')
  })

  it('is refused when text is not UTF-8', () => {
    const bytes = write(['abcd'])
    bytes.set([0xe2, 0x28], Buffer.from(bytes).lastIndexOf('abcd'))
    expect(() => read(bytes)).toThrow('text that is not UTF-8')
  })

  it('keeps the replacement character when it was written', () => {
    expect(read(write(['a\ufffdb']))).toEqual(['a\ufffdb'])
  })
})

describe('a decompressed block', () => {
  it('is refused above the limit', () => {
    const bomb = deflateRawSync(Buffer.alloc(AVRO_BLOCK_BYTES_MAX + 1), { level: 1 })
    expect(() => decompressBlock('deflate', bomb, 'bomb.avro')).toThrow(CorruptFileError)
  })

  it.each([
    ['a snappy length of 4 GiB', 'snappy', [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0]],
    ['an endless snappy length', 'snappy', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
    ['no snappy checksum', 'snappy', [0, 0]],
    [
      'a zstd content of 8 EiB',
      'zstandard',
      [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 255, 255, 255, 255, 255, 255, 255, 127, 1, 0, 0],
    ],
    ['a zstd dictionary', 'zstandard', [0x28, 0xb5, 0x2f, 0xfd, 0x21, 1, 0, 1, 0, 0]],
    ['no zstd frame', 'zstandard', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['a zstd frame that ends early', 'zstandard', [0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x29, 0, 0]],
    ['no deflate data', 'deflate', [0xff, 0xff, 0xff]],
  ])('is refused for %s', (_, codec, block) => {
    expect(() => decompressBlock(codec, Uint8Array.from(block), 'x.avro')).toThrow(CorruptFileError)
  })

  it('takes no memory for a declared zstd window of 2 GiB', () => {
    const block = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0)
    expect(decompressBlock('zstandard', block, 'x.avro').buffer.byteLength).toBe(0)
  })

  it('may be an empty or skippable zstd frame', () => {
    const skippable = [0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]
    const raw = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 7, 8, 9]
    const block = Uint8Array.from([...skippable, ...raw])
    expect([...decompressBlock('zstandard', block, 'x.avro')]).toEqual([7, 8, 9])
  })
})
