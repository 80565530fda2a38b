import { LocationError } from './object-store.ts'

export const SEGMENT_BYTES_MAX = 255

/**
 * The absolute path that a `file:` location names. Bytes are literal: `%20` stays `%20`. Accepts `file:/a`,
 * `file:///a`, `file://localhost/a` and `/a`. Throws LocationError for another scheme or host, a relative path,
 * a `.` or `..` segment, a NUL character or a lone surrogate (it has no bytes of its own).
 */
export function pathOfLocation(location: string): string {
  const path = stripScheme(location)
  if (!path.startsWith('/'))
    throw new LocationError(`location is not an absolute path: ${location}`)
  if (path.includes('\0') || hasLoneSurrogate(path)) {
    throw new LocationError('location holds a character that no file name can hold')
  }
  for (const segment of path.split('/')) {
    if (segment === '.' || segment === '..') {
      throw new LocationError(`location holds a "${segment}" segment: ${location}`)
    }
  }
  return path
}

/**
 * Refuses, with LocationError, the spellings that differ between stores, so that none of them is ever created:
 * empty segments, a trailing slash, `.` and `..`, a backslash, control characters, a segment over
 * SEGMENT_BYTES_MAX bytes.
 */
export function checkNewLocation(location: string): void {
  const rest = location.replace(/^[a-z][a-z0-9+.-]*:(\/\/)?/i, '')
  if (/[\u0000-\u001f\u007f\\]/.test(rest) || hasLoneSurrogate(rest)) {
    throw new LocationError('location holds a backslash or a control character')
  }
  const segments = rest.replace(/^\//, '').split('/')
  for (const segment of segments) checkNewSegment(segment, location)
}

function checkNewSegment(segment: string, location: string): void {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new LocationError(`location holds an empty, "." or ".." segment: ${location}`)
  }
  if (Buffer.byteLength(segment) > SEGMENT_BYTES_MAX) {
    throw new LocationError(`location holds a segment over ${SEGMENT_BYTES_MAX} bytes`)
  }
}

function stripScheme(location: string): string {
  if (!location.startsWith('file:')) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(location)) {
      throw new LocationError(`this store serves file: locations only: ${location}`)
    }
    return location
  }
  const rest = location.slice('file:'.length)
  if (!rest.startsWith('//')) return rest
  if (rest.startsWith('///')) return rest.slice(2)
  if (rest.startsWith('//localhost/')) return rest.slice('//localhost'.length)
  throw new LocationError(`a file: location must not name a host: ${location}`)
}

function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}
