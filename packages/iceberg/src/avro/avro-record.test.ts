import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { CorruptFileError } from '../spec/errors.ts'
import { AvroCursor } from './avro-cursor.ts'
import type { WantedField } from './avro-record.ts'
import { planRecord, readRecord } from './avro-record.ts'
import { parseAvroSchema } from './avro-schema.ts'

function planFor(schema: unknown, wanted: readonly WantedField[]) {
  const type = parseAvroSchema(JSON.stringify(schema), 'test')
  if (type.kind !== 'record') throw new Error(type.kind)
  return planRecord(type, wanted, 'test')
}

/** Every shape that a foreign writer may put between the fields that we want. */
const strange = {
  type: 'record',
  name: 'outer',
  namespace: 'x.y',
  fields: [
    { name: 'e', type: { type: 'enum', name: 'suit', symbols: ['A', 'B', 'C'] } },
    { name: 'first', type: ['int', 'null'], 'field-id': 1 },
    { name: 'fx', type: { type: 'fixed', name: 'eight', size: 8 } },
    { name: 'u', type: ['string', 'null', 'boolean', 'eight', { type: 'array', items: 'suit' }] },
    { name: 'd', type: 'double' },
    { name: 'f', type: 'float' },
    { name: 'm', type: { type: 'map', values: ['null', { type: 'map', values: 'bytes' }] } },
    {
      name: 'r',
      type: {
        type: 'record',
        name: 'inner',
        fields: [
          { name: 'n', type: 'null' },
          { name: 'b', type: 'bytes' },
          { name: 'again', type: ['null', 'eight'] },
        ],
      },
    },
    { name: 'second', type: ['null', 'string'], 'field-id': 2 },
    { name: 'list', type: { type: 'array', items: 'inner' } },
    {
      name: 'tree',
      type: { type: 'record', name: 'node', fields: [{ name: 'below', type: ['null', 'node'] }] },
    },
    { name: 'third', type: 'boolean', 'field-id': 3 },
    { name: 'l', type: 'int' },
    { name: 'other', type: 'string', aliases: ['fourth_old'] },
  ],
}

const wanted: readonly WantedField[] = [
  { id: 4, kind: 'text', names: ['fourth', 'fourth_old'] },
  { id: 3, kind: 'boolean', names: [] },
  { id: 2, kind: 'text', names: [] },
  { id: 1, kind: 'long', names: [] },
]

describe('readRecord', () => {
  it('finds fields by id and alias between fields of every other kind', () => {
    const type = avro.Type.forSchema(structuredClone(strange) as unknown as avro.Schema, {
      wrapUnions: true,
    })
    const plan = planFor(strange, wanted)
    for (let run = 0; run < 300; run += 1) {
      const value = { ...(type.random() as unknown as Record<string, unknown>) }
      const unwrap = (union: unknown): unknown =>
        union === null ? undefined : Object.values(union as object)[0]
      const first = unwrap(value['first'])
      const cursor = new AvroCursor(new Uint8Array(type.toBuffer(value)), 'test')
      expect(readRecord(cursor, plan, [])).toEqual([
        value['other'],
        value['third'],
        unwrap(value['second']),
        first === undefined ? undefined : BigInt(first as number),
      ])
      expect(cursor.remainingBytes).toBe(0)
    }
  })

  it('passes over list parts by their byte size when the writer gave one', () => {
    const schema = {
      type: 'record',
      name: 'r',
      fields: [
        { name: 'list', type: { type: 'array', items: 'string' } },
        { name: 'last', type: 'int', 'field-id': 1 },
      ],
    }
    // −2 elements, 6 bytes of anything, end of list, 5
    const bytes = Uint8Array.of(3, 12, 9, 9, 9, 9, 9, 9, 0, 10)
    const plan = planFor(schema, [{ id: 1, kind: 'int', names: [] }])
    expect(readRecord(new AvroCursor(bytes, 'test'), plan, [])).toEqual([5])
  })

  it.each([
    ['a list count above the rest', { type: 'array', items: 'int' }, [0xfe, 0xff, 0x03, 2]],
    ['a text length above the rest', 'string', [0xfe, 0xff, 0x03, 65]],
    ['a negative length', 'bytes', [1, 0]],
    ['a union branch that does not exist', ['null', 'int'], [4, 0]],
    ['a negative union branch', ['null', 'int'], [1, 0]],
    ['an enum symbol that does not exist', { type: 'enum', name: 'e', symbols: ['A'] }, []],
    [
      'a number without an end',
      'long',
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
    ],
    [
      'a number above 64 bits',
      'long',
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
    ],
    ['the end of the block', 'double', [1, 2, 3]],
  ])('refuses %s', (_, type, bytes) => {
    const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type }] }
    const cursor = new AvroCursor(Uint8Array.from(bytes), 'test')
    expect(() => readRecord(cursor, planFor(schema, []), [])).toThrow(CorruptFileError)
  })

  it('does not follow values deeper than the limit', () => {
    const schema = { type: 'record', name: 'r', fields: [{ name: 'next', type: ['null', 'r'] }] }
    const cursor = new AvroCursor(new Uint8Array(100_000).fill(2), 'test')
    expect(() => readRecord(cursor, planFor(schema, []), [])).toThrow('nested deeper than 64')
  })

  it('keeps no more elements than the budget of the file', () => {
    const schema = {
      type: 'record',
      name: 'r',
      fields: [{ name: 'a', type: { type: 'array', items: 'long' }, 'field-id': 1 }],
    }
    const plan = planFor(schema, [{ id: 1, kind: 'long-list', names: [] }])
    const cursor = new AvroCursor(Uint8Array.of(6, 0, 0, 0, 0), 'test', 2)
    expect(() => readRecord(cursor, plan, [])).toThrow('more list and map elements')
  })
})

describe('planRecord', () => {
  it.each([
    ['int', 'string'],
    ['text', 'double'],
    ['boolean', 'int'],
    ['long-by-id', { type: 'map', values: 'long' }],
    ['long-by-id', { type: 'array', items: 'long' }],
    ['tuple', 'int'],
    ['long-list', { type: 'array', items: 'string' }],
  ] as const)('refuses to read %s from another shape', (kind, type) => {
    const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type, 'field-id': 1 }] }
    expect(() => planFor(schema, [{ id: 1, kind, names: [] }])).toThrow(
      `cannot read test: expected ${kind} in field 1 a`,
    )
  })
})
