import { describe, expect, it } from 'vitest'
import { checkNewLocation, pathOfLocation } from './location-path.ts'
import { LocationError } from './object-store.ts'

describe('pathOfLocation', () => {
  it.each([
    ['file:///a/b', '/a/b'],
    ['file:/a/b', '/a/b'],
    ['file://localhost/a/b', '/a/b'],
    ['/a/b', '/a/b'],
    ['file:///a/b/', '/a/b/'],
    ['file:///a//b', '/a//b'],
    ['file:///a%20b/%2e%2e', '/a%20b/%2e%2e'],
    ['file:///what?x=1#y', '/what?x=1#y'],
    ['file:///caf\u00e9', '/caf\u00e9'],
  ])('takes %j literally as %j', (location, path) => {
    expect(pathOfLocation(location)).toBe(path)
  })

  it.each([
    's3://bucket/a',
    'https://host/a',
    'file://host/a',
    'file://a',
    'file:a',
    'a/b',
    '',
    'file:///a/../b',
    'file:///a/./b',
    'file:///..',
    'file:///a\0b',
    'file:///a\ud800',
  ])('refuses %j', (location) => {
    expect(() => pathOfLocation(location)).toThrow(LocationError)
  })
})

describe('checkNewLocation', () => {
  it.each(['file:///a/b', '/a', 's3://bucket/a b/c%', 'memory://lake/\u{1f600}'])(
    'accepts %j',
    (location) => {
      expect(() => checkNewLocation(location)).not.toThrow()
    },
  )

  it.each([
    'file:///a/',
    'file:///',
    'file:////a',
    's3://bucket//a',
    's3://bucket/a\\b',
    'file:///a\u007fb',
    `file:///${'\u00e9'.repeat(128)}`,
  ])('refuses %j', (location) => {
    expect(() => checkNewLocation(location)).toThrow(LocationError)
  })
})
