import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { describe, expect, it } from 'vitest'
import {
  decodeNamespaceSegment,
  decodeParentParameter,
  decodeSegment,
  queryParameter,
  rawQueryParameter,
  splitTarget,
} from './raw-path.ts'

describe('a name in a path', () => {
  it.each([
    ['plain', 'plain'],
    ['a+b', 'a b'],
    ['a%20b', 'a b'],
    ['a%2Bb', 'a+b'],
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['caf%C3%A9', 'café'],
    ['%F0%9F%A6%86', '🦆'],
    ['a.b', 'a.b'],
    ['%3F%23%25%5C', '?#%\\'],
  ])('%s is %s', (raw, name) => {
    expect(decodeSegment(raw)).toBe(name)
  })

  it.each(['%', '%a', '%zz', '%A4%A2', '%C0%AF', '%F0%27%22', '%ED%A0%80'])(
    'B218: %s is refused and never used as it is',
    (raw) => {
      expect(() => decodeSegment(raw)).toThrow(InvalidInputError)
    },
  )
})

describe('a namespace', () => {
  it('is split at the separator before its levels are decoded', () => {
    expect(decodeNamespaceSegment('a.b%1fc%2Fd%1F%251F')).toEqual(['a.b', 'c/d', '%1F'])
  })

  it('B003: in `parent` the separator may be encoded twice', () => {
    expect(decodeParentParameter('bck%1Fdb1')).toEqual(['bck', 'db1'])
    expect(decodeParentParameter('bck%251Fdb1')).toEqual(['bck', 'db1'])
  })
})

describe('a request target', () => {
  it('is cut at the first question mark', () => {
    expect(splitTarget('/a?b=1?c')).toEqual({ path: '/a', query: 'b=1?c' })
  })

  it('loses scheme and authority in absolute form', () => {
    expect(splitTarget('http://h:1/a/b?c')).toEqual({ path: '/a/b', query: 'c' })
  })

  it('gives the first of several parameters, raw or decoded', () => {
    expect(rawQueryParameter('x=1&y=%1F&y=2', 'y')).toBe('%1F')
    expect(queryParameter('y=a+b', 'y')).toBe('a b')
    expect(queryParameter('y', 'y')).toBe('')
    expect(queryParameter('', 'y')).toBeUndefined()
  })
})
