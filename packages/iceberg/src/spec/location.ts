import { InvalidInputError } from './errors.ts'

/** What common file systems allow for one path segment. */
export const LOCATION_SEGMENT_BYTES_MAX = 255
/** Longest location that is accepted; object stores allow keys of 1,024 bytes, local paths of 4,096. */
export const LOCATION_BYTES_MAX = 4096

/** A location cut at its first path slash: `s3://bucket` and `a/b`, or `file://` and `a/b`. */
interface SplitLocation {
  readonly root: string
  /** Without the leading slash. */
  readonly path: string
}

/** Schemes by which Hadoop's clients name what everybody else calls `s3`. */
const S3_ALIASES = new Set(['s3a', 's3n'])

/**
 * One spelling for each place: `/a`, `file:/a`, `file:///a` and `file://localhost/a` become `file:///a`, `s3a` and
 * `s3n` become `s3`, and schemes other than `file` keep their authority; trailing slashes go. Nothing is percent-decoded, because stores take names literally.
 * Texts that are not absolute come back without their trailing slashes.
 */
export function normalizeLocation(text: string): string {
  const split = splitLocation(text)
  if (split === undefined) return stripTrailingSlashes(text)
  const path = stripTrailingSlashes(split.path)
  return path === '' ? emptyPathLocation(split.root) : `${split.root}/${path}`
}

/**
 * The normalized location. Throws InvalidInputError when it is relative, or when its path holds `.` or `..`
 * (percent-encoded ones too), an empty segment, `\`, a control character or a segment of more than 255 bytes: such names
 * escape prefixes or mean different things to different stores. One trailing slash is allowed.
 */
export function checkLocation(text: string): string {
  const problem = findLocationProblem(text)
  if (problem !== undefined)
    throw new InvalidInputError(`invalid location "${printable(text)}": ${problem}`)
  return normalizeLocation(text)
}

/**
 * Whether `location` lies strictly inside `prefix`, compared segment by segment after normalizing. An unsafe
 * location (see checkLocation) is never below anything.
 */
export function isLocationBelow(prefix: string, location: string): boolean {
  if (isPlainlyBelow(prefix, location)) return true
  const normalizedPrefix = normalizeLocation(prefix)
  const start = normalizedPrefix.endsWith('/') ? normalizedPrefix : `${normalizedPrefix}/`
  const normalized = normalizeLocation(location)
  return (
    normalized.length > start.length &&
    normalized.startsWith(start) &&
    findLocationProblem(location) === undefined
  )
}

/** What writers make: short, with nothing in it that has two spellings. */
const PLAIN_LOCATION = /^(?:file:\/\/|s3:\/\/[a-z0-9][a-z0-9.-]*)(?:\/[\w=+-][\w.=+-]*)+$/

/** The usual case, decided in one look: lists of thousands of files are checked on the way of a commit. */
function isPlainlyBelow(prefix: string, location: string): boolean {
  return (
    location.length <= LOCATION_SEGMENT_BYTES_MAX &&
    location.startsWith(prefix) &&
    location.charCodeAt(prefix.length) === 0x2f &&
    PLAIN_LOCATION.test(location)
  )
}

/** Whether both texts name the same place. */
export function isSameLocation(a: string, b: string): boolean {
  return normalizeLocation(a) === normalizeLocation(b)
}

/** The location of `segments` below `base`, joined by single slashes; nothing is encoded. */
export function joinLocation(base: string, ...segments: readonly string[]): string {
  return [stripTrailingSlashes(base), ...segments].join('/')
}

/** The text without trailing slashes, but never cut inside `scheme://` or down to nothing. */
export function stripTrailingSlashes(text: string): string {
  let end = text.length
  while (end > 1 && text.charCodeAt(end - 1) === 0x2f && !text.slice(0, end).endsWith('://')) end--
  return text.slice(0, end)
}

function splitLocation(text: string): SplitLocation | undefined {
  if (text.startsWith('/')) return { root: 'file://', path: text.slice(1) }
  const written = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)
  if (written === null) return undefined
  const name = String(written[1]).toLowerCase()
  const rest = text.slice(written[0].length)
  if (name === 'file') return splitFileLocation(rest)
  const match = /^\/\/([^/]+)(?:\/(.*))?$/s.exec(rest)
  const scheme = S3_ALIASES.has(name) ? 's3' : name
  return match === null ? undefined : { root: `${scheme}://${match[1]}`, path: match[2] ?? '' }
}

function splitFileLocation(rest: string): SplitLocation | undefined {
  const match = /^(?:\/\/(?:localhost)?)?\/(.*)$/s.exec(rest)
  return match === null ? undefined : { root: 'file://', path: String(match[1]) }
}

function emptyPathLocation(root: string): string {
  return root === 'file://' ? 'file:///' : root
}

function findLocationProblem(text: string): string | undefined {
  if (/[\u0000-\u001f\u007f\\]/.test(text)) return 'it holds a control character or a backslash'
  if (/\p{Surrogate}/u.test(text)) return 'it is not well-formed Unicode'
  if (Buffer.byteLength(text) > LOCATION_BYTES_MAX)
    return `it is longer than ${LOCATION_BYTES_MAX} bytes`
  const split = splitLocation(text)
  if (split === undefined) return 'expected an absolute path or scheme://authority/path'
  const path = split.path.endsWith('/') ? split.path.slice(0, -1) : split.path
  if (path === '') return split.path === '' ? undefined : 'it holds an empty segment'
  for (const segment of path.split('/')) {
    const problem = findSegmentProblem(segment)
    if (problem !== undefined) return problem
  }
  return undefined
}

function findSegmentProblem(segment: string): string | undefined {
  if (segment === '') return 'it holds an empty segment'
  if (/^(?:\.|%2e){1,2}$/i.test(segment)) return `it holds the segment "${segment}"`
  if (Buffer.byteLength(segment) > LOCATION_SEGMENT_BYTES_MAX) {
    return `it holds a segment of more than ${LOCATION_SEGMENT_BYTES_MAX} bytes`
  }
  return undefined
}

function printable(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return JSON.stringify(short).slice(1, -1)
}
