import { describe, expect, it } from 'vitest'
import { parseJson } from './json.ts'
import { highestFieldId, indexSchema } from './schema-index.ts'
import { decodeSchema } from './schema-json.ts'
import type { Schema } from './schema.ts'
import type { FormatVersion } from './table-metadata.ts'
import { validateSchema } from './validate-schema.ts'

const POINTS =
  '{"id":2,"name":"points","required":true,"type":{"type":"list","element-id":3,"element-required":true,"element":{"type":"struct","fields":[{"id":4,"name":"x","required":true,"type":"long"}]}}}'
const PLACE =
  '{"id":5,"name":"place","required":true,"type":{"type":"struct","fields":[{"id":6,"name":"code","required":true,"type":"string"}]}}'
const TAGS =
  '{"id":7,"name":"tags","required":false,"type":{"type":"map","key-id":8,"key":"string","value-id":9,"value-required":false,"value":"double"}}'

function schemaOf(fields: string, identifierIds = ''): Schema {
  return decodeSchema(
    parseJson(`{"fields":[${fields}],"identifier-field-ids":[${identifierIds}]}`),
    'schema',
  )
}

function field(members: string): string {
  return `{"required":false,${members}}`
}

describe('indexSchema', () => {
  const schema = schemaOf(`${field('"id":1,"name":"a","type":"int"')},${POINTS},${PLACE},${TAGS}`)
  const index = indexSchema(schema)

  it('names nested fields in full and finds them by short names too', () => {
    expect([...index.namesById.values()]).toEqual([
      'a',
      'points',
      'points.element',
      'points.element.x',
      'place',
      'place.code',
      'tags',
      'tags.key',
      'tags.value',
    ])
    expect(index.idsByName.get('points.x')).toBe(4)
    expect(index.idsByName.get('points.element.x')).toBe(4)
    expect(index.parentsById.get(4)).toBe(3)
    expect(index.parentsById.get(1)).toBeUndefined()
    expect(highestFieldId(schema)).toBe(9)
  })
})

describe('validateSchema', () => {
  it('accepts nested columns with an identifier inside required structs', () => {
    expect(() => validateSchema(schemaOf(`${POINTS},${PLACE},${TAGS}`, '6'), 1)).not.toThrow()
  })

  it.each([
    [
      'repeated ids',
      `${field('"id":1,"name":"a","type":"int"')},${field('"id":1,"name":"b","type":"int"')}`,
      2,
      /multiple fields have id 1: a and b/,
    ],
    [
      'repeated nested ids',
      `${POINTS},${field('"id":4,"name":"b","type":"int"')}`,
      2,
      /multiple fields have id 4/,
    ],
    [
      'repeated names',
      `${field('"id":1,"name":"a","type":"int"')},${field('"id":2,"name":"a","type":"int"')}`,
      2,
      /multiple fields for name a: 1 and 2/,
    ],
    [
      'names that collide with nested ones',
      `${PLACE},${field('"id":1,"name":"place.code","type":"int"')}`,
      2,
      /multiple fields for name place\.code/,
    ],
    ['reserved ids', field('"id":2147483646,"name":"a","type":"int"'), 2, /reserved id/],
    ['negative ids', field('"id":-1,"name":"a","type":"int"'), 2, /negative id/],
    [
      'variant before v3',
      field('"id":1,"name":"v","type":"variant"'),
      2,
      /variant is not supported until v3/,
    ],
    [
      'timestamp_ns before v3',
      field('"id":1,"name":"v","type":"timestamp_ns"'),
      1,
      /timestamp_ns is not supported until v3/,
    ],
    [
      'geometry before v3',
      field('"id":1,"name":"v","type":"geometry"'),
      2,
      /geometry is not supported until v3/,
    ],
    [
      'initial defaults before v3',
      field('"id":1,"name":"v","type":"int","initial-default":1'),
      2,
      /not supported until v3/,
    ],
    [
      'write defaults before v3',
      field('"id":1,"name":"v","type":"int","write-default":1'),
      2,
      /not supported until v3/,
    ],
    [
      'required unknown',
      '{"id":1,"name":"v","type":"unknown","required":true}',
      3,
      /must be optional/,
    ],
    [
      'a default of another type',
      field('"id":1,"name":"v","type":"int","initial-default":"x"'),
      3,
      /expected int, got string/,
    ],
    [
      'a default of unknown',
      field('"id":1,"name":"v","type":"unknown","initial-default":1'),
      3,
      /only be null/,
    ],
    [
      'a struct default with members',
      field('"id":1,"name":"v","type":{"type":"struct","fields":[]},"write-default":{"2":1}'),
      3,
      /null or {}/,
    ],
  ] as [string, string, FormatVersion, RegExp][])('refuses %s', (_, fields, version, message) => {
    expect(() => validateSchema(schemaOf(fields), version)).toThrow(message)
  })

  it.each([
    ['null defaults before v3', field('"id":1,"name":"v","type":"int","initial-default":null'), 2],
    ['v3 types in v3', field('"id":1,"name":"v","type":"variant"'), 3],
    [
      'fitting defaults in v3',
      field('"id":1,"name":"v","type":"decimal(4, 2)","initial-default":"1.50"'),
      3,
    ],
    [
      'an empty struct default',
      field('"id":1,"name":"v","type":{"type":"struct","fields":[]},"write-default":{}'),
      3,
    ],
  ] as [string, string, FormatVersion][])('accepts %s', (_, fields, version) => {
    expect(() => validateSchema(schemaOf(fields), version)).not.toThrow()
  })

  it.each([
    ['that do not exist', '99', /does not exist/],
    ['inside a list', '4', /inside a list/],
    ['inside a map', '8', /inside a map/],
    ['that are structs', '5', /type struct/],
    ['that are optional', '1', /is optional/],
    ['of type double', '10', /type double/],
  ])('refuses identifier fields %s', (_, id, message) => {
    const fields = [
      field('"id":1,"name":"a","type":"int"'),
      '{"id":10,"name":"d","type":"double","required":true}',
      POINTS,
      PLACE,
      TAGS,
    ].join(',')
    expect(() => validateSchema(schemaOf(fields, id), 2)).toThrow(message)
  })
})
