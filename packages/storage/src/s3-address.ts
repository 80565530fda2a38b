import type { S3Profile } from './storage-profile.ts'

/** Where a request goes, and its path as it is signed and sent. */
export interface S3Address {
  readonly isSecure: boolean
  readonly hostname: string
  /** Absent: the usual one of the scheme. */
  readonly port: string
  /** The Host header: with the port unless it is the usual one. */
  readonly host: string
  /** Encoded. */
  readonly path: string
}

/** A name that can be part of a host name under a wildcard certificate: no dots, no capitals. */
const HOST_LABEL = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/

/** The base URL of the profile's store: its endpoint, or that of AWS in its region. */
export function s3EndpointOf({ endpoint, region }: S3Profile): URL {
  if (endpoint !== undefined) return new URL(endpoint)
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return new URL(`https://s3.${region}.${suffix}`)
}

/** Turns bucket and key into addresses. Throws TypeError for an endpoint that is no URL. */
export function openAddressBook(
  profile: S3Profile,
): (place: { bucket: string; key: string }) => S3Address {
  const url = s3EndpointOf(profile)
  const basePath = url.pathname.replace(/\/+$/, '')
  const base = {
    isSecure: url.protocol === 'https:',
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    host: url.host,
  }
  return ({ bucket, key }) => {
    const keyPath = encodeKey(key)
    if (profile.pathStyle || !HOST_LABEL.test(bucket)) {
      return { ...base, path: `${basePath}/${encodeStrictly(bucket)}/${keyPath}` }
    }
    return {
      ...base,
      hostname: `${bucket}.${base.hostname}`,
      host: `${bucket}.${base.host}`,
      path: `${basePath}/${keyPath}`,
    }
  }
}

function encodeKey(key: string): string {
  // Most keys are plain: one test is cheaper than encoding every segment.
  if (/^[A-Za-z0-9/._~-]*$/.test(key)) return key
  return key.split('/').map(encodeStrictly).join('/')
}

/** Every byte but letters, digits and `-._~` as `%XX`. encodeURIComponent leaves five more alone, signatures do not. */
export function encodeStrictly(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
