import { describe, expect, it } from 'vitest'
import type { CommitRequest, TableUpdate } from '../commit/table-update.ts'
import type { ManifestEntry } from '../manifest/data-file.ts'
import { describeManifest } from '../manifest/describe-manifest.ts'
import { partitionType } from '../manifest/partition-type.ts'
import { writeManifest } from '../manifest/write-manifest.ts'
import {
  currentSchema,
  finishSnapshot,
  nextSequenceNumber,
  schemasNewestFirst,
} from '../snapshot/new-snapshot.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import { NOW_MS, SAMPLE_LOCATION } from '../commit/sample-table.ts'
import { classOfRequest } from './class-of-request.ts'
import { SampleLake } from './sample-lake.ts'

/** A table with an append, an append on it that was not sent yet, and another one that landed meanwhile. */
function race(version: 1 | 2 | 3 = 2) {
  const lake = new SampleLake(version)
  lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
  const loaded = lake.metadata
  const request = lake.append(loaded, [[lake.newFile()]])
  lake.land(lake.append(loaded, [[lake.newFile()]]))
  return { lake, loaded, request }
}

type Change = (request: CommitRequest) => CommitRequest

const withUpdates =
  (change: (updates: readonly TableUpdate[]) => readonly TableUpdate[]): Change =>
  (request) => ({ ...request, updates: change(request.updates) })

const withSnapshot = (change: (snapshot: Snapshot) => Snapshot): Change =>
  withUpdates((updates) =>
    updates.map((one) =>
      one.action === 'add-snapshot' ? { ...one, snapshot: change(one.snapshot) } : one,
    ),
  )

const withSummary = (summary: Readonly<Record<string, string>>): Change =>
  withSnapshot((snapshot) => ({ ...snapshot, summary: { ...snapshot.summary, ...summary } }))

const rows: readonly (readonly [string, Change, string])[] = [
  ['an overwrite', withSummary({ operation: 'overwrite' }), 'its operation is overwrite'],
  ['a delete', withSummary({ operation: 'delete' }), 'its operation is delete'],
  ['no operation', withSnapshot((one) => ({ ...one, summary: {} })), 'its operation is none'],
  ['a key', withSnapshot((one) => ({ ...one, keyId: 'k' })), 'is encrypted'],
  ['wap.id', withSummary({ 'wap.id': 'a' }), 'its summary has wap.id'],
  ['flink', withSummary({ 'flink.job-id': 'a' }), 'its summary has flink.job-id'],
  [
    'kafka connect',
    withSummary({ 'kafka.connect.offsets.t.g': '{}' }),
    'its summary has kafka.connect.offsets.t.g',
  ],
  [
    'spark streaming',
    withSummary({ 'spark.sql.streaming.queryId': 'a' }),
    'its summary has spark.sql.streaming.queryId',
  ],
  [
    'another schema',
    withSnapshot((one) => ({ ...one, schemaId: 7 })),
    'expected files of schema 0, found schema 7',
  ],
  [
    'a property beside it',
    withUpdates((updates) => [...updates, { action: 'set-properties', updates: { a: 'b' } }]),
    'it also asks for set-properties',
  ],
  [
    'partition statistics',
    withUpdates((updates) => [
      ...updates,
      {
        action: 'set-partition-statistics',
        partitionStatistics: { snapshotId: 2n, statisticsPath: 'a', fileSizeBytes: 1n },
      },
    ]),
    'it also asks for set-partition-statistics',
  ],
  [
    'a replacement, which removes main first',
    withUpdates((updates) => [{ action: 'remove-snapshot-ref', refName: 'main' }, ...updates]),
    'it also asks for remove-snapshot-ref',
  ],
  ['a snapshot alone', withUpdates(([add]) => [add!]), 'it moves no branch'],
  [
    'two branches',
    withUpdates(([add, move]) => [
      add!,
      move!,
      { action: 'set-snapshot-ref', refName: 'b', ref: { type: 'branch', snapshotId: 2n } },
    ]),
    'it moves both main and b',
  ],
  [
    'a tag',
    withUpdates(([add]) => [
      add!,
      { action: 'set-snapshot-ref', refName: 'v', ref: { type: 'tag', snapshotId: 2n } },
    ]),
    'it points v at something else than its own snapshot',
  ],
  [
    'a rollback',
    withUpdates(([add]) => [
      add!,
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId: 1n } },
    ]),
    'it points main at something else than its own snapshot',
  ],
  [
    'no requirement of the branch',
    ({ requirements, updates }) => ({ requirements: requirements.slice(0, 1), updates }),
    'it requires nothing of main',
  ],
  [
    'a requirement that is not its parent',
    (request) => ({
      ...request,
      requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: 9n }],
    }),
    'it requires main at 9, but its snapshot stands on 1',
  ],
  [
    'another requirement that fails',
    (request) => ({
      ...request,
      requirements: [...request.requirements, { type: 'assert-default-spec-id', defaultSpecId: 4 }],
    }),
    'another of its requirements does not hold either',
  ],
  [
    'a snapshot that the table has',
    withUpdates((updates) =>
      updates.map((one) =>
        one.action === 'add-snapshot'
          ? { ...one, snapshot: { ...one.snapshot, snapshotId: 3n } }
          : one.action === 'set-snapshot-ref'
            ? { ...one, ref: { ...one.ref, snapshotId: 3n } }
            : one,
      ),
    ),
    'the table has a snapshot 3 already',
  ],
]

describe('a request that stays strict', () => {
  it.each(rows)('has %s', (_what, change, reason) => {
    const { lake, request } = race()
    expect(lake.rebase(change(request))).toContain(reason)
    expect(typeof lake.rebase(request)).toBe('object')
  })

  it('is several snapshots of which one is no append', () => {
    const lake = new SampleLake()
    const request = lake.append(lake.metadata, [[lake.newFile()], [lake.newFile()]])
    const [add, ...others] = request.updates
    const overwrite = withSummary({ operation: 'overwrite' })({ ...request, updates: [add!] })
    const mixed = { ...request, updates: [...overwrite.updates, ...others] }
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    expect(lake.rebase(mixed)).toBe(
      'its operation is overwrite and append, expected append for each of its snapshots',
    )
    expect(typeof lake.rebase(request)).toBe('object')
  })

  it('is several snapshots that do not follow each other', () => {
    const lake = new SampleLake()
    const request = lake.append(lake.metadata, [[lake.newFile()], [lake.newFile()]])
    const apart = withSnapshot(({ parentSnapshotId: _parent, ...others }) => others)(request)
    expect(lake.rebase(apart)).toBe('its snapshots do not follow each other')
  })
})

describe('a table that moved otherwise', () => {
  it('was rolled back below what the append was made on', () => {
    const { lake } = race()
    const request = lake.append(lake.metadata, [[lake.newFile()]])
    const ref = { type: 'branch', snapshotId: 1n } as const
    lake.change({ action: 'set-snapshot-ref', refName: 'main', ref })
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    expect(lake.rebase(request)).toMatch(/^snapshot 3 is no retained ancestor of snapshot \d$/)
  })

  it('was rolled back to what the append was made on, and moved again', () => {
    const { lake, request } = race()
    const ref = { type: 'branch', snapshotId: 1n } as const
    lake.change({ action: 'set-snapshot-ref', refName: 'main', ref })
    lake.land(lake.append(lake.metadata, [[lake.newFile()]]))
    expect(lake.rebase(request)).toBe('the table was rolled back or replaced meanwhile')
  })

  it('was emptied and begun anew', () => {
    const lake = new SampleLake()
    const empty = lake.metadata
    const request = lake.append(empty, [[lake.newFile()]])
    lake.land(lake.append(empty, [[lake.newFile()]]))
    lake.change({ action: 'remove-snapshot-ref', refName: 'main' })
    lake.land(lake.append({ ...lake.metadata, snapshots: [] }, [[lake.newFile()]]))
    expect(lake.rebase(request)).toBe('the table was rolled back or replaced meanwhile')
  })

  it('forgot what the append was made on', () => {
    const { lake, request } = race()
    lake.change({ action: 'remove-snapshots', snapshotIds: [1n] })
    expect(lake.rebase(request)).toBe('snapshot 1 is no retained ancestor of snapshot 3')
  })

  it('lost the branch', () => {
    const { lake, request } = race()
    lake.change({ action: 'remove-snapshot-ref', refName: 'main' })
    expect(lake.rebase(request)).toBe('the branch main is gone')
  })

  it('has got the branch from somebody else', () => {
    const { lake, loaded } = race()
    const mine = lake.append(loaded, [[lake.newFile()]], { branch: 'audit' })
    const onMain = withSnapshot((one) => ({ ...one, parentSnapshotId: 1n }))(mine)
    const ref = { type: 'branch', snapshotId: 1n } as const
    lake.change({ action: 'set-snapshot-ref', refName: 'audit', ref })
    expect(lake.rebase(onMain)).toBe('somebody else made audit')
  })

  it('has got another schema', () => {
    const { lake, loaded, request } = race()
    const schema = { ...currentSchema(loaded), schemaId: 1 }
    const fields = schema.fields.map((field) => ({ ...field, doc: 'later' }))
    lake.change(
      { action: 'add-schema', schema: { ...schema, fields } },
      { action: 'set-current-schema', schemaId: -1 },
    )
    expect(lake.rebase(request)).toBe('expected files of schema 1, found schema 0')
  })

  it('has got another partition spec', () => {
    const { lake, request } = race()
    lake.change(
      { action: 'add-spec', spec: { fields: [] } },
      { action: 'set-default-spec', specId: -1 },
    )
    expect(lake.rebase(request)).toBe('expected files of partition spec 1, found spec 0')
  })
})

/** An append whose only new manifest holds the given entries beside an added file. */
function appendWith(
  entries: (lake: SampleLake, snapshotId: bigint) => readonly ManifestEntry[],
  version: 2 | 3 = 2,
) {
  const { lake, loaded } = race(version)
  const parent = lake.headOf('main', loaded)!
  const snapshotId = lake.newSnapshotId()
  const spec = loaded.partitionSpecs[0]!
  const written = {
    spec,
    partition: partitionType(spec, schemasNewestFirst(loaded)),
    content: 'data',
    entries: entries(lake, snapshotId),
  } as const
  const bytes = writeManifest({ ...written, formatVersion: version, schema: currentSchema(loaded) })
  const location = lake.newLocation('crafted')
  const manifest = describeManifest({
    ...written,
    manifestPath: location,
    lengthBytes: bytes.length,
    snapshotId,
    sequenceNumber: nextSequenceNumber(loaded),
  })
  const files = finishSnapshot({
    metadata: loaded,
    parent,
    identity: {
      snapshotId,
      timestampMs: NOW_MS,
      commitUuid: `crafted${snapshotId}`,
      fileLocation: (name) => `${SAMPLE_LOCATION}/metadata/${name}`,
    },
    newManifests: [{ location, bytes, manifest }],
    keptManifests: lake.manifestsOf(parent),
    summary: { operation: 'append' },
  })
  lake.put({ location, bytes }, files.manifestList)
  const request: CommitRequest = {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', snapshotId: parent.snapshotId }],
    updates: [
      { action: 'add-snapshot', snapshot: files.snapshot },
      { action: 'set-snapshot-ref', refName: 'main', ref: { type: 'branch', snapshotId } },
    ],
  }
  return { lake, request }
}

describe('manifests of an append that are not plain', () => {
  it.each<[string, (lake: SampleLake, id: bigint) => readonly ManifestEntry[], string]>([
    [
      'a sequence number of its own',
      (lake, snapshotId) => [
        { status: 'added', snapshotId, sequenceNumber: 1n, dataFile: lake.newFile() },
      ],
      'has the sequence number 1 of its own',
    ],
    [
      'a file of another snapshot',
      (lake) => [{ status: 'added', snapshotId: 77n, dataFile: lake.newFile() }],
      'was added by snapshot 77',
    ],
    [
      'a file outside of the table',
      (lake, snapshotId) => [
        {
          status: 'added',
          snapshotId,
          dataFile: lake.newFile({ filePath: 'file:///elsewhere/a.parquet' }),
        },
      ],
      'lies outside the table',
    ],
    [
      'a file that it says is there already',
      (lake, snapshotId) => [
        { status: 'added', snapshotId, dataFile: lake.newFile() },
        {
          status: 'existing',
          snapshotId: 1n,
          sequenceNumber: 1n,
          fileSequenceNumber: 1n,
          dataFile: lake.newFile(),
        },
      ],
      'expected 0 files of its parent in its own manifests, found 1',
    ],
  ])('have %s', (_what, entries, reason) => {
    const { lake, request } = appendWith(entries)
    expect(lake.rebase(request)).toContain(reason)
  })

  it('have row ids of their own', () => {
    const { lake, request } = appendWith(
      (from, snapshotId) => [
        { status: 'added', snapshotId, dataFile: from.newFile({ firstRowId: 5n }) },
      ],
      3,
    )
    expect(lake.rebase(request)).toContain('has row ids of its own')
  })

  it('dropped a file of the parent', () => {
    const { lake, request } = race()
    const [written] = lake.writtenOf(request)
    const own = written!.manifests.slice(0, 1)
    expect(written!.manifests).toHaveLength(2)
    lake.replaceList(written!.snapshot, own)
    expect(lake.rebase(request)).toBe(
      'expected 1 files of its parent in its own manifests, found 0',
    )
  })
})

describe('the class of a request', () => {
  it('is strict unless somebody asks and the request has the form of one that can be attached', () => {
    const { request } = race()
    const classes = (one: CommitRequest) => [classOfRequest(one, false), classOfRequest(one, true)]
    expect(classes(request)).toEqual(['strict', 'append'])
    expect(classes(withSummary({ operation: 'replace' })(request))).toEqual(['strict', 'rewrite'])
    expect(classes(withSummary({ operation: 'overwrite' })(request))).toEqual(['strict', 'strict'])
  })
})
