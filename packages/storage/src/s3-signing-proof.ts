import { randomUUID } from 'node:crypto'
import { StoreUnavailableError } from './object-store.ts'
import { openAddressBook } from './s3-address.ts'
import type { CredentialSource } from './session-credentials.ts'
import { type HttpAnswer, openHttpConnections } from './s3-exchange.ts'
import type { ScopePlace } from './s3-scope.ts'
import { canonicalQuery, EMPTY_PAYLOAD_HASH, openSigner, sha256Hex } from './s3-signer.ts'
import { DEFAULT_S3_TIMEOUTS } from './s3-timeouts.ts'
import { type AnswerFacts, factsOf, unavailable, verdictOf } from './s3-verdict.ts'
import type { S3Profile } from './storage-profile.ts'

/**
 * What a store must refuse before a signature made with keys that reach everything may be given away: `other-body`, a body
 * whose hash was not signed (a batch of deletes could name anything); `added-header`, a header of S3 that was not signed (a
 * copy source could name anything).
 */
export type StoreCheck = 'other-body' | 'added-header'

export interface SigningProof {
  /**
   * Whether the store was seen to refuse it. Asked once, with a request that does nothing where it is let through: it names
   * an object of the place that cannot exist. Throws StoreUnavailableError when the store says nothing of use.
   */
  refuses(check: StoreCheck, place: ScopePlace): Promise<boolean>
  close(): void
}

export interface SigningProofOptions {
  readonly profile: S3Profile
  readonly source: CredentialSource
  readonly nowMs: () => number
}

const BODY_REFUSALS = new Set(['XAmzContentSHA256Mismatch', 'BadDigest'])
const HEADER_REFUSALS = new Set(['AccessDenied', 'SignatureDoesNotMatch', 'InvalidRequest'])
/** Bad weather, and answers of a proxy. */
const UNKNOWN = new Set(['try-again', 'expired', 'no-bucket'])

/** The checks of one store, each remembered once it is known. */
export function openSigningProof(options: SigningProofOptions): SigningProof {
  const { profile, source, nowMs } = options
  const addressOf = openAddressBook(profile)
  const signWith = openSigner(profile.region)
  const connections = openHttpConnections(
    addressOf({ bucket: 'any', key: '' }).isSecure,
    DEFAULT_S3_TIMEOUTS,
  )
  const known = new Map<StoreCheck, Promise<boolean>>()

  const send = async (trial: Trial): Promise<AnswerFacts> => {
    const { method, bucket, key, body, signedBody, added } = trial
    const address = addressOf({ bucket, key })
    const query = canonicalQuery(trial.query)
    const payloadHash = signedBody === '' ? EMPTY_PAYLOAD_HASH : sha256Hex(signedBody)
    const signable = { ...address, method, query, headers: {}, payloadHash }
    const signed = signWith(signable, await source.current(), nowMs())
    const bytes = Buffer.from(body)
    const headers = { ...signed, ...added, 'content-length': String(bytes.length) }
    const path = `${address.path}?${query}`
    const request = { method, address: { ...address, path }, headers, body: bytes }
    const answer = await connections.exchange(request).catch((cause: unknown): HttpAnswer => {
      throw new StoreUnavailableError(`cannot try what s3://${bucket} checks: no answer`, { cause })
    })
    const facts = factsOf(answer)
    const verdict = verdictOf(facts)
    if (verdict === 'expired') source.expire()
    if (UNKNOWN.has(verdict)) throw unavailable(`try what s3://${bucket} checks`, facts)
    return facts
  }
  return {
    async refuses(check, place) {
      const found = known.get(check) ?? isRefused(check, place, send)
      known.set(check, found)
      try {
        return await found
      } catch (error) {
        known.delete(check)
        throw error
      }
    },
    close: () => connections.close(),
  }
}

interface Trial {
  readonly method: 'POST' | 'PUT'
  readonly bucket: string
  readonly key: string
  readonly query: Readonly<Record<string, string>>
  readonly body: string
  readonly signedBody: string
  readonly added: Readonly<Record<string, string>>
}

async function isRefused(
  check: StoreCheck,
  { bucket, folder }: ScopePlace,
  send: (trial: Trial) => Promise<AnswerFacts>,
): Promise<boolean> {
  const key = `${folder}timelake-${randomUUID()}`
  switch (check) {
    case 'other-body': {
      const trial = { method: 'POST', bucket, key: '', query: { delete: '' }, added: {} } as const
      const facts = await send({ ...trial, body: deleteOf(key), signedBody: deleteOf(`${key}-2`) })
      return facts.status === 400 && BODY_REFUSALS.has(facts.code)
    }
    case 'added-header': {
      // Of an upload that does not exist: let through, the request finds no upload and writes nothing.
      const query = { partNumber: '1', uploadId: randomUUID() }
      const trial = { method: 'PUT', bucket, key, query, body: '', signedBody: '' } as const
      const plain = await send({ ...trial, added: {} })
      // Refused without the header too: that says nothing of the header.
      if (plain.code !== 'NoSuchUpload') return false
      const added = { 'x-amz-copy-source': `/${bucket}/timelake-${randomUUID()}` }
      const facts = await send({ ...trial, added })
      return (facts.status === 403 || facts.status === 400) && HEADER_REFUSALS.has(facts.code)
    }
  }
}

function deleteOf(key: string): string {
  const text = key.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<Delete><Quiet>true</Quiet><Object><Key>${text}</Key></Object></Delete>`
}
