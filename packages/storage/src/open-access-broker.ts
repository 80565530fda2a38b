import {
  type AccessBroker,
  type AccessScope,
  MalformedRequestError,
  RequestRefusedError,
  UnvendableScopeError,
} from './access-broker.ts'
import type { CredentialSource, SessionCredentials } from './session-credentials.ts'
import { LocationError } from './object-store.ts'
import { confineToRoots } from './s3-location.ts'
import { covers, placesOfScope } from './s3-scope.ts'
import { type CheckedRequest, checkClientRequest, signedRequestOf } from './s3-sign-request.ts'
import type { SessionFetcher } from './s3-session.ts'
import { openSigner } from './s3-signer.ts'
import { openSigningProof, type SigningProof } from './s3-signing-proof.ts'
import { openVendedSessions } from './s3-vended-sessions.ts'
import type { S3Credentials, S3Profile } from './storage-profile.ts'

export interface AccessBrokerOptions {
  readonly profile: S3Profile
  /** The warehouse's own; absent: the process's own identity, which is never handed out. */
  readonly credentials: S3Credentials | undefined
  /** What the catalog itself sends requests with. */
  readonly source: CredentialSource
  /** Scopes must lie at or below one of these, such as `s3://bucket/prefix`. Absent: everywhere. */
  readonly roots?: readonly string[]
  readonly nowMs: () => number
}

/** Of the sessions that requests are signed with; AWS grants it with every role. */
const SIGNING_LIFE_MS = 3_600_000
const SIGNING_SESSION_NAME = 'timelake-signer'

/**
 * The broker of one warehouse. Nothing is sent before the first call; the AWS SDK is loaded by the first session.
 *
 * Requests are signed with a session of the scope where the warehouse has a role, so that the store holds them to the scope
 * as well. Without one, signatures that a lenient store would accept for more than was checked are not given.
 */
export function openAccessBroker(options: AccessBrokerOptions): AccessBroker & { close(): void } {
  const { profile, credentials, source, nowMs } = options
  const confine = confineScopes(options.roots)
  const canVend = profile.clientRoleArn !== undefined || profile.roleArn !== undefined
  const hasKeys = credentials !== undefined
  const signWith = openSigner(profile.region)
  const proof = openSigningProof({ profile, source, nowMs })
  let fetching: Promise<SessionFetcher> | undefined
  const openFetcher = async (): Promise<SessionFetcher> => {
    const { openSessionFetcher } = await import('./s3-session.ts')
    return openSessionFetcher(profile, credentials)
  }
  const vend = openVendedSessions({
    profile,
    credentials,
    nowMs,
    assume: async (session) => (await (fetching ??= openFetcher())).assume(session),
  })
  const scopedSession = async (scope: AccessScope): Promise<SessionCredentials | undefined> => {
    const asked = { sessionName: SIGNING_SESSION_NAME, durationMs: SIGNING_LIFE_MS }
    try {
      return canVend ? await vend(scope, asked) : undefined
    } catch (error) {
      if (error instanceof UnvendableScopeError) return undefined
      throw error
    }
  }
  return {
    canVend,
    hasKeys,
    async vend(asked, options) {
      const scope = withoutStrangers(asked, confine)
      const outside = confine(scope)
      if (outside !== undefined) throw new UnvendableScopeError('outside-warehouse', outside)
      return vend(scope, options)
    },
    async keys() {
      if (hasKeys) return source.current()
      const sentence = 'cannot hand out keys: the warehouse has none of its own'
      throw new UnvendableScopeError('no-keys', sentence)
    },
    async sign(request, asked) {
      const scope = withoutStrangers(asked, confine)
      const outside = confine(scope)
      if (outside !== undefined) throw new RequestRefusedError(outside)
      const checked = checkClientRequest(request, scope, profile)
      const session = await scopedSession(scopeTouched(scope, checked))
      if (session === undefined) await checkStore(proof, checked, scope)
      const signed = signWith(checked.signable, session ?? (await source.current()), nowMs())
      return signedRequestOf(request, signed)
    },
    close() {
      proof.close()
      void fetching?.then((fetcher) => fetcher.close())
    },
  }
}

/** The scope without those of its former places that are no longer the warehouse's. */
function withoutStrangers(
  scope: AccessScope,
  confine: (scope: AccessScope) => string | undefined,
): AccessScope {
  const { access, former = [] } = scope
  const own = former.filter((prefix) => confine({ prefixes: [prefix], access }) === undefined)
  return { ...scope, former: own }
}

/** The scope with those of its former places that the request touches, so that a session's policy has room for them. */
function scopeTouched(scope: AccessScope, { operation }: CheckedRequest): AccessScope {
  const touched = [...operation.reads, ...operation.writes]
  const former = (scope.former ?? []).filter((prefix) =>
    placesOfScope({ prefixes: [prefix], access: 'read' }).some((place) =>
      touched.some(({ bucket, key }) => covers(place, bucket, key)),
    ),
  )
  return { ...scope, former }
}

/** Why a scope is none of this warehouse's; undefined when it is. */
function confineScopes(
  roots: readonly string[] | undefined,
): (scope: AccessScope) => string | undefined {
  const check = confineToRoots(roots)
  return (scope) => {
    try {
      for (const { bucket, folder } of placesOfScope(scope)) check(`s3://${bucket}/${folder}`)
      return undefined
    } catch (error) {
      if (error instanceof LocationError) return `cannot give access: ${error.message}`
      throw error
    }
  }
}

/** Throws RequestRefusedError where the store would let the signature pass for more than was checked. */
async function checkStore(
  proof: SigningProof,
  { operation }: CheckedRequest,
  scope: AccessScope,
): Promise<void> {
  const { name } = operation
  const [place] = placesOfScope(scope)
  if (place === undefined) throw new RequestRefusedError(`cannot sign ${name}: nothing is in scope`)
  if (operation.hiddenIn !== undefined) {
    const expected = 'expected the document that names the objects to delete, found nothing'
    throw new MalformedRequestError(`body: ${expected}; delete objects one by one`)
  }
  const hint = 'give the warehouse a role-arn, so that the store itself limits what is signed'
  if (name === 'delete-objects' && !(await proof.refuses('other-body', place))) {
    const found = 'the store does not check that a body is the one that was signed'
    throw new RequestRefusedError(
      `cannot sign ${name}: ${found}; delete objects one by one, or ${hint}`,
    )
  }
  const canCopy = name === 'put-object' || name === 'put-part'
  if (canCopy && !(await proof.refuses('added-header', place))) {
    const found = 'the store takes headers that were not signed, such as a copy source'
    throw new RequestRefusedError(`cannot sign ${name}: ${found}; ${hint}`)
  }
}
