import { type AccessScope, UnvendableScopeError } from './access-broker.ts'
import { placesOfScope, type ScopePlace } from './s3-scope.ts'

/** AWS takes no longer inline policy; other stores follow it. */
export const SESSION_POLICY_CHARACTERS_MAX = 2_048

const READ_ACTIONS = ['s3:GetObject']
const WRITE_ACTIONS = [
  ...READ_ACTIONS,
  's3:PutObject',
  's3:DeleteObject',
  's3:AbortMultipartUpload',
  's3:ListMultipartUploadParts',
]

/**
 * Policies have wildcards (`*`, `?`) and variables (`${…}`), and stores differ in how these are escaped, if they can be at
 * all; `\` is a slash to some.
 */
const NOT_LITERAL = /[*?$\\]/

/**
 * The JSON text of a policy that allows the scope and nothing else: objects below its prefixes, and lists that name one of
 * them with its slash. Of former places those that can be said, the last one first, as many as fit. Throws UnvendableScopeError for prefixes that a policy cannot hold literally, for a whole bucket, and
 * for more than fits; LocationError for what is no location.
 */
export function sessionPolicyOf(scope: AccessScope, partition = 'aws'): string {
  for (const place of placesOfScope({ ...scope, former: [] })) checkPlace(place)
  const former = (scope.former ?? []).filter(isSayable)
  for (let count = former.length; count > 0; count -= 1) {
    const text = policyText({ ...scope, former: former.slice(0, count) }, partition)
    if (text.length <= SESSION_POLICY_CHARACTERS_MAX) return text
  }
  const text = policyText({ ...scope, former: [] }, partition)
  if (text.length <= SESSION_POLICY_CHARACTERS_MAX) return text
  const found = `found ${text.length} for ${scope.prefixes.length} prefixes`
  const sentence = `cannot limit a session to these prefixes: expected a policy of at most ${SESSION_POLICY_CHARACTERS_MAX} characters, ${found}`
  throw new UnvendableScopeError('too-large', sentence)
}

function isSayable(prefix: string): boolean {
  return placesOfScope({ prefixes: [prefix], access: 'read' }).every(
    ({ folder }) => folder !== '' && !NOT_LITERAL.test(folder),
  )
}

function policyText(scope: AccessScope, partition: string): string {
  const places = placesOfScope(scope)
  const arnOf = (path: string): string => `arn:${partition}:s3:::${path}`
  const objects = {
    Effect: 'Allow',
    Action: scope.access === 'write' ? WRITE_ACTIONS : READ_ACTIONS,
    Resource: places.map(({ bucket, folder }) => arnOf(`${bucket}/${folder}*`)),
  }
  const buckets = [...new Set(places.map(({ bucket }) => bucket))]
  const lists = buckets.map((bucket) => {
    const folders = places.filter((place) => place.bucket === bucket).map(({ folder }) => folder)
    return {
      Effect: 'Allow',
      Action: 's3:ListBucket',
      Resource: arnOf(bucket),
      Condition: { StringLike: { 's3:prefix': folders.map((folder) => `${folder}*`) } },
    }
  })
  return JSON.stringify({ Version: '2012-10-17', Statement: [objects, ...lists] })
}

function checkPlace({ bucket, folder }: ScopePlace): void {
  const location = `s3://${bucket}/${folder}`
  if (folder === '') {
    const sentence = `cannot limit a session to ${location}: it is a whole bucket`
    throw new UnvendableScopeError('whole-bucket', sentence)
  }
  if (NOT_LITERAL.test(folder)) {
    const sentence = `cannot limit a session to ${location}: a policy reads one of * ? $ \\ in it as something else`
    throw new UnvendableScopeError('wildcard', sentence)
  }
}
