/** Where the objects of a warehouse are and how they are reached; holds no secret. */
export type StorageProfile = FileProfile | S3Profile

/** Directories of the machine. */
export interface FileProfile {
  readonly type: 'file'
}

/** Buckets of an S3-compatible store. */
export interface S3Profile {
  readonly type: 's3'
  /** `http(s)://host[:port]`; absent for AWS itself. */
  readonly endpoint?: string
  readonly region: string
  /** Bucket in the path instead of the host name; most stores but AWS need it. */
  readonly pathStyle: boolean
  /** A role to assume with the credentials. */
  readonly roleArn?: string
  /** The role that sessions for clients are cut from; default: `roleArn`. */
  readonly clientRoleArn?: string
  readonly externalId?: string
  /** Endpoint of STS for the roles; default: that of the region. */
  readonly stsEndpoint?: string
}

/** Keys for a store; kept sealed, used in memory only. Absent for a warehouse: the process's own identity is used. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** A profile or credentials that break the rules. `path` names the member; the message never holds a secret. */
export class StorageProfileError extends Error {
  override readonly name = 'StorageProfileError'
  readonly path: string | undefined
  constructor(message: string, path?: string, options?: ErrorOptions) {
    super(path === undefined ? message : `${path}: ${message}`, options)
    this.path = path
  }
}

const TEXT_CHARACTERS_MAX = 2_048
/** Session tokens carry policies. */
const SESSION_TOKEN_CHARACTERS_MAX = 16_384

/** Reads one member: the text, or undefined when it is absent or null. */
type ReadText = (member: string, rule?: TextRule) => string | undefined

interface TextRule {
  readonly pattern: RegExp
  /** What the pattern asks for, in words. */
  readonly expected: string
  readonly charactersMax?: number
}

const REGION: TextRule = {
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/,
  expected: 'the name of a region, such as eu-central-1',
}
const ROLE_ARN: TextRule = {
  pattern: /^arn:[^:\s]+:iam::[^:\s]*:role\/[^\s]+$/,
  expected: 'the ARN of a role, such as arn:aws:iam::123456789012:role/lake',
}
const EXTERNAL_ID: TextRule = {
  pattern: /^[\w+=,.@:/\\-]{2,1224}$/,
  expected: '2 to 1224 letters, digits or + = , . @ : / \\ -',
}
const KEY_TEXT: TextRule = {
  pattern: /^[\x21-\x7e]+$/,
  expected: 'text without spaces or control characters',
}
const SESSION_TOKEN: TextRule = { ...KEY_TEXT, charactersMax: SESSION_TOKEN_CHARACTERS_MAX }

/**
 * The profile in a JSON value: `{"type":"file"}`, or `{"type":"s3","endpoint":…,"region":…,"path-style":…,"role-arn":…,
 * "client-role-arn":…,"external-id":…,"sts-endpoint":…}` of which type and region are needed. `path-style` is true by default with an
 * endpoint and false without one (AWS). Throws StorageProfileError, also for a member that does not exist, so that a
 * misspelt one is not lost.
 */
export function decodeStorageProfile(value: unknown): StorageProfile {
  const object = membersOf(value, 'storage')
  const type = object['type']
  switch (type) {
    case 'file':
      refuseUnknown(object, 'storage', ['type'])
      return { type }
    case 's3':
      return decodeS3Profile(object)
    default:
      throw new StorageProfileError(
        `expected "file" or "s3", found ${describe(type)}`,
        'storage.type',
      )
  }
}

/** The JSON text of a profile, which `decodeStorageProfile` reads. */
export function encodeStorageProfile(profile: StorageProfile): string {
  return JSON.stringify(storageProfileJson(profile))
}

/**
 * A text that is equal for profiles of one store, as far as profiles can tell: `file`, `aws`, or host and port of the
 * endpoint, where the loopback names are one host. Two names of one server are not recognized.
 */
export function storeIdentity(profile: StorageProfile): string {
  if (profile.type === 'file') return 'file'
  const { hostname, port, protocol } = new URL(profile.endpoint ?? 'https://s3.amazonaws.com')
  if (/(^|\.)amazonaws\.com(\.cn)?$/.test(hostname)) return 'aws'
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  const portOrDefault = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return `${isLoopback ? 'loopback' : hostname}:${portOrDefault}`
}

/** The JSON members of a profile. */
export function storageProfileJson(
  profile: StorageProfile,
): Readonly<Record<string, string | boolean>> {
  if (profile.type === 'file') return { type: profile.type }
  const { type, endpoint, region, pathStyle, roleArn, clientRoleArn, externalId, stsEndpoint } =
    profile
  return {
    type,
    ...(endpoint === undefined ? {} : { endpoint }),
    region,
    'path-style': pathStyle,
    ...(roleArn === undefined ? {} : { 'role-arn': roleArn }),
    ...(clientRoleArn === undefined ? {} : { 'client-role-arn': clientRoleArn }),
    ...(externalId === undefined ? {} : { 'external-id': externalId }),
    ...(stsEndpoint === undefined ? {} : { 'sts-endpoint': stsEndpoint }),
  }
}

/**
 * The credentials in a JSON value, `{"access-key-id":…,"secret-access-key":…,"session-token":…}` of which the first two
 * are needed. Throws StorageProfileError, whose message never holds a value.
 */
export function decodeS3Credentials(value: unknown): S3Credentials {
  const path = 'credentials'
  const object = membersOf(value, path)
  refuseUnknown(object, path, ['access-key-id', 'secret-access-key', 'session-token'])
  const read = secretReader(object, path)
  const accessKeyId = required(read('access-key-id', KEY_TEXT), `${path}.access-key-id`)
  const secretAccessKey = required(read('secret-access-key', KEY_TEXT), `${path}.secret-access-key`)
  const sessionToken = read('session-token', SESSION_TOKEN)
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
}

/** The JSON text of credentials, which `decodeS3Credentials` reads: what is sealed. */
export function encodeS3Credentials(credentials: S3Credentials): string {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  return JSON.stringify({
    'access-key-id': accessKeyId,
    'secret-access-key': secretAccessKey,
    ...(sessionToken === undefined ? {} : { 'session-token': sessionToken }),
  })
}

function decodeS3Profile(object: Members): S3Profile {
  const path = 'storage'
  refuseUnknown(object, path, [
    'type',
    'endpoint',
    'region',
    'path-style',
    'role-arn',
    'client-role-arn',
    'external-id',
    'sts-endpoint',
  ])
  const read = textReader(object, path)
  const endpoint = readEndpoint(read('endpoint'), `${path}.endpoint`)
  const region = required(read('region', REGION), `${path}.region`)
  const pathStyle = readSwitch(object['path-style'], `${path}.path-style`) ?? endpoint !== undefined
  const roleArn = read('role-arn', ROLE_ARN)
  const clientRoleArn = read('client-role-arn', ROLE_ARN)
  const externalId = read('external-id', EXTERNAL_ID)
  const stsEndpoint = readEndpoint(read('sts-endpoint'), `${path}.sts-endpoint`)
  const hasRole = roleArn !== undefined || clientRoleArn !== undefined
  if (!hasRole && (externalId !== undefined || stsEndpoint !== undefined)) {
    const member = externalId === undefined ? 'sts-endpoint' : 'external-id'
    const sentence = 'expected only beside role-arn or client-role-arn'
    throw new StorageProfileError(sentence, `${path}.${member}`)
  }
  return {
    type: 's3',
    ...(endpoint === undefined ? {} : { endpoint }),
    region,
    pathStyle,
    ...(roleArn === undefined ? {} : { roleArn }),
    ...(clientRoleArn === undefined ? {} : { clientRoleArn }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(stsEndpoint === undefined ? {} : { stsEndpoint }),
  }
}

/** Without a slash at the end. A user or password in it would be a secret in the clear, so the text is not repeated. */
function readEndpoint(text: string | undefined, path: string): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isBare =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    `${url.username}${url.password}${url.search}${url.hash}` === '' &&
    !/[?#@\s]/.test(text)
  if (isBare) return url.origin
  throw new StorageProfileError(
    'expected http(s)://host or http(s)://host:port without user, path or query, found another text',
    path,
  )
}

type Members = Readonly<Record<string, unknown>>

function membersOf(value: unknown, path: string): Members {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    return value as Members // `as`: an object has members; each is checked where it is read
  }
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
  throw new StorageProfileError(`expected an object, found ${kind}`, path)
}

function refuseUnknown(object: Members, path: string, known: readonly string[]): void {
  const unknown = Object.keys(object).find((member) => !known.includes(member))
  if (unknown === undefined) return
  const shown = JSON.stringify(unknown.slice(0, 100))
  throw new StorageProfileError(`expected ${known.join(', ')}, found the member ${shown}`, path)
}

function required(text: string | undefined, path: string): string {
  if (text === undefined) throw new StorageProfileError('expected text, found nothing', path)
  return text
}

function textReader(object: Members, path: string): ReadText {
  return (member, rule) => readText(object[member], { path: `${path}.${member}`, rule, describe })
}

/** The same, for texts that must not be repeated. */
function secretReader(object: Members, path: string): ReadText {
  const kindOf = (value: unknown): string =>
    typeof value === 'string' ? 'another text' : describe(value)
  return (member, rule) =>
    readText(object[member], { path: `${path}.${member}`, rule, describe: kindOf })
}

interface TextMember {
  readonly path: string
  readonly rule: TextRule | undefined
  readonly describe: (value: unknown) => string
}

function readText(value: unknown, { path, rule, describe }: TextMember): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string')
    throw new StorageProfileError(`expected text, found ${describe(value)}`, path)
  if (value === '') throw new StorageProfileError('expected text, found an empty one', path)
  const charactersMax = rule?.charactersMax ?? TEXT_CHARACTERS_MAX
  if (value.length > charactersMax) {
    const found = `found ${value.length}`
    throw new StorageProfileError(`expected at most ${charactersMax} characters, ${found}`, path)
  }
  if (rule !== undefined && !rule.pattern.test(value)) {
    throw new StorageProfileError(`expected ${rule.expected}, found ${describe(value)}`, path)
  }
  return value
}

function readSwitch(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw new StorageProfileError(`expected true or false, found ${describe(value)}`, path)
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100))
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object'
    ? 'an object'
    : `a ${typeof value === 'bigint' ? 'number' : typeof value}`
}
