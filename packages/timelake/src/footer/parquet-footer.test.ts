import { readdirSync, readFileSync } from 'node:fs'
import { parquetMetadata } from 'hyparquet'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeParquetFooter, footerSizeBytes } from './parquet-footer.ts'

const FIXTURES = new URL('../data/fixtures/', import.meta.url)
const fixtures = readdirSync(FIXTURES).filter((name) => name.endsWith('.parquet'))

const load = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, FIXTURES)))

describe('decodeParquetFooter', () => {
  it.each(fixtures)('reads what hyparquet reads of %s', (name) => {
    const bytes = load(name)
    const footer = decodeParquetFooter(bytes)
    const oracle = parquetMetadata(bytes.slice().buffer)
    expect(footer.rowCount).toBe(oracle.num_rows)
    expect(footer.createdBy).toBe(oracle.created_by)
    const leaves = oracle.schema.slice(1)
    expect(footer.columns.map((c) => [c.name, c.fieldId, c.physicalType])).toEqual(
      leaves.map((element) => [element.name, element.field_id, element.type]),
    )
    expect(footer.columns.map((c) => c.repetition.toUpperCase())).toEqual(
      leaves.map((element) => element.repetition_type),
    )
    const chunks = footer.rowGroups.flatMap(({ columns }) => columns)
    const expected = oracle.row_groups.flatMap(({ columns }) => columns.map((c) => c.meta_data!))
    expect(chunks.map((c) => [c.codec, c.valueCount, c.compressedSizeBytes, c.nullCount])).toEqual(
      expected.map((m) => [
        m.codec,
        m.num_values,
        m.total_compressed_size,
        m.statistics?.null_count,
      ]),
    )
  })

  it('keeps statistics as raw bytes, so 64-bit extremes are exact', () => {
    const footer = decodeParquetFooter(load('types-0.parquet'))
    const chunk = footer.rowGroups[0]?.columns.find(({ path }) => path[0] === 'l')
    expect(Buffer.from(chunk?.max ?? []).readBigInt64LE()).toBe(2n ** 63n - 1n)
  })

  it('folds converted types and logical types into one annotation', () => {
    const { columns } = decodeParquetFooter(load('types-0.parquet'))
    const annotations = Object.fromEntries(columns.map((c) => [c.name, c.annotation]))
    expect(annotations).toMatchObject({
      day: { kind: 'date' },
      t: { kind: 'time', unit: 'micros' },
      tz: { kind: 'timestamp', unit: 'micros' },
      s: { kind: 'string' },
      u: { kind: 'uuid' },
      d38: { kind: 'decimal', precision: 38, scale: 10 },
    })
    expect(annotations['bin']).toBeUndefined()
  })

  it('names an encrypted footer', () => {
    expect(() => footerSizeBytes(Buffer.from('xxxxPARE'))).toThrow(/encrypted/)
  })

  it('answers CorruptFileError and nothing else for damaged bytes', () => {
    const bytes = load('evolved-0.parquet')
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), (at, byte) => {
        const damaged = bytes.slice()
        damaged[at] = byte
        try {
          decodeParquetFooter(damaged)
        } catch (error) {
          expect(error).toMatchObject({ name: 'CorruptFileError' })
        }
      }),
      { numRuns: 2000 },
    )
  })
})
