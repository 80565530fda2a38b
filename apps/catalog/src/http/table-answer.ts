import type { LoadTableAccess } from '@timelake/iceberg/rest/load-table-json'
import type { HttpAnswer, HttpRequest } from './exchange.ts'
import type { LoadedMetadata, MetadataView } from '../cache/loaded-metadata.ts'

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))?[^,;]*(?:,|$)/i

/**
 * The LoadTableResult of the metadata with its ETag, from bytes that are made once and kept, and the access that this caller
 * is given; gzipped when the caller accepts that and the body is worth it.
 */
export async function loadedTableAnswer(
  request: HttpRequest,
  loaded: LoadedMetadata,
  { view, access, etag }: LoadedTable,
): Promise<HttpAnswer> {
  const gzipped = acceptsGzip(request) ? loaded.gzippedBody(view, access) : undefined
  const headers = { ...headersFor(access), etag }
  if (gzipped === undefined) return { status: 200, headers, body: loaded.body(view, access) }
  return {
    status: 200,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: await gzipped,
  }
}

/** What of a table goes into an answer. */
export interface LoadedTable {
  readonly view: MetadataView
  /** Undefined: the caller has its own, or none. */
  readonly access: LoadTableAccess | undefined
  /** `loadETag` of the two. */
  readonly etag: string
}

/**
 * The same for the answer to a mutation, never compressed: its body is new, and compressing it would cost more time
 * than the change.
 */
export function changedTableAnswer(loaded: LoadedMetadata, access?: LoadTableAccess): HttpAnswer {
  const headers = { ...headersFor(access), etag: loaded.etag('all', access) }
  return { status: 200, headers, body: loaded.body('all', access) }
}

/** Headers of an answer with a LoadTableResult; one that gives access is kept by nobody on the way. */
export function headersFor(access: LoadTableAccess | undefined): Record<string, string> {
  const headers = { 'content-type': 'application/json', vary: VARY }
  return access === undefined ? headers : { ...headers, 'cache-control': 'no-store' }
}

const VARY = 'accept-encoding, authorization, x-iceberg-access-delegation'

function acceptsGzip(request: HttpRequest): boolean {
  const accepted = request.header('accept-encoding')
  return accepted !== undefined && ACCEPTS_GZIP.test(accepted)
}

/** Whether the caller holds what the tag stands for already. Weak comparison; spec: RFC 9110, If-None-Match. */
export function matchesETag(request: HttpRequest, etag: string): boolean {
  const sent = request.header('if-none-match')
  if (sent === undefined) return false
  if (sent === etag) return true
  return sent.split(',').some((one) => one.trim() === '*' || strong(one.trim()) === strong(etag))
}

function strong(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}
