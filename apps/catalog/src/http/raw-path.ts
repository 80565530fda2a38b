import { InvalidInputError } from '@timelake/iceberg/spec/errors'

const ENCODED_SEPARATOR = /%1f|\u001f/i
// Some clients encode `parent` twice, so the separator arrives as %251F.
const TWICE_ENCODED_SEPARATOR = /%1f|%251f|\u001f/i
const MALFORMED_PERCENT = /%(?![0-9a-fA-F]{2})/

/**
 * One name from its raw path segment, decoded exactly once. A raw `+` is a space, as Java clients up to 1.11
 * write it; a literal plus always arrives as `%2B`. Throws InvalidInputError for malformed percent-encoding or UTF-8.
 */
export function decodeSegment(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw
  if (MALFORMED_PERCENT.test(raw))
    throw new InvalidInputError(`malformed percent-encoding in ${raw}`)
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch (cause) {
    throw new InvalidInputError(`percent-encoding is not UTF-8 in ${raw}`, undefined, { cause })
  }
}

/** The levels of a namespace from its raw path segment: split at the encoded separator first, then decoded. */
export function decodeNamespaceSegment(raw: string): string[] {
  return raw.split(ENCODED_SEPARATOR).map(decodeSegment)
}

/** The levels of the `parent` query value, whose separator may be encoded once or twice. */
export function decodeParentParameter(raw: string): string[] {
  return raw.split(TWICE_ENCODED_SEPARATOR).map(decodeSegment)
}

export interface RawTarget {
  readonly path: string
  /** Without the question mark; empty when absent. */
  readonly query: string
}

/** Splits a request target; an absolute-form target loses its scheme and authority. */
export function splitTarget(target: string): RawTarget {
  const at = target.indexOf('?')
  const path = at < 0 ? target : target.slice(0, at)
  const query = at < 0 ? '' : target.slice(at + 1)
  return { path: path.startsWith('/') ? path : path.replace(/^[a-z]+:\/\/[^/]*/i, ''), query }
}

/** The raw text of one query parameter, or undefined when it is absent. The first of several wins. */
export function rawQueryParameter(query: string, name: string): string | undefined {
  return rawQueryParameters(query, name)[0]
}

/** The raw texts of a query parameter that may be repeated, in their order. */
export function rawQueryParameters(query: string, name: string): readonly string[] {
  if (query === '') return []
  return query.split('&').flatMap((pair) => {
    const at = pair.indexOf('=')
    if ((at < 0 ? pair : pair.slice(0, at)) !== name) return []
    return [at < 0 ? '' : pair.slice(at + 1)]
  })
}

/** A decoded query parameter, or undefined when it is absent. */
export function queryParameter(query: string, name: string): string | undefined {
  const raw = rawQueryParameter(query, name)
  return raw === undefined ? undefined : decodeSegment(raw)
}
