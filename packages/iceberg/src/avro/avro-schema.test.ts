import { describe, expect, it } from 'vitest'
import { CorruptFileError } from '../spec/errors.ts'
import { parseAvroSchema } from './avro-schema.ts'

const parse = (schema: unknown) => parseAvroSchema(JSON.stringify(schema), 'm.avro')
const record = (fields: unknown, extra: object = {}) => ({
  type: 'record',
  name: 'r',
  fields,
  ...extra,
})

describe('parseAvroSchema', () => {
  it('keeps field, element, key and value ids', () => {
    const type = parse(
      record([
        { name: 'a', type: { type: 'array', items: 'long', 'element-id': 133 }, 'field-id': 132 },
        { name: 'm', type: { type: 'map', values: 'int', 'key-id': 5, 'value-id': 6 } },
      ]),
    )
    expect(type).toMatchObject({
      fields: [
        { fieldId: 132, type: { kind: 'array', elementId: 133 } },
        { type: { kind: 'map', keyId: 5, valueId: 6 } },
      ],
    })
  })

  it('resolves names by namespace, enclosing namespace and alias', () => {
    const type = parse(
      record(
        [
          { name: 'a', type: { type: 'fixed', name: 'f', size: 4, aliases: ['g'] } },
          { name: 'b', type: 'f' },
          { name: 'c', type: 'n.s.f' },
          { name: 'd', type: 'n.s.g' },
        ],
        { namespace: 'n.s' },
      ),
    )
    if (type.kind !== 'record') throw new Error(type.kind)
    const [first, ...others] = type.fields.map((field) => field.type)
    expect(others.every((other) => other === first)).toBe(true)
  })

  it('takes a logical type from around a primitive', () => {
    expect(parse({ type: { type: 'int', logicalType: 'date' } })).toEqual({
      kind: 'int',
      logicalType: 'date',
    })
  })

  it('allows a record inside itself where it can end', () => {
    const list = record([{ name: 'next', type: ['null', 'r'] }])
    expect(parse(list)).toMatchObject({ kind: 'record' })
  })

  it.each([
    ['an unknown name', record([{ name: 'a', type: 'nothing' }])],
    ['a record that contains itself', record([{ name: 'a', type: 'r' }])],
    ['a list of nulls', record([{ name: 'a', type: { type: 'array', items: 'null' } }])],
    [
      'a list of empty records',
      record([
        { name: 'a', type: { type: 'array', items: { type: 'record', name: 'e', fields: [] } } },
      ]),
    ],
    ['a negative size', { type: 'fixed', name: 'f', size: -1 }],
    ['a size of 2^60', { type: 'fixed', name: 'f', size: 2 ** 60 }],
    ['a size with a point', { type: 'fixed', name: 'f', size: 1.5 }],
    ['an enum without symbols', { type: 'enum', name: 'e', symbols: [] }],
    ['a record without fields', { type: 'record', name: 'r' }],
    ['a field without a name', record([{ type: 'int' }])],
    ['an empty union', []],
    ['a number', 3],
    ['a field id that is no int', record([{ name: 'a', type: 'int', 'field-id': 2 ** 40 }])],
    [
      'too many fields',
      record(Array.from({ length: 5001 }, (_, i) => ({ name: `f${i}`, type: 'int' }))),
    ],
  ])('refuses %s', (_, schema) => {
    expect(() => parse(schema)).toThrow(CorruptFileError)
  })

  it('refuses deep nesting and text that is no JSON', () => {
    const deep = `${'{"type":"array","items":'.repeat(200)}"int"${'}'.repeat(200)}`
    expect(() => parseAvroSchema(deep, 'm.avro')).toThrow('nested deeper than 64')
    expect(() => parseAvroSchema('{"type"', 'm.avro')).toThrow(
      'cannot read the Avro schema of m.avro',
    )
    expect(() => parseAvroSchema('['.repeat(100_000), 'm.avro')).toThrow(CorruptFileError)
  })

  it('costs the length of the schema when names are used many times', () => {
    const fields: unknown[] = []
    for (let level = 0; level < 60; level += 1) {
      const below = level === 0 ? 'null' : `r${level - 1}`
      const members = ['a', 'b', 'c'].map((name) => ({ name, type: below }))
      fields.push({
        name: `f${level}`,
        type: { type: 'record', name: `r${level}`, fields: members },
      })
    }
    expect(parse(record(fields))).toMatchObject({ kind: 'record', sizedFields: [] })
  })
})
