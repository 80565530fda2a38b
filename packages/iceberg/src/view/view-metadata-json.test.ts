import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryViewMetadata } from '@timelake/testing/arbitrary-metadata'
import { InvalidInputError } from '../spec/errors.ts'
import { parseJson, printJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeViewMetadata, encodeViewMetadata } from './view-metadata-json.ts'

// The example of the view specification, by members.
const version: JsonObject = {
  'version-id': 1n,
  'timestamp-ms': 1573518431292n,
  'schema-id': 1n,
  'default-catalog': 'prod',
  'default-namespace': ['default'],
  summary: { 'engine-name': 'Spark', 'engine-version': '3.3.2' },
  representations: [{ type: 'sql', sql: 'SELECT 1', dialect: 'spark' }],
}
const view: JsonObject = {
  'view-uuid': 'fa6506c3-7681-40c8-86dc-e36561f83385',
  'format-version': 1n,
  location: 's3://bucket/warehouse/default.db/event_agg',
  'current-version-id': 1n,
  properties: { comment: 'Daily event counts' },
  versions: [version],
  schemas: [
    {
      'schema-id': 1n,
      type: 'struct',
      fields: [{ id: 1n, name: 'event_count', required: false, type: 'int', doc: 'Count' }],
    },
  ],
  'version-log': [{ 'timestamp-ms': 1573518431292n, 'version-id': 1n }],
}

const decode = (json: JsonObject) => decodeViewMetadata(printJson(json))

describe('view metadata', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(arbitraryViewMetadata, (metadata) => {
        const text = encodeViewMetadata(metadata)
        expect(decodeViewMetadata(text)).toEqual(metadata)
        expect(encodeViewMetadata(decodeViewMetadata(new TextEncoder().encode(text)))).toBe(text)
      }),
      { numRuns: 100 },
    )
  })

  it('of the specification keeps every member', () => {
    expect(parseJson(encodeViewMetadata(decode(view)))).toEqual(view)
  })

  it('keeps members and representations that it does not know', () => {
    const strange: JsonObject = {
      ...view,
      'x-view': { deep: [1n, 2.5] },
      versions: [
        {
          ...version,
          'x-version': true,
          representations: [
            { type: 'sql', sql: 'a', dialect: 'b', 'x-sql': 9007199254740993n },
            { type: 'Substrait', plan: { bytes: 'AA==' } },
          ],
        },
      ],
      'version-log': [{ 'timestamp-ms': 1n, 'version-id': 1n, 'x-log': 'y' }],
    }
    expect(parseJson(encodeViewMetadata(decode(strange)))).toEqual(strange)
  })

  it('reads missing properties as none and an absent default catalog as null', () => {
    const bare = decode({
      ...view,
      properties: undefined,
      versions: [{ ...version, 'default-catalog': null }],
    })
    expect(bare.properties).toEqual({})
    expect(bare.versions[0]).not.toHaveProperty('defaultCatalog')
  })

  it('stores its location without a trailing slash', () => {
    expect(decode({ ...view, location: 'file:///w/v/' }).location).toBe('file:///w/v')
  })

  it.each<[string, JsonValue | undefined, string]>([
    ['view-uuid', undefined, 'view-uuid: expected string, got nothing'],
    ['format-version', 2n, 'format-version: cannot read view format version 2: expected 1'],
    ['format-version', '1', 'format-version: expected int, got string'],
    ['location', null, 'location: expected string, got null'],
    ['current-version-id', 5n, 'current-version-id: 5 is not one of the versions'],
    ['versions', [], 'current-version-id: 1 is not one of the versions'],
    ['versions', [version, version], 'versions: an id occurs twice: 1, 1'],
    ['versions', [{ ...version, 'schema-id': 4n }], 'schemas: schema 4 of the current version'],
    ['versions', [{ ...version, summary: { a: 1n } }], 'versions[0].summary.a: expected string'],
    ['versions', [{ ...version, representations: [{}] }], 'representations[0].type: expected'],
    ['versions', [{ ...version, 'timestamp-ms': 1.5 }], 'versions[0].timestamp-ms: expected long'],
    ['schemas', undefined, 'schemas: expected list, got nothing'],
    ['version-log', undefined, 'version-log: expected list, got nothing'],
    ['properties', { a: null }, 'properties.a: expected string, got null'],
  ])('with %s %o is refused', (member, value, message) => {
    expect(() => decode({ ...view, [member]: value })).toThrow(InvalidInputError)
    expect(() => decode({ ...view, [member]: value })).toThrow(message)
  })

  it('that is not UTF-8 or not JSON is refused', () => {
    expect(() => decodeViewMetadata(new Uint8Array([0xff, 0xfe]))).toThrow('not UTF-8')
    expect(() => decodeViewMetadata('{')).toThrow(InvalidInputError)
    expect(() => decodeViewMetadata('[]')).toThrow('metadata: expected object, got list')
  })
})
