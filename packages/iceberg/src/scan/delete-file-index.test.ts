import { describe, expect, it } from 'vitest'
import type { DataFile, ManifestEntry } from '../manifest/data-file.ts'
import { CorruptFileError } from '../spec/errors.ts'
import type { PartitionField, PartitionValue } from '../spec/partition-spec.ts'
import { encodeSingleValue, type SingleValue } from '../spec/single-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { NestedField, PrimitiveType } from '../spec/type.ts'
import { buildDeleteFileIndex } from './delete-file-index.ts'
import { added, type SampleManifest, scanOf, scanTable } from './sample-scan.ts'

const column = (id: number, type: PrimitiveType, required = false): NestedField => ({
  id,
  name: `c${id}`,
  required,
  type,
})
const identity = (sourceId: number): PartitionField => ({
  sourceIds: [sourceId],
  fieldId: 999 + sourceId,
  name: `p${sourceId}`,
  transform: { kind: 'identity' },
})
const DATA = 'file:///warehouse/ns/t/data/a.parquet'
const OTHER = 'file:///warehouse/ns/t/data/b.parquet'
const plain = scanTable([column(1, { kind: 'long' })])

const data = (filePath = DATA, extra: Partial<DataFile> = {}) => added({ filePath, ...extra })
const positions = (filePath: string, extra: Partial<DataFile> = {}) =>
  added({ content: 'position-deletes', filePath, ...extra })
const equalities = (filePath: string, extra: Partial<DataFile> = {}) =>
  added({ content: 'equality-deletes', equalityIds: [1], filePath, ...extra })
const vector = (offset: bigint, extra: Partial<DataFile> = {}) =>
  positions('p.puffin', {
    fileFormat: 'PUFFIN',
    referencedDataFile: DATA,
    contentOffset: offset,
    contentSizeBytes: 40n,
    ...extra,
  })
const pathBounds = (lower: string, upper = lower): Partial<DataFile> => ({
  lowerBounds: new Map([[2_147_483_546, new TextEncoder().encode(lower)]]),
  upperBounds: new Map([[2_147_483_546, new TextEncoder().encode(upper)]]),
})

interface Scene {
  readonly table?: TableMetadata
  readonly file?: ManifestEntry
  /** Of the data file's manifest. Default sequence number 5. */
  readonly manifest?: SampleManifest
  readonly deletes: readonly (readonly [ManifestEntry, SampleManifest?])[]
}

function indexed({ table = plain, file = data(), manifest = {}, deletes }: Scene) {
  const scan = scanOf(table, [file], { sequenceNumber: 5n, ...manifest })
  const manifests = deletes.map(([entry, sample = {}]) =>
    scanOf(table, [entry], { content: 'deletes', sequenceNumber: 6n, ...sample }),
  )
  return buildDeleteFileIndex(manifests, table).deletesFor(scan, 0)
}

/** The paths of the delete files that apply to the file. */
const applied = (scene: Scene) => indexed(scene).map(({ file }) => file.filePath)

describe('I50: sequence numbers', () => {
  it.each([
    [4n, []],
    [5n, ['d']],
    [6n, ['d']],
  ])('a position delete of sequence number %s applies to a file of 5: %s', (number, expected) => {
    const deletes = [[positions('d'), { sequenceNumber: number }]] as const
    expect(applied({ deletes })).toEqual(expected)
  })

  it.each([
    [4n, []],
    [5n, []],
    [6n, ['d']],
  ])('an equality delete of sequence number %s applies to a file of 5: %s', (number, expected) => {
    const deletes = [[equalities('d'), { sequenceNumber: number }]] as const
    expect(applied({ deletes })).toEqual(expected)
  })

  it('takes the number of the entry before that of the manifest', () => {
    const old = { status: 'existing', snapshotId: 1n, fileSequenceNumber: 3n } as const
    const entry: ManifestEntry = { ...positions('d'), ...old, sequenceNumber: 3n }
    expect(applied({ deletes: [[entry, { sequenceNumber: 9n }]] })).toEqual([])
  })

  it('tells many of one partition apart, whatever order they are listed in', () => {
    const deletes = [9n, 3n, 7n, 5n, 4n, 8n].map(
      (sequenceNumber) => [positions(`d${sequenceNumber}`), { sequenceNumber }] as const,
    )
    expect(applied({ deletes })).toEqual(['d5', 'd7', 'd8', 'd9'])
  })
})

describe('partitions', () => {
  const bySpec = (type: PrimitiveType) =>
    scanTable([column(1, type), column(2, { kind: 'long' })], [{ fields: [identity(1)] }])

  it.each<[string, PrimitiveType, PartitionValue, PartitionValue, boolean]>([
    ['null and null', { kind: 'int' }, null, null, true],
    ['null and a value', { kind: 'int' }, null, 0, false],
    ['NaN and NaN', { kind: 'double' }, Number.NaN, Number.NaN, true],
    ['−0 and +0', { kind: 'double' }, -0, 0, false],
    ['decimals', { kind: 'decimal', precision: 20, scale: 2 }, -5n, -5n, true],
    ['bytes', { kind: 'binary' }, Uint8Array.of(1), Uint8Array.of(1), true],
    ['other bytes', { kind: 'binary' }, Uint8Array.of(1), Uint8Array.of(1, 0), false],
    ['text and the text "null"', { kind: 'string' }, null, 'null', false],
  ])('B114: compares by value: %s', (_, type, left, right, isSame) => {
    const scene = (entry: ManifestEntry): Scene => ({
      table: bySpec(type),
      file: data(DATA, { partition: [left] }),
      deletes: [[entry]],
    })
    const expected = isSame ? ['d'] : []
    expect(applied(scene(positions('d', { partition: [right] })))).toEqual(expected)
    expect(applied(scene(equalities('d', { partition: [right], equalityIds: [2] })))).toEqual(
      expected,
    )
  })

  it('keeps partitions of several fields apart', () => {
    const table = scanTable(
      [column(1, { kind: 'string' }), column(2, { kind: 'string' })],
      [{ fields: [identity(1), identity(2)] }],
    )
    const file = data(DATA, { partition: ['a\u0000sb', 'c'] })
    const deletes = [[positions('d', { partition: ['a', 'b\u0000sc'] })]] as const
    expect(applied({ table, file, deletes })).toEqual([])
  })

  const evolved = scanTable(
    [column(1, { kind: 'int' }), column(2, { kind: 'int' })],
    [
      { fields: [identity(1)] },
      { fields: [identity(2)] },
      { fields: [] },
      { fields: [{ ...identity(1), transform: { kind: 'void' } }] },
    ],
  )

  it.each([
    [0, ['d']],
    [1, []],
  ])(
    'B112: a position delete under spec %s applies to a file of spec 0: %s',
    (specId, expected) => {
      const scene: Scene = {
        table: evolved,
        file: data(DATA, { partition: [7] }),
        manifest: { specId: 0 },
        deletes: [[positions('d', { partition: [7] }), { specId }]],
      }
      expect(applied(scene)).toEqual(expected)
    },
  )

  it.each([
    ['equal', 'equality-deletes', ['d']],
    ['position', 'position-deletes', []],
  ] as const)('%s deletes of a spec without fields: %s, apply to %s', (_, content, expected) => {
    for (const [specId, partition] of [
      [2, []],
      [3, [null]],
    ] as const) {
      const entry = added({ content, filePath: 'd', partition, equalityIds: [1] })
      const file = data(DATA, { partition: [7] })
      const deletes = [[entry, { specId }]] as const
      expect(applied({ table: evolved, file, manifest: { specId: 0 }, deletes })).toEqual(expected)
    }
  })

  it('B112, B114: a delete that names the file applies whatever it is recorded under', () => {
    const file = data(DATA, { partition: [7] })
    const wrong = { partition: [8], referencedDataFile: DATA }
    const bounds = { partition: [8], ...pathBounds(DATA) }
    const scene = (entry: ManifestEntry, specId: number): Scene => ({
      table: evolved,
      file,
      manifest: { specId: 0 },
      deletes: [[entry, { specId }]],
    })
    expect(applied(scene(positions('d', wrong), 0))).toEqual(['d'])
    expect(applied(scene(positions('d', wrong), 1))).toEqual(['d'])
    expect(applied(scene(positions('d', bounds), 1))).toEqual(['d'])
    expect(applied(scene(vector(4n, { partition: [8] }), 1))).toEqual(['p.puffin'])
  })
})

describe('deletes of one file', () => {
  it.each([
    ['its path', { referencedDataFile: DATA }, ['d']],
    ['another path', { referencedDataFile: OTHER }, []],
    ['equal bounds', pathBounds(DATA), ['d']],
    ['equal bounds of another path', pathBounds(OTHER), []],
    ['bounds that are not equal', pathBounds(DATA, OTHER), ['d']],
  ])('that name %s', (_, extra, expected) => {
    expect(applied({ deletes: [[positions('d', extra)]] })).toEqual(expected)
  })

  it('with a deletion vector has no other position deletes', () => {
    const found = indexed({
      deletes: [
        [positions('old'), { sequenceNumber: 5n }],
        [positions('older', { referencedDataFile: DATA }), { sequenceNumber: 5n }],
        [vector(4n)],
        [equalities('eq'), { sequenceNumber: 7n }],
      ],
    })
    expect(found.map(({ file }) => file.filePath)).toEqual(['eq', 'p.puffin'])
  })

  it('has position deletes when the vector is older than the file', () => {
    const deletes = [
      [vector(4n), { sequenceNumber: 4n }],
      [positions('d'), { sequenceNumber: 5n }],
    ] as const
    expect(applied({ deletes })).toEqual(['d'])
  })

  it('B116: vectors that share a file have keys of their own', () => {
    const scan = scanOf(plain, [data(DATA), data(OTHER)])
    const vectors = [vector(4n), vector(44n, { referencedDataFile: OTHER })]
    const index = buildDeleteFileIndex([scanOf(plain, vectors, { content: 'deletes' })], plain)
    const [first] = index.deletesFor(scan, 0)
    const [second] = index.deletesFor(scan, 1)
    expect([first?.file.contentOffset, second?.file.contentOffset]).toEqual([4n, 44n])
    expect(first?.key).not.toBe(second?.key)
    expect(index.deletesFor(scan, 0)[0]).toBe(first)
  })

  it('finds the file of a vector by its bounds where the field is missing', () => {
    const { referencedDataFile: _, ...rest } = vector(4n).dataFile
    const entry: ManifestEntry = { status: 'added', dataFile: { ...rest, ...pathBounds(DATA) } }
    expect(indexed({ deletes: [[entry]] })[0]?.file.referencedDataFile).toBe(DATA)
  })

  it.each([
    ['a vector of no file', [{ ...vector(4n).dataFile, referencedDataFile: '' }]],
    ['two vectors of one file', [vector(4n).dataFile, vector(44n).dataFile]],
  ])('refuses %s', (_, files) => {
    const entries = files.map((dataFile): ManifestEntry => ({ status: 'added', dataFile }))
    const manifests = [scanOf(plain, entries, { content: 'deletes' })]
    expect(() => buildDeleteFileIndex(manifests, plain)).toThrow(CorruptFileError)
  })

  it('takes a vector that is listed twice once', () => {
    expect(applied({ deletes: [[vector(4n)], [vector(4n)]] })).toEqual(['p.puffin'])
  })
})

describe('equality deletes that cannot touch a file', () => {
  interface Metrics {
    readonly lower?: SingleValue
    readonly upper?: SingleValue
    readonly values?: bigint
    readonly nulls?: bigint
    readonly nans?: bigint
  }
  const metrics = (type: PrimitiveType, of: Metrics): Partial<DataFile> => ({
    ...(of.lower === undefined ? {} : { lowerBounds: byId(encodeSingleValue(type, of.lower)) }),
    ...(of.upper === undefined ? {} : { upperBounds: byId(encodeSingleValue(type, of.upper)) }),
    ...(of.values === undefined ? {} : { valueCounts: byId(of.values) }),
    ...(of.nulls === undefined ? {} : { nullValueCounts: byId(of.nulls) }),
    ...(of.nans === undefined ? {} : { nanValueCounts: byId(of.nans) }),
  })
  const byId = <Value>(value: Value): ReadonlyMap<number, Value> => new Map([[1, value]])
  const LONG: PrimitiveType = { kind: 'long' }
  const DOUBLE: PrimitiveType = { kind: 'double' }
  const full = { values: 10n, nulls: 0n }
  const allNull = { values: 10n, nulls: 10n }

  it.each<[string, PrimitiveType, Metrics, Metrics, boolean]>([
    ['overlap', LONG, { lower: 1n, upper: 5n, ...full }, { lower: 5n, upper: 9n, ...full }, true],
    ['below', LONG, { lower: 1n, upper: 4n, ...full }, { lower: 5n, upper: 9n, ...full }, false],
    ['above', LONG, { lower: 10n, upper: 11n, ...full }, { lower: 5n, upper: 9n, ...full }, false],
    ['no bounds', LONG, full, { lower: 5n, upper: 9n, ...full }, true],
    [
      'nulls on both sides',
      LONG,
      { lower: 1n, upper: 4n, nulls: 1n },
      { lower: 5n, upper: 9n, nulls: 1n },
      true,
    ],
    ['unknown nulls', LONG, { lower: 1n, upper: 4n }, { lower: 5n, upper: 9n }, true],
    ['only nulls in the file', LONG, allNull, { lower: 5n, upper: 9n, ...full }, false],
    ['only nulls deleted', LONG, { lower: 1n, upper: 4n, ...full }, allNull, false],
    ['nulls against nulls', LONG, allNull, allNull, true],
    [
      'zeros of both signs',
      DOUBLE,
      { lower: 0, upper: 4, ...full, nans: 0n },
      { lower: -1, upper: -0, ...full, nans: 0n },
      true,
    ],
    [
      'B099: NaN on both sides',
      DOUBLE,
      { lower: 1, upper: 4, ...full, nans: 1n },
      { lower: 5, upper: 9, ...full, nans: 1n },
      true,
    ],
    [
      'NaN on one side',
      DOUBLE,
      { lower: 1, upper: 4, ...full, nans: 0n },
      { lower: 5, upper: 9, ...full, nans: 1n },
      false,
    ],
  ])('%s', (_, type, ofData, ofDeletes, expected) => {
    const scene: Scene = {
      table: scanTable([column(1, type)]),
      file: data(DATA, metrics(type, ofData)),
      deletes: [[equalities('d', metrics(type, ofDeletes))]],
    }
    expect(applied(scene)).toEqual(expected ? ['d'] : [])
  })

  it('needs no null counts of a required column, unless what is around it can be null', () => {
    const inner = column(1, LONG, true)
    const ofData = metrics(LONG, { lower: 1n, upper: 4n })
    const ofDeletes = metrics(LONG, { lower: 5n, upper: 9n })
    const scene = (fields: readonly NestedField[]): Scene => ({
      table: scanTable(fields),
      file: data(DATA, ofData),
      deletes: [[equalities('d', ofDeletes)]],
    })
    expect(applied(scene([inner]))).toEqual([])
    const outer: NestedField = {
      id: 2,
      name: 'outer',
      required: false,
      type: { kind: 'struct', fields: [inner] },
    }
    expect(applied(scene([outer]))).toEqual(['d'])
  })

  it('keeps deletes by a column that no schema has', () => {
    expect(applied({ deletes: [[equalities('d', { equalityIds: [77] })]] })).toEqual(['d'])
  })
})
