import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindExpression } from '../expressions/bind-expression.ts'
import { evaluate } from '../expressions/evaluate.ts'
import type { CompareOperator, Expression } from '../expressions/expression.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { currentSchema } from '../snapshot/new-snapshot.ts'
import { applyTransform } from '../spec/apply-transform.ts'
import type { JsonValue } from '../spec/json-value.ts'
import { encodeSingleValue } from '../spec/single-value.ts'
import type { NestedField } from '../spec/type.ts'
import { buildDeleteFileIndex } from './delete-file-index.ts'
import { planFiles, type PlanFilesInput } from './plan-files.ts'
import { added, sampleManifest, scanOf, scanTable } from './sample-scan.ts'
import { compileScanFilter } from './scan-filter.ts'
import type { ScanManifest } from './scan-manifest.ts'
import { selectManifests } from './select-manifests.ts'

const LONG = { kind: 'long' } as const
const columns: NestedField[] = ['a', 'b'].map((name, index) => ({
  id: index + 1,
  name,
  required: false,
  type: LONG,
}))
/** Spec 0 has no fields, spec 1 the tens of `a`, spec 2 `b` itself. */
const table = scanTable(columns, [
  { fields: [] },
  {
    fields: [
      {
        sourceIds: [1],
        fieldId: 1000,
        name: 'tens',
        transform: { kind: 'truncate', width: 10 },
      },
    ],
  },
  { fields: [{ sourceIds: [2], fieldId: 1001, name: 'b', transform: { kind: 'identity' } }] },
])

type Row = readonly [a: bigint | null, b: bigint | null]

const compare = (name: string, operator: CompareOperator, json: JsonValue): Expression => ({
  kind: 'compare',
  operator,
  term: { reference: { name }, transform: { kind: 'identity' } },
  literal: { json },
})

function filterOf(expression: Expression) {
  const predicate = bindExpression(expression, currentSchema(table), { caseSensitive: true })
  return compileScanFilter(predicate, table)
}

/** What a writer puts down of a file of rows that are all in one partition. */
function fileOf(rows: readonly Row[], extra: Partial<DataFile> = {}): Partial<DataFile> {
  const lowerBounds = new Map<number, Uint8Array>()
  const upperBounds = new Map<number, Uint8Array>()
  const nullValueCounts = new Map<number, bigint>()
  for (const index of [0, 1] as const) {
    const values = rows.flatMap((row) => row[index] ?? []).sort((x, y) => Number(x - y))
    nullValueCounts.set(index + 1, BigInt(rows.length - values.length))
    const [first] = values
    if (first !== undefined) lowerBounds.set(index + 1, encodeSingleValue(LONG, first))
    const last = values.at(-1)
    if (last !== undefined) upperBounds.set(index + 1, encodeSingleValue(LONG, last))
  }
  const count = BigInt(rows.length)
  const valueCounts = new Map([1, 2].map((id) => [id, count]))
  return {
    recordCount: count,
    lowerBounds,
    upperBounds,
    nullValueCounts,
    valueCounts,
    ...extra,
  }
}

const NO_DELETES = buildDeleteFileIndex([], table)

function planned(data: ScanManifest, input: Partial<PlanFilesInput> = {}) {
  const filter = filterOf({ kind: 'true' })
  return planFiles({ filter, data, deletes: NO_DELETES, ...input })
}

describe('planFiles', () => {
  const value = fc.option(fc.bigInt({ min: -25n, max: 25n }), { nil: null })
  const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 4 })
  const leaf = fc
    .tuple(
      fc.constantFrom('a', 'b'),
      fc.constantFrom<CompareOperator>('lt', 'lt-eq', 'gt', 'gt-eq', 'eq', 'not-eq'),
      fc.bigInt({ min: -25n, max: 25n }),
    )
    .map(([name, operator, literal]) => compare(name, operator, literal))
  const expression = fc
    .tuple(
      fc.constantFrom('and' as const, 'or' as const),
      fc.array(leaf, { minLength: 2, maxLength: 3 }),
    )
    .map(([kind, children]): Expression => ({ kind, children }))

  it('I49: gives every file with a row that matches, and residuals that say which do', () => {
    fc.assert(
      fc.property(
        fc.array(rows, { minLength: 1, maxLength: 6 }),
        fc.oneof(leaf, expression),
        fc.constantFrom(0, 1, 2),
        (files, tested, specId) => {
          const groups = files.map((file) => inOnePartition(file, specId))
          const data = scanOf(
            table,
            groups.map(({ rows: group, partition }) => added(fileOf(group, { partition }))),
            { specId },
          )
          const filter = filterOf(tested)
          const found = planned(data, { filter })
          groups.forEach(({ rows: group }, row) => {
            const matches = group.map((each) => isMatch(filter.predicate, each))
            if (!found.rows.includes(row)) expect(matches).not.toContain(true)
            else expect(group.map((each) => isMatch(found.residual(row), each))).toEqual(matches)
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  it('leaves out files by partition, then by metrics', () => {
    const row = (a: bigint): Row => [a, null]
    const entries = [
      added(fileOf([row(1n), row(9n)], { partition: [0n] })),
      added(fileOf([row(12n)], { partition: [10n] })),
      added(fileOf([row(18n)], { partition: [10n] })),
      added({ partition: [10n] }),
    ]
    const data = scanOf(table, entries, { specId: 1 })
    const filter = filterOf(compare('a', 'gt', 15n))
    expect(planned(data, { filter }).rows).toEqual([2, 3])
    expect(planned(data, { filter: filterOf(compare('a', 'gt-eq', 10n)) }).residual(1).kind).toBe(
      'true',
    )
  })

  it('takes of an incremental scan what the snapshots added, without deletes', () => {
    const kept = { status: 'existing', sequenceNumber: 1n, fileSequenceNumber: 1n } as const
    const entries = [
      added({}, { snapshotId: 7n }),
      added({}, { ...kept, snapshotId: 7n }),
      added({}, { snapshotId: 8n }),
    ]
    const removed = added({ content: 'position-deletes' })
    const deletes = buildDeleteFileIndex(
      [scanOf(table, [removed], { content: 'deletes', specId: 0, sequenceNumber: 9n })],
      table,
    )
    const data = scanOf(table, entries, { specId: 0 })
    expect(planned(data, { deletes }).deletes(0)).toHaveLength(1)
    const found = planned(data, { deletes, addedIn: new Set([7n]) })
    expect(found.rows).toEqual([0])
    expect(found.deletes(0)).toEqual([])
  })

  it('leaves out deletes of rows that the filter rules out', () => {
    const range = (lower: bigint, upper: bigint): Row[] => [
      [lower, null],
      [upper, null],
    ]
    const deleteOf = (filePath: string, of: readonly Row[]) =>
      added({ ...fileOf(of), content: 'equality-deletes', equalityIds: [1], filePath })
    const deletes = buildDeleteFileIndex(
      [
        scanOf(table, [deleteOf('low', range(1n, 2n)), deleteOf('high', range(8n, 9n))], {
          content: 'deletes',
          specId: 0,
          sequenceNumber: 9n,
        }),
      ],
      table,
    )
    const data = scanOf(table, [added(fileOf(range(0n, 10n)))], { specId: 0 })
    const paths = (filter = filterOf({ kind: 'true' })) =>
      planned(data, { deletes, filter })
        .deletes(0)
        .map(({ file }) => file.filePath)
    expect(paths()).toEqual(['low', 'high'])
    expect(paths(filterOf(compare('a', 'gt', 5n)))).toEqual(['high'])
  })

  describe('stops at the rows that are wanted', () => {
    const tens = [0n, 10n, 20n].map((a) =>
      added(fileOf([[a, 1n]], { partition: [a], recordCount: 10n })),
    )
    const data = scanOf(table, tens, { specId: 1 })

    it.each([
      [1, [0], 10],
      [10, [0], 10],
      [11, [0, 1], 20],
      [99, [0, 1, 2], 30],
    ])('%s: files %s', (rowsWanted, expected, sureRowCount) => {
      const found = planned(data, { rowsWanted })
      expect({ rows: found.rows, sure: found.sureRowCount }).toEqual({
        rows: expected,
        sure: sureRowCount,
      })
    })

    it('counts no file whose rows the partition does not decide', () => {
      const filter = filterOf(compare('a', 'gt-eq', 0n))
      expect(planned(data, { rowsWanted: 1, filter }).rows).toEqual([0])
      const unsure = filterOf(compare('b', 'eq', 1n))
      const found = planned(data, { rowsWanted: 1, filter: unsure })
      expect(found).toMatchObject({ rows: [0, 1, 2], sureRowCount: 0 })
    })

    it('counts no file with deletes, nor one whose count is not known', () => {
      const removed = added({ content: 'position-deletes', partition: [0n] })
      const deletes = buildDeleteFileIndex(
        [scanOf(table, [removed], { content: 'deletes', specId: 1, sequenceNumber: 9n })],
        table,
      )
      expect(planned(data, { deletes, rowsWanted: 1 }).rows).toEqual([0, 1])
      const unknown = added({ partition: [0n], recordCount: -1n })
      const first = scanOf(table, [unknown, ...tens], { specId: 1 })
      expect(planned(first, { rowsWanted: 1 }).rows).toEqual([0, 1])
    })
  })
})

function inOnePartition(rows: readonly Row[], specId: number) {
  const partitionOf = ([a, b]: Row) =>
    specId === 0
      ? []
      : specId === 1
        ? [applyTransform({ kind: 'truncate', width: 10 }, LONG, a)]
        : [b]
  const [first = [null, null]] = rows
  const partition = partitionOf(first)
  return { partition, rows: rows.filter((row) => partitionOf(row)[0] === partition[0]) }
}

function isMatch(predicate: Parameters<typeof evaluate>[0], row: Row): boolean {
  return evaluate(predicate, ({ fieldId }) => row[fieldId - 1] ?? null)
}

describe('selectManifests', () => {
  const manifestOf = (partition: bigint, extra: Partial<ManifestFile> = {}): ManifestFile => ({
    ...sampleManifest(table, [added({ partition: [partition] })], { specId: 1 }).manifest,
    ...extra,
  })
  const low = manifestOf(0n)
  const high = manifestOf(50n)
  const select = (manifests: readonly ManifestFile[], addedIn?: ReadonlySet<bigint>) => {
    const filter = filterOf(compare('a', 'gt', 40n))
    return selectManifests({ manifests, filter, ...(addedIn === undefined ? {} : { addedIn }) })
  }

  it('leaves out manifests by their summaries, and takes those without', () => {
    const { partitions: _, ...bare } = manifestOf(0n)
    expect(select([low, high, bare])).toEqual({ data: [high, bare], deletes: [] })
  })

  it('leaves out manifests without live files, and takes those without counts', () => {
    const empty = { ...high, addedFilesCount: 0, existingFilesCount: 0 }
    const { addedFilesCount: _, ...unknown } = empty
    expect(select([empty]).data).toEqual([])
    expect(select([unknown]).data).toEqual([unknown])
  })

  it('takes delete manifests that are not older than every data file', () => {
    const data = { ...high, minSequenceNumber: 5n, sequenceNumber: 9n }
    const deletes = (sequenceNumber: bigint) =>
      manifestOf(50n, { content: 'deletes', sequenceNumber })
    const [old, same] = [deletes(4n), deletes(5n)]
    expect(select([data, old, same])).toEqual({ data: [data], deletes: [same] })
    expect(select([same])).toEqual({ data: [], deletes: [] })
  })

  it('takes for an incremental scan the data manifests of its snapshots, each once', () => {
    const mine = { ...high, addedSnapshotId: 7n }
    const deletes = manifestOf(50n, { content: 'deletes', addedSnapshotId: 7n })
    const kept = {
      ...manifestOf(50n),
      addedSnapshotId: 7n,
      addedFilesCount: 0,
      existingFilesCount: 1,
    }
    const found = select([high, mine, mine, deletes, kept], new Set([7n]))
    expect(found).toEqual({ data: [mine], deletes: [] })
  })
})
