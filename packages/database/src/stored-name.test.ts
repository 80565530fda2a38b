import { describe, expect, it } from 'vitest'
import {
  isStorableName,
  joinLevels,
  keysetStart,
  namespaceDirectoryName,
  slugOf,
  splitLevels,
} from './stored-name.ts'

describe('stored names', () => {
  it.each(['a', ' ', '.', '..', '%1F', 'a.b', '\u{1f600}', '\n', '\u007f', 'x'.repeat(5000)])(
    'can be stored: %j',
    (name) => {
      expect(isStorableName(name)).toBe(true)
      expect(splitLevels(joinLevels([name, 'b', name]))).toEqual([name, 'b', name])
    },
  )

  it.each(['', 'a\0', '\u001f', '\ud83d', '\ude00\ud83d'])('cannot be stored: %j', (name) => {
    expect(isStorableName(name)).toBe(false)
  })

  it.each([
    ['metrics', 'metrics'],
    ['../../etc', '______etc'],
    ['a b/c%d', 'a_b_c_d'],
    ['', ''],
    ['x'.repeat(100), 'x'.repeat(40)],
  ])('make a slug that is safe in a path: %j', (name, slug) => {
    expect(slugOf(name)).toBe(slug)
  })

  it('make a directory name that carries the id', () => {
    const id = '0123abcd-4567-4000-8000-000000000000'
    expect(namespaceDirectoryName(['a', 'ü'], id)).toBe('a-_-0123abcd')
  })

  it('start a page where the token says, up to a NUL', () => {
    expect(keysetStart(undefined)).toBe('')
    expect(keysetStart('b')).toBe('b')
    expect(keysetStart('a\0b')).toBe('a')
  })
})
