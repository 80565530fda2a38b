import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { partitionKey } from '@timelake/iceberg/manifest/partition-type'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { IcebergType } from '@timelake/iceberg/spec/type'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CompactionInput, CompactionPlan, LiveDataFile } from './compaction-plan.ts'
import { planCompaction } from './plan-compaction.ts'

const NOW_MS = 1_800_000_000_000
const MIB = 1024 * 1024
const LOCATION = 'file:///lake/t'

const column = (id: number, name: string, type: IcebergType) => ({
  id,
  name,
  required: false,
  type,
})
const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [column(1, 'id', { kind: 'long' }), column(2, 'day', { kind: 'date' })],
}

function metadata(changes: Partial<TableMetadata> = {}): TableMetadata {
  const snapshot = (snapshotId: bigint, ageMs: number) => ({
    snapshotId,
    sequenceNumber: snapshotId,
    timestampMs: NOW_MS - ageMs,
    manifestList: `${LOCATION}/metadata/snap-${snapshotId}.avro`,
  })
  return {
    formatVersion: 2,
    tableUuid: '4b1d0000-0000-4000-8000-000000000000',
    location: LOCATION,
    lastSequenceNumber: 9n,
    lastUpdatedMs: NOW_MS,
    lastColumnId: 2,
    currentSchemaId: 0,
    schemas: [schema],
    defaultSpecId: 0,
    partitionSpecs: [{ specId: 0, fields: [] }],
    lastPartitionId: 999,
    defaultSortOrderId: 0,
    sortOrders: [{ orderId: 0, fields: [] }],
    properties: {},
    currentSnapshotId: 9n,
    snapshots: [snapshot(1n, 2 * 3_600_000), snapshot(9n, 5_000)],
    snapshotLog: [],
    metadataLog: [],
    refs: { main: { snapshotId: 9n, type: 'branch' } },
    statistics: [],
    partitionStatistics: [],
    encryptionKeys: [],
    ...changes,
  }
}

let serial = 0
function file(
  sizeBytes: number,
  changes: Partial<DataFile & LiveDataFile['entry'] & { specId: number }> = {},
): LiveDataFile {
  const { specId = 0, snapshotId = 9n, sequenceNumber = 9n, ...rest } = changes
  const dataFile: DataFile = {
    content: 'data',
    filePath: `${LOCATION}/data/${String(serial++).padStart(8, '0')}.parquet`,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 10n,
    fileSizeBytes: BigInt(sizeBytes),
    ...rest,
  }
  const entry = {
    status: 'added' as const,
    snapshotId,
    sequenceNumber,
    fileSequenceNumber: sequenceNumber,
    dataFile,
  }
  return { specId, entry }
}

function plan(
  files: readonly LiveDataFile[],
  changes: Partial<CompactionInput> = {},
): CompactionPlan {
  return planCompaction({
    metadata: metadata(),
    files,
    deleteFiles: [],
    allowedPrefixes: [LOCATION],
    nowMs: NOW_MS,
    ...changes,
  })
}

const times = (count: number, make: (index: number) => LiveDataFile): LiveDataFile[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** The live files after the plan has been carried out, with outputs as large as `shrink` of their inputs. */
function applied(
  files: readonly LiveDataFile[],
  done: CompactionPlan,
  shrink: number,
): LiveDataFile[] {
  if (done.outcome !== 'compact') return [...files]
  const gone = new Set(done.groups.flatMap(({ inputs }) => inputs))
  const outputs = done.groups.map(({ specId, partition, inputSizeBytes }) =>
    file(Math.floor(Number(inputSizeBytes) * shrink), { specId, partition }),
  )
  return [...files.filter((one) => !gone.has(one)), ...outputs]
}

describe('planCompaction', () => {
  it('merges five small files of one partition into one', () => {
    const files = times(5, () => file(3000))
    const result = plan(files)
    expect(result).toMatchObject({
      outcome: 'compact',
      snapshotId: 9n,
      remainingGroupCount: 0,
      reason: '5 small files become 1 in 1 groups',
      numbers: { liveFileCount: 5, smallFileCount: 5, partitionCount: 1 },
    })
    expect(result.outcome === 'compact' && result.groups).toMatchObject([
      { inputSizeBytes: 15_000n, inputRowCount: 50n, estimatedOutputCount: 1 },
    ])
  })

  it.each([
    ['only one of 2 live files is below 96MiB', [file(3000), file(2e8)]],
    [
      'no two of 2 small files (below 96MiB) are in one partition',
      [file(3000), file(3000, { partition: ['x'] })],
    ],
  ])('says that a merge needs two small files of a partition: %s', (reason, files) => {
    expect(plan(files)).toMatchObject({ outcome: 'nothing-to-do', reason })
  })

  it('says how far the best partition is from a merge, and when it is merged anyway', () => {
    const files = [file(3000), file(3000, { partition: ['x'] }), file(3000, { partition: ['x'] })]
    const result = plan(files)
    expect(result).toMatchObject({
      outcome: 'nothing-to-do',
      nextTriggerMs: NOW_MS - 5000 + 3_600_000,
    })
    expect(result.reason).toBe(
      'no partition holds 5 small files of similar size: the most is 2 of 2 small files (below 96MiB) in one partition; two are merged once a partition has had no commit for 1h',
    )
  })

  it('says that no file is small', () => {
    expect(plan(times(9, () => file(100 * MIB)))).toMatchObject({
      outcome: 'nothing-to-do',
      reason: 'none of 9 live files is below 96MiB',
    })
  })

  it('merges two small files of a partition whose last commit is an hour old', () => {
    const old = { snapshotId: 1n, sequenceNumber: 1n }
    expect(plan([file(3000, old), file(5000, old)])).toMatchObject({ outcome: 'compact' })
    expect(plan([file(3000, old), file(5000)])).toMatchObject({ outcome: 'nothing-to-do' })
  })

  it('does not rewrite a large small file for every few tiny ones', () => {
    const result = plan([file(60 * MIB), ...times(6, () => file(3000))])
    expect(
      result.outcome === 'compact' && result.groups.map(({ inputs }) => inputs.length),
    ).toEqual([6])
  })

  it('keeps partitions and partition specs apart', () => {
    const files = [
      ...times(5, () => file(1000, { partition: [1] })),
      ...times(5, () => file(1000, { partition: [null] })),
      ...times(5, () => file(1000, { partition: [1], specId: 1 })),
    ]
    const result = plan(files)
    expect(
      result.outcome === 'compact' && result.groups.map((g) => [g.specId, g.partition]),
    ).toEqual([
      [0, [1]],
      [0, [null]],
      [1, [1]],
    ])
  })

  it('removes files without rows without writing one', () => {
    const result = plan(times(5, () => file(500, { recordCount: 0n })))
    expect(result.outcome === 'compact' && result.groups[0]?.estimatedOutputCount).toBe(0)
  })

  it('orders inputs by the lower bound of the leading sort key, else by age', () => {
    const bound = (value: number) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(value))
      return { lowerBounds: new Map([[1, new Uint8Array(bytes)]]) }
    }
    const files = [
      file(1000, bound(5)),
      file(1000, bound(-1)),
      file(1000, bound(300)),
      file(1000),
      file(1000, bound(4)),
    ]
    const sortOrder = {
      orderId: 7,
      fields: [
        {
          transform: { kind: 'identity' as const },
          sourceIds: [1],
          direction: 'asc' as const,
          nullOrder: 'nulls-first' as const,
        },
      ],
    }
    const sorted = plan(files, {
      metadata: metadata({ sortOrders: [sortOrder], defaultSortOrderId: 7 }),
    })
    const paths = (p: CompactionPlan) => (p.outcome === 'compact' ? p.groups[0]?.inputs : [])
    expect(paths(sorted)).toEqual([3, 1, 4, 0, 2].map((index) => files[index]))
    expect(sorted).toMatchObject({ order: { orderId: 7 } })
    expect(paths(plan(files))).toEqual(files)
  })

  it('takes a text bound that is cut inside a character for none (B096)', () => {
    const cut = Uint8Array.from(Buffer.from('7B226E616D65223A224974656D2041E2', 'hex'))
    const bounds = { lowerBounds: new Map([[1, cut]]), upperBounds: new Map([[1, cut]]) }
    const fields = [column(1, 's', { kind: 'string' })]
    const key = {
      transform: { kind: 'identity' as const },
      sourceIds: [1],
      direction: 'asc' as const,
      nullOrder: 'nulls-first' as const,
    }
    const sorted = metadata({
      schemas: [{ ...schema, fields }],
      sortOrders: [{ orderId: 1, fields: [key] }],
      defaultSortOrderId: 1,
    })
    const plain = { lowerBounds: new Map([[1, Uint8Array.from(Buffer.from('{'))]]) }
    const files = [...times(4, () => file(3000, bounds)), file(3000, plain)]
    const result = plan(files, { metadata: sorted })
    expect(result.outcome === 'compact' && result.groups[0]?.inputs).toEqual(files)
  })

  it('bounds one run and says what is left', () => {
    const files = [1, 2, 3].flatMap((day) => times(5, () => file(1000, { partition: [day] })))
    const properties = { 'timelake.compaction.max-groups-per-run': '2' }
    expect(plan(files, { metadata: metadata({ properties }) })).toMatchObject({
      remainingGroupCount: 1,
      reason: '10 small files become 2 in 2 groups; 1 groups follow later',
    })
  })

  it.each<[string, string, Partial<CompactionInput>, LiveDataFile[]]>([
    [
      'the table says no',
      'timelake.compaction.enabled is false',
      { metadata: metadata({ properties: { 'timelake.compaction.enabled': 'false' } }) },
      [],
    ],
    [
      'a property is wrong',
      "a table property is wrong: timelake.compaction.enabled: expected true or false, got 'maybe'",
      { metadata: metadata({ properties: { 'timelake.compaction.enabled': 'maybe' } }) },
      [],
    ],
    [
      'rows are tracked',
      'format version 3 tracks every row (row lineage), which merging does not carry yet',
      { metadata: metadata({ formatVersion: 3 }) },
      [],
    ],
    [
      'there are delete files',
      'the snapshot has 1 deletion vector and 1 equality delete file and 2 position delete files, ' +
        'which merging does not apply yet',
      {
        deleteFiles: [
          file(1, { content: 'position-deletes' }),
          file(1, { content: 'equality-deletes' }),
          file(1, { content: 'position-deletes' }),
          file(1, { content: 'position-deletes', fileFormat: 'PUFFIN' }),
        ],
      },
      [],
    ],
    [
      'it is encrypted',
      'the table is encrypted',
      { metadata: metadata({ encryptionKeys: [{ keyId: 'k', encryptedKeyMetadata: '' }] }) },
      [],
    ],
    [
      'the data path lies elsewhere',
      "write.data.path points outside the table's locations: file:///other",
      { metadata: metadata({ properties: { 'write.data.path': 'file:///other' } }) },
      [],
    ],
    [
      'a column is nested',
      'column "s" is nested (struct)',
      {
        metadata: metadata({
          schemas: [{ ...schema, fields: [column(1, 's', { kind: 'struct', fields: [] })] }],
        }),
      },
      [],
    ],
    [
      'a column is fixed',
      'column "f" is of type fixed, which would be stored as binary',
      {
        metadata: metadata({
          schemas: [{ ...schema, fields: [column(1, 'f', { kind: 'fixed', lengthBytes: 4 })] }],
        }),
      },
      [],
    ],
    [
      'names differ by case',
      'columns a and A differ only by letter case',
      {
        metadata: metadata({
          schemas: [
            {
              ...schema,
              fields: [column(1, 'a', { kind: 'int' }), column(2, 'A', { kind: 'int' })],
            },
          ],
        }),
      },
      [],
    ],
    [
      'a file lies elsewhere',
      "file file:///other/a.parquet lies outside the table's locations",
      {},
      [file(1, { filePath: 'file:///other/a.parquet' })],
    ],
    [
      'a file is ORC',
      'file file:///lake/t/a.orc is ORC, only PARQUET is merged',
      {},
      [file(1, { filePath: 'file:///lake/t/a.orc', fileFormat: 'ORC' })],
    ],
    [
      'a file is encrypted',
      'file file:///lake/t/a is encrypted',
      {},
      [file(1, { filePath: 'file:///lake/t/a', keyMetadata: new Uint8Array(1) })],
    ],
    [
      'a file is live twice',
      'file file:///lake/t/a is live twice',
      {},
      [file(1, { filePath: 'file:///lake/t/a' }), file(1, { filePath: 'file:///lake/t/a' })],
    ],
  ])('I22 skips a table when %s', (_, reason, changes, files) => {
    expect(plan(files, changes)).toMatchObject({ outcome: 'skipped', reason })
  })
})

const sizes = fc.array(
  fc.tuple(
    fc.oneof(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 160 * MIB })),
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom(1n, 9n),
  ),
  { maxLength: 60 },
)

describe('planCompaction, whatever the files', () => {
  it('I21 is a fixed point: carried out, it leaves nothing to do', () => {
    fc.assert(
      fc.property(sizes, fc.constantFrom(1, 0.6, 0.1), (specs, shrink) => {
        const files = specs.map(([size, partition, snapshotId]) =>
          file(size, { partition: [partition], snapshotId }),
        )
        const first = plan(files)
        const second = plan(applied(files, first, shrink))
        if (shrink === 1) expect(second.outcome).toBe('nothing-to-do')
        else if (second.outcome === 'compact')
          expect(second.groups.length).toBeLessThan(specs.length)
      }),
    )
  })

  it('never takes a file twice, a full file, or files of two partitions', () => {
    fc.assert(
      fc.property(sizes, (specs) => {
        const files = specs.map(([size, partition]) => file(size, { partition: [partition] }))
        const result = plan(files)
        if (result.outcome !== 'compact') return
        const inputs = result.groups.flatMap((group) => group.inputs)
        expect(new Set(inputs).size).toBe(inputs.length)
        for (const group of result.groups) {
          const keys = group.inputs.map(
            ({ specId, entry }) => `${specId} ${partitionKey(entry.dataFile.partition)}`,
          )
          expect(new Set(keys)).toEqual(
            new Set([`${group.specId} ${partitionKey(group.partition)}`]),
          )
          expect(group.inputs.length).toBeGreaterThanOrEqual(2)
          expect(
            group.inputs.every(({ entry }) => entry.dataFile.fileSizeBytes < 96n * 1048576n),
          ).toBe(true)
          expect(group.inputSizeBytes).toBeLessThanOrEqual((128n * 1048576n * 3n) / 2n)
        }
      }),
    )
  })

  it('does not depend on the order of the files', () => {
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.nat()), (specs, randoms) => {
        const files = specs.map(([size, partition]) => file(size, { partition: [partition] }))
        const shuffled = files
          .map((one) => [randoms.next().value, one] as const)
          .sort(([a], [b]) => a - b)
          .map(([, one]) => one)
        expect(plan(shuffled)).toEqual(plan(files))
      }),
    )
  })

  it('converges when one merge may only take two files', () => {
    const properties = {
      'timelake.compaction.max-group-input-files': '2',
      'timelake.compaction.max-groups-per-run': '3',
    }
    const changes = { metadata: metadata({ properties }) }
    let files = times(40, () => file(1000))
    let rounds = 0
    for (let next = plan(files, changes); next.outcome === 'compact'; next = plan(files, changes)) {
      files = applied(files, next, 1)
      expect(++rounds).toBeLessThan(40)
    }
    expect(files.length).toBeLessThan(5)
  })
})
