import { Buffer } from 'node:buffer'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { queryParameter } from './raw-path.ts'

/** Which part of a listing is asked for. An absent `limit` means everything. */
export interface PageRequest {
  readonly after?: string
  readonly limit?: number
}

const TOKEN_VERSION = '1:'
const PAGE_SIZE = /^[1-9]\d{0,8}$/

/**
 * Reads `pageToken` and `pageSize`. Neither: the whole listing. `pageSize` alone asks for the first page; larger
 * values than `pageSizeMax` are reduced. Throws InvalidInputError for a size below 1 and for a token that we did
 * not issue. Spec: REST catalog, PageToken.
 */
export function readPageRequest(query: string, pageSizeMax: number): PageRequest {
  const token = queryParameter(query, 'pageToken')
  const size = queryParameter(query, 'pageSize')
  if (token === undefined && size === undefined) return {}
  if (size !== undefined && !PAGE_SIZE.test(size)) {
    throw new InvalidInputError(`expected an integer of at least 1, got ${size}`, 'pageSize')
  }
  const limit = Math.min(Number(size ?? pageSizeMax), pageSizeMax)
  return token === undefined || token === '' ? { limit } : { limit, after: decodeToken(token) }
}

/** The token of the page that begins after the name. */
export function encodePageToken(name: string): string {
  return Buffer.from(TOKEN_VERSION + name).toString('base64url')
}

function decodeToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString('utf8')
  const name = text.slice(TOKEN_VERSION.length)
  const isOurs = text.startsWith(TOKEN_VERSION) && encodePageToken(name) === token
  if (!isOurs || name.includes('\u0000')) {
    throw new InvalidInputError('is not a token of this listing', 'pageToken')
  }
  return name
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextPageToken?: string
}

/**
 * Cuts what was read for a page, which is one item more than the limit when there is a further page, so that a
 * full last page ends the walk. `nameOf` is the key that the listing is ordered by.
 */
export function cutPage<T>(
  read: readonly T[],
  request: PageRequest,
  nameOf: (item: T) => string,
): Page<T> {
  if (request.limit === undefined || read.length <= request.limit) return { items: read }
  const items = read.slice(0, request.limit)
  const last = items.at(-1)
  return last === undefined ? { items } : { items, nextPageToken: encodePageToken(nameOf(last)) }
}

/** The page request to read with: one item more than asked, to learn whether there is a further page. */
export function withLookahead(request: PageRequest): PageRequest {
  return request.limit === undefined ? request : { ...request, limit: request.limit + 1 }
}
