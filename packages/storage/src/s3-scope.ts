import type { AccessScope } from './access-broker.ts'
import { LocationError } from './object-store.ts'
import { parseS3Location } from './s3-location.ts'

/** A prefix of a scope: what lies below `folder` in the bucket. */
export interface ScopePlace {
  readonly bucket: string
  /** Ends with `/`; empty for the whole bucket. */
  readonly folder: string
}

/**
 * The places of a scope, sorted, without those that lie in others. Throws LocationError for a prefix that is no location
 * of S3 or could be read in two ways.
 */
export function placesOfScope({ prefixes, former = [] }: AccessScope): readonly ScopePlace[] {
  const places = [...prefixes, ...former].map(placeOf).sort(byPlace)
  return places.filter(
    (place, index) =>
      !places.some((other, at) => at < index && covers(other, place.bucket, place.folder)),
  )
}

/** Whether the key lies below the place. */
export function covers({ bucket, folder }: ScopePlace, inBucket: string, key: string): boolean {
  return bucket === inBucket && key.startsWith(folder)
}

function placeOf(prefix: string): ScopePlace {
  const { bucket, key } = parseS3Location(prefix.replace(/^s3[an]:/, 's3:').replace(/\/+$/, ''))
  if (key !== '' && key.split('/').includes('')) {
    throw new LocationError(`location holds an empty segment: ${prefix}`)
  }
  return { bucket, folder: key === '' ? '' : `${key}/` }
}

function byPlace(a: ScopePlace, b: ScopePlace): number {
  if (a.bucket !== b.bucket) return a.bucket < b.bucket ? -1 : 1
  return a.folder === b.folder ? 0 : a.folder < b.folder ? -1 : 1
}
