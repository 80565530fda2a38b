import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  arbitrarySchema,
  arbitrarySnapshot,
  arbitrarySortOrder,
  arbitrarySpec,
  arbitraryStatistics,
  arbitraryTransform,
  arbitraryType,
} from '@timelake/testing/arbitrary-metadata'
import { InvalidInputError } from './errors.ts'
import { parseJson, printJson } from './json.ts'
import type { JsonValue } from './json-value.ts'
import {
  decodePartitionFields,
  decodePartitionSpec,
  decodeUnboundPartitionSpec,
  encodePartitionSpec,
} from './partition-spec-json.ts'
import { decodeSchema, encodeSchema } from './schema-json.ts'
import { decodeSnapshot, decodeSnapshotRef, encodeSnapshot, snapshotText } from './snapshot-json.ts'
import { decodeSortOrder, encodeSortOrder } from './sort-order-json.ts'
import { decodeStatisticsFile, encodeStatisticsFile } from './statistics-json.ts'
import { parseTransform, printTransform } from './transform-text.ts'
import { decodeType, encodeType, parsePrimitiveType, printPrimitiveType } from './type-json.ts'

/** What arrives after the value went through text. */
function sent(json: JsonValue): JsonValue {
  return parseJson(printJson(json))
}

describe('codecs give back what they wrote, unknown members included', () => {
  it('types', () => {
    fc.assert(
      fc.property(arbitraryType, (x) => {
        expect(decodeType(sent(encodeType(x)), 't')).toEqual(x)
      }),
    )
  })
  it('schemas', () => {
    fc.assert(
      fc.property(arbitrarySchema, (x) => {
        expect(decodeSchema(sent(encodeSchema(x)), 's')).toEqual(x)
      }),
    )
  })
  it('partition specs', () => {
    fc.assert(
      fc.property(arbitrarySpec, (x) => {
        expect(decodePartitionSpec(sent(encodePartitionSpec(x)), 's')).toEqual(x)
      }),
    )
  })
  it('sort orders', () => {
    fc.assert(
      fc.property(arbitrarySortOrder, (x) => {
        expect(decodeSortOrder(sent(encodeSortOrder(x)), 's')).toEqual(x)
      }),
    )
  })
  it('snapshots, by both printers', () => {
    fc.assert(
      fc.property(arbitrarySnapshot, (x) => {
        expect(decodeSnapshot(sent(encodeSnapshot(x)), 's')).toEqual(x)
        expect(decodeSnapshot(parseJson(snapshotText(x)), 's')).toEqual(x)
        expect(decodeSnapshot(parseJson(snapshotText(x, { omitZeroSequence: true })), 's')).toEqual(
          x,
        )
      }),
    )
  })
  it('statistics files', () => {
    fc.assert(
      fc.property(arbitraryStatistics, (x) => {
        expect(decodeStatisticsFile(sent(encodeStatisticsFile(x)), 's')).toEqual(x)
      }),
    )
  })
  it('transforms', () => {
    fc.assert(
      fc.property(arbitraryTransform, (x) => {
        expect(parseTransform(printTransform(x))).toEqual(x)
      }),
    )
  })
})

describe('parsePrimitiveType', () => {
  it.each([
    ['DECIMAL(9,2)', 'decimal(9, 2)'],
    ['decimal( 38 , 0 )', 'decimal(38, 0)'],
    ['fixed[ 16 ]', 'fixed[16]'],
    ['Long', 'long'],
    ['geometry(OGC:CRS84)', 'geometry'],
    ['geography(OGC:CRS84, Vincenty)', 'geography(OGC:CRS84, vincenty)'],
    ['geography( EPSG:4326 )', 'geography(EPSG:4326)'],
  ])('reads %s as %s', (text, printed) => {
    expect(printPrimitiveType(parsePrimitiveType(text, 'type'))).toBe(printed)
  })

  it.each([
    'int64',
    'decimal(39, 2)',
    'decimal(0,0)',
    'decimal(4,5)',
    'decimal(9)',
    'fixed[-1]',
    'fixed[9999999999]',
    'geometry(a, b)',
    'geography(a, flat)',
    'constructor',
  ])('refuses %s and names the path', (text) => {
    expect(() => parsePrimitiveType(text, 'fields[0].type')).toThrow(/^fields\[0\]\.type: /)
  })
})

describe('parseTransform', () => {
  it('takes names in any case', () => {
    expect(parseTransform('Bucket[16]')).toEqual({ kind: 'bucket', bucketCount: 16 })
    expect(parseTransform('DAY')).toEqual({ kind: 'day' })
  })
  it('keeps an unknown name as it came', () => {
    expect(printTransform(parseTransform('ZOrder[a,b]'))).toBe('ZOrder[a,b]')
  })
  it.each(['bucket[0]', 'truncate[0]', 'bucket[2147483648]'])('refuses %s', (text) => {
    expect(() => parseTransform(text)).toThrow(InvalidInputError)
  })
})

describe('decodeSchema', () => {
  const field = { id: 1n, name: 'a', required: false, type: 'double' }

  it('turns an integer default of a float column into a float, so that it prints with a point', () => {
    const schema = decodeSchema({ fields: [{ ...field, 'initial-default': 1n }] }, 'schema')
    expect(printJson(encodeSchema(schema))).toContain('"initial-default":1.0')
  })
  it('keeps both defaults as they came (B036)', () => {
    const json = {
      ...field,
      type: 'string',
      'initial-default': 'old',
      'write-default': 'new',
    }
    const schema = decodeSchema({ type: 'struct', 'schema-id': 0n, fields: [json] }, 'schema')
    expect(encodeSchema(schema)['fields']).toEqual([json])
  })
  it('names the member that is wrong', () => {
    const json = parseJson(
      '{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":{"type":"list","element-id":2,"element":"nope","element-required":true}}]}',
    )
    expect(() => decodeSchema(json, 'schema')).toThrow(
      'schema.fields[0].type.element: unknown type "nope"',
    )
  })
})

describe('decodePartitionFields', () => {
  const field = { name: 'p', transform: 'identity', 'source-id': 1n }

  it('numbers fields from 1000 by position when none has an id (B041)', () => {
    const fields = decodePartitionFields([field, { ...field, name: 'q' }], 'fields')
    expect(fields.map((decoded) => decoded.fieldId)).toEqual([1000, 1001])
  })
  it('refuses a list in which only some fields have ids', () => {
    expect(() => decodePartitionFields([field, { ...field, 'field-id': 1000n }], 'fields')).toThrow(
      /some fields/,
    )
  })
  it('reads several sources and leaves missing ids of requests away', () => {
    const json = { fields: [{ name: 'p', transform: 'zorder', 'source-ids': [1n, 2n] }] }
    expect(decodeUnboundPartitionSpec(json, 'spec')).toEqual({
      fields: [
        { name: 'p', transform: { kind: 'unknown-transform', text: 'zorder' }, sourceIds: [1, 2] },
      ],
    })
  })
})

describe('decodeSnapshot', () => {
  const json = { 'snapshot-id': 1n, 'timestamp-ms': 5n }

  it('reads −1 and null parents as none', () => {
    for (const parent of [-1n, null]) {
      const snapshot = decodeSnapshot({ ...json, 'parent-snapshot-id': parent }, 's')
      expect(snapshot).toEqual({ snapshotId: 1n, sequenceNumber: 0n, timestampMs: 5 })
    }
  })
  it.each([
    ['9330031330511797673', /not a 64-bit integer/],
    ['"5184430069070270604"', /expected long, got string/],
    ['5184430069070270604.0', /expected long, got number with a point or exponent/],
    ['4.5982866113522427e+18', /expected long, got number with a point or exponent/],
    ['-1', /-1 is not a snapshot id/],
    ['null', /expected long, got null/],
  ])('refuses the id %s (B087, B088)', (id, message) => {
    const snapshot = parseJson(`{"snapshot-id":${id},"timestamp-ms":1}`)
    expect(() => decodeSnapshot(snapshot, 'snapshot')).toThrow(message)
  })
  it('refuses a summary value that is not text', () => {
    expect(() => decodeSnapshot({ ...json, summary: { operation: 1n } }, 's')).toThrow(
      's.summary.operation: expected string, got integer',
    )
  })
})

describe('decodeSnapshotRef', () => {
  it('takes the type in any case and refuses others', () => {
    expect(decodeSnapshotRef({ 'snapshot-id': 1n, type: 'BRANCH' }, 'r').type).toBe('branch')
    expect(() => decodeSnapshotRef({ 'snapshot-id': 1n, type: 'twig' }, 'r')).toThrow(
      /expected branch or tag/,
    )
  })
})
