import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { expect, it } from 'vitest'
import { cutPage, encodePageToken, readPageRequest } from './page.ts'

const PAGE_SIZE_MAX = 100

it('gives everything unless a page is asked for', () => {
  expect(readPageRequest('', PAGE_SIZE_MAX)).toEqual({})
  expect(cutPage(['a', 'b'], {}, String)).toEqual({ items: ['a', 'b'] })
})

it('begins at the first page for an empty or missing token', () => {
  expect(readPageRequest('pageToken=', PAGE_SIZE_MAX)).toEqual({ limit: 100 })
  expect(readPageRequest('pageSize=2', PAGE_SIZE_MAX)).toEqual({ limit: 2 })
  expect(readPageRequest('pageSize=5000&pageToken=', PAGE_SIZE_MAX)).toEqual({ limit: 100 })
})

it('continues behind the name in its own token, whatever the name', () => {
  const token = encodePageToken('ä/\u{1F986} &=%')
  expect(readPageRequest(`pageToken=${token}&pageSize=1`, PAGE_SIZE_MAX)).toEqual({
    limit: 1,
    after: 'ä/\u{1F986} &=%',
  })
})

it.each(['pageSize=0', 'pageSize=-1', 'pageSize=abc', 'pageSize=1.5', 'pageSize='])(
  'refuses %s',
  (query) => {
    expect(() => readPageRequest(query, PAGE_SIZE_MAX)).toThrow(InvalidInputError)
  },
)

const FOREIGN = [
  'bogus',
  '%20',
  encodePageToken('a\u0000'),
  Buffer.from('2:a').toString('base64url'),
]

it.each(FOREIGN)('refuses the foreign token %s', (token) => {
  expect(() => readPageRequest(`pageToken=${token}`, PAGE_SIZE_MAX)).toThrow(InvalidInputError)
})

it('B017: ends a walk whose last page is exactly full', () => {
  const request = { limit: 2 }
  const first = cutPage(['a', 'b', 'c'], request, String)
  expect(first).toEqual({ items: ['a', 'b'], nextPageToken: encodePageToken('b') })
  expect(cutPage(['c', 'd'], request, String)).toEqual({ items: ['c', 'd'] })
})
