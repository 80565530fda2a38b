import { describe, expect, it } from 'vitest'
import { newTableMetadata } from '../commit/new-table-metadata.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import { namedFiles, reachesInto, tableReach } from './reachable-files.ts'

const HOME = 'file:///lake/t'

function metadataWith(changes: Partial<TableMetadata>): TableMetadata {
  const schema = { schemaId: 0, identifierFieldIds: [], fields: [] }
  const at = { tableUuid: '6f1b3f0e-0000-4000-8000-000000000001', location: HOME, nowMs: 1 }
  return { ...newTableMetadata({ schema, properties: {} }, at), ...changes }
}

const snapshot = (snapshotId: bigint, more: object) => ({
  snapshotId,
  sequenceNumber: 1n,
  timestampMs: 1,
  ...more,
})

const HISTORY = metadataWith({
  snapshots: [
    snapshot(1n, { manifests: [`${HOME}/metadata/m1.avro`] }),
    snapshot(2n, { manifestList: '/lake/t/metadata/l2.avro' }),
    snapshot(3n, { manifestList: `${HOME}/metadata/l2.avro` }),
    snapshot(4n, { manifestList: 'file:/lake/other/l4.avro' }),
  ],
  statistics: [
    {
      snapshotId: 2n,
      statisticsPath: `${HOME}/metadata/s.puffin`,
      fileSizeBytes: 1n,
      fileFooterSizeBytes: 1n,
      blobMetadata: [],
    },
  ],
  partitionStatistics: [
    { snapshotId: 2n, statisticsPath: `${HOME}/metadata/p.parquet`, fileSizeBytes: 1n },
  ],
  metadataLog: [{ timestampMs: 1, metadataFile: `${HOME}/metadata/v1.metadata.json` }],
})

describe('namedFiles', () => {
  it('lists what the metadata file names, each place once however it is spelled', () => {
    expect(namedFiles(HISTORY)).toEqual({
      manifestLists: [`${HOME}/metadata/l2.avro`, 'file:///lake/other/l4.avro'],
      manifests: [`${HOME}/metadata/m1.avro`],
      statistics: [`${HOME}/metadata/s.puffin`, `${HOME}/metadata/p.parquet`],
      earlierMetadata: [`${HOME}/metadata/v1.metadata.json`],
    })
  })
})

describe('tableReach', () => {
  const reach = tableReach(HISTORY, [HOME, 'file:/lake/data/'])

  it('keeps the folders of a table and of files that are elsewhere', () => {
    expect(reach).toEqual({
      roots: [HOME, 'file:///lake/data'],
      fileFolders: ['file:///lake/other'],
    })
  })

  it.each([
    ['file:///lake/t', true],
    ['file:///lake/t/data', true],
    ['file:///lake', true],
    ['file:///lake/data/x', true],
    ['file:///lake/other', true],
    ['file:///lake/other/deep', false],
    ['file:///lake/t2', false],
    ['file:///lake/elsewhere', false],
  ])('reaches into %s: %s', (folder, expected) => {
    expect(reachesInto(reach, folder)).toBe(expected)
  })
})
