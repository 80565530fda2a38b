import { expect, it } from 'vitest'
import { prefixOf, scopeOf } from './table-scope.ts'

const table = (location: string, properties: Record<string, string> = {}) => ({
  location,
  properties,
  tableUuid: '00000000-0000-4000-8000-000000000000',
})

it.each([
  ['one folder', table('s3://b/ns/orders'), 's3://b/ns/orders/'],
  ['a slash at the end', table('s3://b/ns/orders/'), 's3://b/ns/orders/'],
  ['the spelling of its files', table('s3a://b/ns/orders'), 's3a://b/ns/orders/'],
  [
    'siblings that begin alike',
    table('s3://b/ns/orders', { 'write.data.path': 's3://b/ns/orders2' }),
    's3://b/ns/',
  ],
  [
    'a folder inside the other',
    table('s3://b/ns/orders', { 'write.data.path': 's3://b/ns/orders/data' }),
    's3://b/ns/orders/',
  ],
  ['one bucket alone', table('s3://b/x', { 'write.data.path': 's3://b/y' }), 's3://b/'],
  ['two buckets', table('s3://b/x', { 'write.metadata.path': 's3://bb/x' }), 's3'],
  ['two spellings', table('s3://b/x', { 'write.metadata.path': 's3a://b/x' }), 's3'],
])('B203: the prefix of %s covers all of it and starts like its files', (_, given, expected) => {
  expect(prefixOf({ metadata: given })).toBe(expected)
})

it('scopes are the folders, each once and in one spelling', () => {
  const given = table('s3a://b/x/', {
    'write.data.path': 's3://b/x',
    'write.metadata.path': 's3n://c/y',
  })
  expect(scopeOf({ metadata: given }, 'read')).toEqual({
    prefixes: ['s3://b/x', 's3://c/y'],
    access: 'read',
  })
})

it('reaches what the table gave up, and says so in its prefix', () => {
  const moved = { metadata: table('s3://b/ns/now'), formerRoots: ['s3://b/ns/before'] }
  const scope = { prefixes: ['s3://b/ns/now'], former: ['s3://b/ns/before'], access: 'write' }
  expect(scopeOf(moved, 'write')).toEqual(scope)
  expect(prefixOf(moved)).toBe('s3://b/ns/')
})
