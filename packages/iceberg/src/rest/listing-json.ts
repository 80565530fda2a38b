import { list, object, optional, text } from '../spec/decode.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { decodeTableIdentifier, encodeTableIdentifier } from './table-identifier.ts'
import type { TableIdentifier } from './table-identifier.ts'

/** One page of a listing; without a token it is the last one. */
export interface ListingPage<T> {
  readonly items: readonly T[]
  readonly nextPageToken?: string
}

/** Spec: REST catalog, ListNamespacesResponse. The token of the last page is null, never empty. */
export function encodeNamespacePage(page: ListingPage<readonly string[]>): JsonObject {
  return { namespaces: page.items, 'next-page-token': page.nextPageToken ?? null }
}

/** Reads a page of namespaces. Throws InvalidInputError naming the member. */
export function decodeNamespacePage(json: JsonValue): ListingPage<string[]> {
  const raw = object(json, 'response')
  return pageOf(
    list(raw['namespaces'], 'namespaces', (item, path) => list(item, path, text)),
    raw,
  )
}

/** Spec: REST catalog, ListTablesResponse. */
export function encodeTablePage(page: ListingPage<TableIdentifier>): JsonObject {
  return {
    identifiers: page.items.map(encodeTableIdentifier),
    'next-page-token': page.nextPageToken ?? null,
  }
}

/** Reads a page of tables. Throws InvalidInputError naming the member. */
export function decodeTablePage(json: JsonValue): ListingPage<TableIdentifier> {
  const raw = object(json, 'response')
  return pageOf(list(raw['identifiers'], 'identifiers', decodeTableIdentifier), raw)
}

function pageOf<T>(items: readonly T[], raw: JsonObject): ListingPage<T> {
  const nextPageToken = optional(raw['next-page-token'], 'next-page-token', text)
  return nextPageToken === undefined || nextPageToken === '' ? { items } : { items, nextPageToken }
}
