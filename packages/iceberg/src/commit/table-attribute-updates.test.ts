import { describe, expect, it } from 'vitest'
import { InvalidInputError } from '../spec/errors.ts'
import type { EncryptedKey } from '../spec/table-metadata.ts'
import { commit, SAMPLE_UUID, sampleTable } from './sample-table.ts'

const table = sampleTable()

describe('upgrade-format-version', () => {
  const upgrade = (formatVersion: number) =>
    commit(table, [{ action: 'upgrade-format-version', formatVersion }])

  it('raises the version', () => {
    expect(upgrade(3)).toMatchObject({ formatVersion: 3, nextRowId: 0n })
  })

  it.each([[1], [0], [4], [-1]])('refuses v%i for a v2 table', (formatVersion) => {
    expect(() => upgrade(formatVersion)).toThrow(InvalidInputError)
  })
})

describe('assign-uuid', () => {
  it.each(['not-a-uuid', '00000000-0000-4000-8000-000000000000'])('refuses %s', (uuid) => {
    expect(() => commit(table, [{ action: 'assign-uuid', uuid }])).toThrow(InvalidInputError)
    expect(table.tableUuid).toBe(SAMPLE_UUID)
  })
})

describe('set-location', () => {
  it.each([
    ['s3://bucket/t//', 's3://bucket/t'],
    ['file:///t', 'file:///t'],
  ])('stores %s without trailing slashes', (location, stored) => {
    expect(commit(table, [{ action: 'set-location', location }]).location).toBe(stored)
  })

  it('refuses nothing at all', () => {
    expect(() => commit(table, [{ action: 'set-location', location: '' }])).toThrow(
      InvalidInputError,
    )
  })
})

describe('properties', () => {
  it('are merged in order, several times in one request', () => {
    const after = commit(table, [
      { action: 'set-properties', updates: { a: '1', b: '1' } },
      { action: 'remove-properties', removals: ['a', 'none'] },
      { action: 'set-properties', updates: { b: '2', ['__proto__']: 'x' } },
    ])
    expect(after.properties).toEqual({
      'write.parquet.compression-codec': 'zstd',
      b: '2',
      ['__proto__']: 'x',
    })
  })

  it('leave reserved keys out', () => {
    const updates = { 'format-version': '3', uuid: 'x', 'current-snapshot-id': '5', a: '1' }
    const after = commit(table, [{ action: 'set-properties', updates }])
    expect(after.properties).not.toHaveProperty('uuid')
    expect(after.properties['a']).toBe('1')
    expect(after.formatVersion).toBe(2)
    expect(commit(table, [{ action: 'set-properties', updates: { uuid: 'x' } }])).toBe(table)
  })
})

describe('encryption keys', () => {
  const key: EncryptedKey = { keyId: 'k', encryptedKeyMetadata: 'AAE=' }
  const withKey = commit(sampleTable(3), [{ action: 'add-encryption-key', encryptionKey: key }])

  it('are added once', () => {
    expect(withKey.encryptionKeys).toEqual([key])
    const other = { ...key, encryptedKeyMetadata: 'AAI=' }
    expect(commit(withKey, [{ action: 'add-encryption-key', encryptionKey: other }])).toBe(withKey)
  })

  it('are removed', () => {
    expect(
      commit(withKey, [{ action: 'remove-encryption-key', keyId: 'k' }]).encryptionKeys,
    ).toEqual([])
  })
})
