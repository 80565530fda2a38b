import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { UnboundPartitionField } from '../spec/partition-spec.ts'
import type { Transform } from '../spec/transform.ts'
import { commit, ID_COLUMN, sampleTable, schemaOf, TS_COLUMN } from './sample-table.ts'
import type { TableUpdate } from './table-update.ts'

const table = sampleTable()
const field = (
  name: string,
  sourceId: number,
  ...[transform, fieldId]: [Transform, number?]
): UnboundPartitionField => ({
  name,
  sourceIds: [sourceId],
  transform,
  ...(fieldId === undefined ? {} : { fieldId }),
})
const add = (...fields: UnboundPartitionField[]): TableUpdate => ({
  action: 'add-spec',
  spec: { fields },
})
const setDefault = (specId: number): TableUpdate => ({ action: 'set-default-spec', specId })
const day = field('ts_day', 2, { kind: 'day' })
const bucket = field('id_bucket', 1, { kind: 'bucket', bucketCount: 4 })
const data = field('data', 3, { kind: 'identity' })

describe('add-spec', () => {
  it('gives the next id and raises last-partition-id', () => {
    const after = commit(table, [add({ ...day, fieldId: 1000 }, { ...bucket, fieldId: 1001 })])
    expect(after.partitionSpecs[1]).toEqual({
      specId: 1,
      fields: [
        { ...day, fieldId: 1000 },
        { ...bucket, fieldId: 1001 },
      ],
    })
    expect(after.lastPartitionId).toBe(1001)
    expect(after.defaultSpecId).toBe(0)
  })

  it('uses a spec with the same fields again, whatever their ids', () => {
    expect(commit(table, [add({ ...day, fieldId: 1007 })])).toBe(table)
  })

  it('takes another order or another name for another spec', () => {
    const after = commit(table, [add(day, bucket), add(bucket, day), add({ ...day, name: 'day' })])
    expect(after.partitionSpecs).toHaveLength(4)
  })

  it('uses the id of an equal field of an older spec where none was sent, and a fresh one for others', () => {
    const after = commit(table, [add(bucket, { ...day, name: 'renamed' }, data)])
    expect(after.partitionSpecs[1]?.fields.map(({ fieldId }) => fieldId)).toEqual([
      1001, 1000, 1002,
    ])
    expect(after.lastPartitionId).toBe(1002)
  })

  it('keeps last-partition-id when a spec without fields comes', () => {
    expect(commit(table, [add()]).lastPartitionId).toBe(1000)
  })

  it('I14 never gives an id twice, nor one that another field holds (property)', () => {
    const anyField = fc.record({
      sourceId: fc.constantFrom(1, 2, 3),
      count: fc.integer({ min: 1, max: 4 }),
      fieldId: fc.option(fc.integer({ min: 1000, max: 1005 }), { nil: undefined }),
    })
    const specs = fc.array(fc.array(anyField, { maxLength: 4 }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(specs, (lists) => {
        let last = table
        for (const list of lists) {
          const fields = list.map(({ sourceId, count, fieldId }, position) =>
            field(`p${position}`, sourceId, { kind: 'bucket', bucketCount: count }, fieldId),
          )
          try {
            last = commit(last, [add(...fields)])
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidInputError)
          }
        }
        for (const spec of last.partitionSpecs) {
          const ids = spec.fields.map(({ fieldId }) => fieldId)
          expect(new Set(ids).size).toBe(ids.length)
          expect(last.lastPartitionId).toBeGreaterThanOrEqual(Math.max(999, ...ids))
        }
      }),
    )
  })

  it.each<readonly [string, readonly UnboundPartitionField[], string]>([
    ['an empty name', [{ ...bucket, name: '' }], 'empty partition name'],
    ['a repeated name', [bucket, { ...day, name: 'id_bucket' }], 'more than once'],
    ['the name of another column', [{ ...bucket, name: 'data' }], 'data'],
    ['an unknown column', [{ ...bucket, sourceIds: [9] }], 'Cannot find source column'],
    [
      'a transform that does not fit',
      [field('d', 3, { kind: 'day' })],
      'Invalid source type string',
    ],
    [
      'a repeated field id',
      [
        { ...bucket, fieldId: 1001 },
        { ...data, fieldId: 1001 },
      ],
      'more than once',
    ],
  ])('refuses %s', (_, fields, text) => {
    expect(() => commit(table, [add(...fields)])).toThrow(text)
    expect(() => commit(table, [add(...fields)])).toThrow(InvalidInputError)
  })

  it('refuses columns in lists and maps, and takes those in structs', () => {
    const nested = commit(table, [
      {
        action: 'add-schema',
        schema: schemaOf(
          ID_COLUMN,
          TS_COLUMN,
          {
            id: 4,
            name: 's',
            required: false,
            type: { kind: 'struct', fields: [{ ...ID_COLUMN, id: 5, name: 'x' }] },
          },
          {
            id: 6,
            name: 'l',
            required: false,
            type: { kind: 'list', elementId: 7, elementRequired: true, element: { kind: 'long' } },
          },
        ),
      },
      { action: 'set-current-schema', schemaId: -1 },
    ])
    expect(commit(nested, [add(field('x', 5, { kind: 'identity' }))]).partitionSpecs).toHaveLength(
      2,
    )
    expect(() => commit(nested, [add(field('l', 7, { kind: 'identity' }))])).toThrow('l')
    expect(() => commit(nested, [add(field('e', 7, { kind: 'identity' }))])).toThrow(
      'Invalid parent list',
    )
    expect(() => commit(nested, [add(field('s', 4, { kind: 'identity' }))])).toThrow(
      'non-primitive',
    )
  })

  it('keeps void over a column that is gone', () => {
    expect(commit(table, [add(field('old', 99, { kind: 'void' }))]).partitionSpecs).toHaveLength(2)
  })
})

describe('B041: partition field ids in v1', () => {
  const old = sampleTable(1)

  it('are given by position', () => {
    const after = commit(old, [add(day, bucket)])
    expect(after.partitionSpecs[1]?.fields.map(({ fieldId }) => fieldId)).toEqual([1000, 1001])
    const again = commit(after, [add(bucket)])
    expect(again.partitionSpecs[2]?.fields.map(({ fieldId }) => fieldId)).toEqual([1000])
    expect(again.lastPartitionId).toBe(1001)
  })

  it('must be sequential from 1000', () => {
    expect(() => commit(old, [add({ ...bucket, fieldId: 1001 })])).toThrow(
      'Spec does not use sequential IDs that are required in v1',
    )
  })

  it('B040: stay in place when a field becomes void and its column is dropped', () => {
    const after = commit(old, [
      add({ ...day, transform: { kind: 'void' }, fieldId: 1000 }),
      setDefault(-1),
      { action: 'add-schema', schema: schemaOf(ID_COLUMN) },
      { action: 'set-current-schema', schemaId: -1 },
    ])
    expect(after.defaultSpecId).toBe(1)
    expect(after.currentSchemaId).toBe(1)
  })
})

describe('set-default-spec', () => {
  it('takes -1 for the spec added last', () => {
    expect(commit(table, [add(bucket), add(), setDefault(-1)]).defaultSpecId).toBe(2)
  })

  it('refuses -1 when no spec was added, and unknown ids', () => {
    expect(() => commit(table, [setDefault(-1)])).toThrow('no spec has been added')
    expect(() => commit(table, [setDefault(4)])).toThrow('unknown spec: 4')
  })

  it('does nothing for the default', () => {
    expect(commit(table, [setDefault(0)])).toBe(table)
  })

  it('binds to the schema that is current at that point of the request', () => {
    const host = { id: 4, name: 'host', required: false, type: { kind: 'string' } } as const
    const addHost: TableUpdate[] = [
      { action: 'add-schema', schema: schemaOf(ID_COLUMN, TS_COLUMN, host) },
      { action: 'set-current-schema', schemaId: -1 },
    ]
    const addSpec = add(field('host', 4, { kind: 'identity' }))
    expect(commit(table, [...addHost, addSpec, setDefault(-1)]).defaultSpecId).toBe(1)
    expect(() => commit(table, [addSpec, ...addHost])).toThrow('Cannot find source column')
  })
})

describe('remove-partition-specs', () => {
  const two = commit(table, [add(bucket)])
  const remove = (...specIds: number[]): TableUpdate => ({
    action: 'remove-partition-specs',
    specIds,
  })

  it('removes what is there and ignores the rest', () => {
    expect(commit(two, [remove(1, 7)]).partitionSpecs.map(({ specId }) => specId)).toEqual([0])
    expect(commit(two, [remove(7)])).toBe(two)
  })

  it('refuses the default', () => {
    expect(() => commit(two, [remove(0)])).toThrow('Cannot remove the default partition spec')
  })
})
