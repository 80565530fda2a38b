import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { describe, expect, it } from 'vitest'
import { purgeFolders, purgeObstacle } from './plan-purge.ts'

const TABLE = {
  tableUuid: '6f1b3f0e-0000-4000-8000-000000000001',
  location: 'file:///lake/t',
  metadataLocation: 'file:///lake/t/m',
}

function metadataWith(changes: Partial<TableMetadata>): TableMetadata {
  const schema = { schemaId: 0, identifierFieldIds: [], fields: [] }
  return { ...newTableMetadata({ schema, properties: {} }, { ...TABLE, nowMs: 1 }), ...changes }
}

describe('purgeObstacle', () => {
  it.each<[string, Partial<TableMetadata>, string | undefined]>([
    ['a plain table', {}, undefined],
    ['gc.enabled true', { properties: { 'gc.enabled': ' TRUE ' } }, undefined],
    ['gc.enabled false', { properties: { 'gc.enabled': 'False' } }, 'gc.enabled is False'],
    ['gc.enabled anything', { properties: { 'gc.enabled': '' } }, 'gc.enabled is '],
    [
      'another table in the file',
      { tableUuid: '6f1b3f0e-0000-4000-8000-000000000002' },
      'its metadata file is now that of table 6f1b3f0e-0000-4000-8000-000000000002 at file:///lake/t',
    ],
    [
      'another location in the file',
      { location: 'file:///lake/x' },
      'its metadata file is now that of table 6f1b3f0e-0000-4000-8000-000000000001 at file:///lake/x',
    ],
    [
      'encryption keys',
      { encryptionKeys: [{ keyId: 'k', encryptedKeyMetadata: '' }] },
      'the table is encrypted',
    ],
    [
      'an encrypted snapshot',
      { snapshots: [{ snapshotId: 1n, sequenceNumber: 1n, timestampMs: 1, keyId: 'k' }] },
      'the table is encrypted',
    ],
  ])('B080: decides on %s', (_, changes, expected) => {
    expect(purgeObstacle(metadataWith(changes), TABLE)).toBe(expected)
  })
})

describe('purgeFolders', () => {
  const bounds = {
    allowedRoots: ['file:///lake', 'file:///mnt/old'],
    reserved: ['file:///lake/.timelake'],
  }

  it('I16 keeps only folders strictly inside the allowed roots and away from reserved ones', () => {
    const asked = [
      'file:/lake/t/',
      '/lake/t',
      'file:///mnt/old/t',
      'file:///lake',
      'file:///lake/.timelake',
      'file:///lake/.timelake/names/tables',
      'file:///lake/t/../other',
      'file:///lakeside/t',
      'data',
      '',
    ]
    expect(purgeFolders(asked, bounds)).toEqual(['file:///lake/t', 'file:///mnt/old/t'])
  })
})
