import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidInputError } from './errors.ts'
import {
  checkLocation,
  isLocationBelow,
  isSameLocation,
  joinLocation,
  normalizeLocation,
} from './location.ts'

describe('normalizeLocation', () => {
  it.each([
    ['/a/b', 'file:///a/b'],
    ['file:/a/b', 'file:///a/b'],
    ['file:///a/b', 'file:///a/b'],
    ['file://localhost/a/b/', 'file:///a/b'],
    ['FILE:/a', 'file:///a'],
    ['/', 'file:///'],
    ['s3://bucket/a/', 's3://bucket/a'],
    ['s3://bucket/', 's3://bucket'],
    ['S3://Bucket/A', 's3://Bucket/A'],
    ['abfss://c@account.dfs.core.windows.net/x', 'abfss://c@account.dfs.core.windows.net/x'],
    ['file:///a%20b/%C3%A4', 'file:///a%20b/%C3%A4'],
    ['file:///ä b', 'file:///ä b'],
    ['relative/', 'relative'],
  ])('writes %s as %s', (text, expected) => {
    expect(normalizeLocation(text)).toBe(expected)
    expect(normalizeLocation(expected)).toBe(expected)
  })
})

describe('checkLocation', () => {
  it.each([
    'file:///a',
    '/a/b',
    's3://bucket',
    's3://b/.hidden/..x/a',
    'file:///a/ü ~%41/',
    's3://b/a:b@c',
  ])('accepts %s', (text) => expect(checkLocation(text)).toBe(normalizeLocation(text)))

  it.each([
    '',
    'a/b',
    'file:a',
    'file://host/a',
    's3:/bucket/a',
    's3:///a',
    'file:///a/../b',
    'file:///..',
    '/a/./b',
    'file:///a//b',
    'file:////a',
    's3://b//',
    'file:///a/%2e%2E/b',
    'file:///a/.%2e',
    'file:///a\\b',
    'file:///a\u0000',
    'file:///a\nb',
    'file:///\ud800',
    `file:///${'x'.repeat(256)}`,
    `file:///${'ü'.repeat(128)}`,
    `file://${'/abc'.repeat(2000)}`,
  ])('refuses %j', (text) => {
    expect(() => checkLocation(text)).toThrow(InvalidInputError)
  })
})

describe('isLocationBelow', () => {
  it.each([
    ['file:///a', '/a/b', true],
    ['file:///a/', 'file:/a/b/c', true],
    ['file:///', '/a', true],
    ['s3://bucket', 's3://bucket/a', true],
    ['file:///a', 'file:///a', false],
    ['file:///a', 'file:///ab', false],
    ['file:///a', 'file:///a/', false],
    ['file:///a', 'file:///a/../b', false],
    ['file:///a', 'file:///a/%2e%2e/b', false],
    ['file:///a', 'file:///a//b', false],
    ['s3://bucket', 's3://bucket2/a', false],
    ['s3://bucket/a', 'gs://bucket/a/b', false],
    ['file:///A', 'file:///a/b', false],
  ])('%s contains %s: %s', (prefix, location, expected) => {
    expect(isLocationBelow(prefix, location)).toBe(expected)
  })
})

describe('joinLocation', () => {
  it.each([
    [['file:///a', 'b', 'c.json'], 'file:///a/b/c.json'],
    [['file:///a/', 'b'], 'file:///a/b'],
    [['file:///', 'b'], 'file:///b'],
    [['s3://bucket', 'b'], 's3://bucket/b'],
  ])('%j gives %s', ([base = '', ...segments], expected) => {
    expect(joinLocation(base, ...segments)).toBe(expected)
  })
})

describe('isSameLocation', () => {
  it('sees through spellings', () => {
    expect(isSameLocation('file:/a/', '/a')).toBe(true)
    expect(isSameLocation('s3://a', 's3://b')).toBe(false)
  })
})

describe('a location that is decided in one look', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', '/', '.', '..', '%2e', '-', '=', ' ', '\\', 'é', '//'), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''))
  const root = fc.constantFrom('file://', 'file:///', 's3://b/', 's3://b', 's3a://b/', '/')

  it('is below a prefix exactly when the whole rule says so', () => {
    fc.assert(
      fc.property(root, text, text, (start, inner, rest) => {
        const prefix = `${start}w${inner}`
        const location = `${prefix}/${rest}`
        // A slash at the end of the prefix takes the long way.
        expect(isLocationBelow(prefix, location)).toBe(isLocationBelow(`${prefix}/`, location))
      }),
      { numRuns: 2_000 },
    )
  })
})
