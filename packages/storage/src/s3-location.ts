import { LocationError } from './object-store.ts'

export interface S3Location {
  readonly bucket: string
  /** Literal, nothing is encoded. Empty for the bucket itself. */
  readonly key: string
}

const BUCKET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/

/**
 * Bucket and key of `s3://bucket/key`. Characters are literal: `%20` stays `%20`. Throws LocationError for another
 * scheme, a bucket name that could change the meaning of an address, a `.` or `..` segment (some stores resolve
 * them, and then a key would escape its prefix) or a lone surrogate (it has no bytes of its own).
 */
export function parseS3Location(location: string): S3Location {
  if (!location.startsWith('s3://')) {
    throw new LocationError(`this store serves s3: locations only: ${location}`)
  }
  const rest = location.slice('s3://'.length)
  const slash = rest.indexOf('/')
  const bucket = slash === -1 ? rest : rest.slice(0, slash)
  const key = slash === -1 ? '' : rest.slice(slash + 1)
  if (!BUCKET_NAME.test(bucket) || bucket.includes('..')) {
    throw new LocationError(`location names no usable bucket: ${location}`)
  }
  checkKey(key, location)
  return { bucket, key }
}

/** The same for an object, which has a key. */
export function parseS3ObjectLocation(location: string): S3Location {
  const parsed = parseS3Location(location)
  if (parsed.key === '') throw new LocationError(`location names no object: ${location}`)
  return parsed
}

function checkKey(key: string, location: string): void {
  if (/\p{Surrogate}/u.test(key)) {
    throw new LocationError('location holds a character that no key can hold')
  }
  for (const segment of key.split('/')) {
    if (segment === '.' || segment === '..') {
      throw new LocationError(`location holds a "${segment}" segment: ${location}`)
    }
  }
}

/**
 * A check that throws LocationError for what lies neither at nor below one of the roots; without roots everything
 * passes. Locations have no `.` or `..` segments once they are parsed, so comparing texts is enough.
 */
export function confineToRoots(roots: readonly string[] | undefined): (location: string) => void {
  if (roots === undefined) return () => undefined
  const prefixes = roots.map((root) => (root.endsWith('/') ? root : `${root}/`))
  return (location) => {
    const folder = location.endsWith('/') ? location : `${location}/`
    if (prefixes.some((prefix) => folder.startsWith(prefix))) return
    throw new LocationError(`location is outside the places of this store: ${location}`)
  }
}
