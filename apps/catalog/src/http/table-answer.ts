import type { HttpAnswer, HttpRequest } from './exchange.ts'
import type { LoadedMetadata, MetadataView } from '../cache/loaded-metadata.ts'

const ACCEPTS_GZIP = /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$)))?[^,;]*(?:,|$)/i

/**
 * The LoadTableResult of the metadata with its ETag, from bytes that are made once and kept; gzipped when the caller
 * accepts that and the body is worth it.
 */
export async function loadedTableAnswer(
  request: HttpRequest,
  loaded: LoadedMetadata,
  view: MetadataView = 'all',
): Promise<HttpAnswer> {
  const etag = loaded.etag(view)
  const gzipped = acceptsGzip(request) ? loaded.gzippedBody(view) : undefined
  if (gzipped === undefined) return identityAnswer(loaded, view, etag)
  return {
    status: 200,
    headers: { ...TABLE_HEADERS, 'content-encoding': 'gzip', etag },
    body: await gzipped,
  }
}

/**
 * The same for the answer to a mutation, never compressed: its body is new, and compressing it would cost more time
 * than the change.
 */
export function changedTableAnswer(loaded: LoadedMetadata): HttpAnswer {
  return identityAnswer(loaded, 'all', loaded.etag('all'))
}

const TABLE_HEADERS = { 'content-type': 'application/json', vary: 'accept-encoding' } as const

function identityAnswer(loaded: LoadedMetadata, view: MetadataView, etag: string): HttpAnswer {
  return { status: 200, headers: { ...TABLE_HEADERS, etag }, body: loaded.body(view) }
}

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
