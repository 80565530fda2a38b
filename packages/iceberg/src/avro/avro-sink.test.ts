import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AvroCursor } from './avro-cursor.ts'
import { AvroSink } from './avro-sink.ts'

function written(write: (sink: AvroSink) => void): Uint8Array {
  const sink = new AvroSink(1)
  write(sink)
  return sink.written()
}

describe('AvroSink and AvroCursor', () => {
  const edges = [
    0n,
    1n,
    2n ** 27n,
    2n ** 28n,
    2n ** 31n,
    2n ** 53n,
    2n ** 55n,
    2n ** 56n,
    2n ** 62n,
    2n ** 63n - 1n,
  ]
  const nearEdges = edges.flatMap((edge) => [
    edge - 1n,
    edge,
    edge + 1n,
    -edge - 1n,
    -edge,
    1n - edge,
  ])
  const longs = nearEdges.filter((value) => BigInt.asIntN(64, value) === value)

  it.each(longs)('keep the long %d', (value) => {
    const bytes = written((sink) => sink.long(value))
    const cursor = new AvroCursor(bytes, 'test')
    expect(cursor.long()).toBe(value)
    expect(cursor.remainingBytes).toBe(0)
  })

  it('keep any long and int', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer(), (long, int) => {
        const cursor = new AvroCursor(
          written((sink) => (sink.long(long), sink.int(int))),
          'test',
        )
        expect([cursor.long(), cursor.int()]).toEqual([long, int])
      }),
    )
  })

  it('write numbers as avsc does', () => {
    const type = avro.Type.forSchema('long')
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const safe = Math.trunc(value / 2)
        expect(Buffer.from(written((sink) => sink.long(BigInt(safe))))).toEqual(type.toBuffer(safe))
      }),
    )
  })

  it('refuse a long where an int is expected', () => {
    for (const value of [2n ** 31n, -(2n ** 31n) - 1n, 2n ** 60n]) {
      const cursor = new AvroCursor(
        written((sink) => sink.long(value)),
        'test',
      )
      expect(() => cursor.int()).toThrow('expected a 32-bit number')
    }
  })

  it('keep floats, texts and bytes', () => {
    fc.assert(
      fc.property(
        fc.float(),
        fc.double(),
        fc.string({ unit: 'grapheme' }),
        fc.uint8Array(),
        (f, d, text, bytes) => {
          const file = written((sink) => {
            sink.float(f)
            sink.double(d)
            sink.text(text)
            sink.byteString(bytes)
            sink.boolean(true)
          })
          const cursor = new AvroCursor(file, 'test')
          expect([
            cursor.float(),
            cursor.double(),
            cursor.text(),
            cursor.byteString(),
            cursor.boolean(),
          ]).toEqual([f, d, text, bytes, true])
        },
      ),
    )
  })
})
