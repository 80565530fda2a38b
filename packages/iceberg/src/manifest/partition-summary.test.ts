import { describe, expect, it } from 'vitest'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { IcebergType } from '../spec/type.ts'
import type { ManifestEntry } from './data-file.ts'
import { summarizePartitions } from './partition-summary.ts'

const hex = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString('hex')

function summarize(type: IcebergType, values: readonly PartitionValue[]) {
  const entries = values.map((value): ManifestEntry => ({
    status: 'added',
    dataFile: {
      content: 'data',
      filePath: 'f',
      fileFormat: 'PARQUET',
      partition: [value],
      recordCount: 1n,
      fileSizeBytes: 1n,
    },
  }))
  const [summary] = summarizePartitions(
    {
      specId: 0,
      fields: [{ sourceIds: [1], fieldId: 1000, name: 'p', transform: { kind: 'identity' } }],
    },
    { schemaId: 0, identifierFieldIds: [], fields: [{ id: 1, name: 'c', required: false, type }] },
    entries,
  )
  return { ...summary, lowerBound: hex(summary!.lowerBound), upperBound: hex(summary!.upperBound) }
}

describe('summarizePartitions', () => {
  it('B105: keeps NaN out of the bounds and says that it is there', () => {
    expect(summarize({ kind: 'float' }, [1, NaN, -2, null])).toEqual({
      containsNull: true,
      containsNan: true,
      lowerBound: '000000c0',
      upperBound: '0000803f',
    })
  })

  it.each([
    ['only NaN', [NaN], { containsNull: false, containsNan: true }],
    ['only null', [null], { containsNull: true, containsNan: false }],
    ['nothing', [], { containsNull: false, containsNan: false }],
  ])('has no bounds over %s', (_, values, expected) => {
    expect(summarize({ kind: 'double' }, values)).toEqual({
      ...expected,
      lowerBound: undefined,
      upperBound: undefined,
    })
  })

  it('puts −0 below +0', () => {
    expect(summarize({ kind: 'float' }, [0, -0])).toMatchObject({
      lowerBound: '00000080',
      upperBound: '00000000',
    })
  })

  it('B101: orders negative decimals below positive ones, in the fewest bytes', () => {
    const type: IcebergType = { kind: 'decimal', precision: 7, scale: 2 }
    expect(summarize(type, [1250n, -996953n, 0n])).toMatchObject({
      lowerBound: 'f0c9a7',
      upperBound: '04e2',
    })
  })

  it('orders text by its UTF-8 bytes', () => {
    const summary = summarize({ kind: 'string' }, ['\u{1f600}', '\ufffd'])
    expect(summary).toMatchObject({ lowerBound: 'efbfbd', upperBound: 'f09f9880' })
  })
})
