import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { compareMetadata } from './compare-metadata.ts'
import { DEVIATIONS } from './deviations.ts'

const TESTS = new URL('../../../packages/iceberg/src/commit/deviations.test.ts', import.meta.url)

it.each(DEVIATIONS)('the deviation "$name" has a test of that name', ({ name }) => {
  expect(readFileSync(TESTS, 'utf8')).toContain(`it('${name}'`)
})

it('a difference in any member is found', () => {
  const metadata = { 'last-column-id': 3n, schemas: [{ 'schema-id': 0n, fields: [] }], refs: {} }
  const other = { ...metadata, schemas: [{ 'schema-id': 1n, fields: [] }], 'next-row-id': 0n }
  expect(compareMetadata(metadata, metadata)).toEqual([])
  expect(compareMetadata(metadata, other).map(({ path }) => path)).toEqual([
    'schemas[0].schema-id',
    'next-row-id',
  ])
})

it('server times, ids and files, and how "no current snapshot" is written, are no difference', () => {
  const reference = {
    'table-uuid': 'a',
    'last-updated-ms': 1n,
    'metadata-log': [],
    'current-snapshot-id': -1n,
  }
  const ours = { 'table-uuid': 'b', 'last-updated-ms': 2n, 'metadata-log': [{}] }
  expect(compareMetadata(reference, ours)).toEqual([])
})
