/*
 * Writing an object only if its name is free. One attempt: a second one of a write that was applied would be refused and
 * look like somebody else's. What is unknown after it is decided by reading back, so the answer is true or `unknown`.
 */
import { setTimeout } from 'node:timers/promises'
import {
  ObjectNotFoundError,
  ObjectTooLargeError,
  type PutOutcome,
  StoreUnavailableError,
} from './object-store.ts'
import type { S3Answer, S3Client } from './s3-client.ts'
import { ExchangeError } from './s3-exchange.ts'
import { parseS3ObjectLocation } from './s3-location.ts'
import { readObject, statObject } from './s3-read.ts'
import { unavailable } from './s3-verdict.ts'

/** What a store is known to do with conditions. */
export interface ConditionSupport {
  isRefused: boolean
}

export interface PutRequest {
  readonly location: string
  readonly bytes: Uint8Array
}

/** Tries after answers by which the store says that it did nothing. */
const ATTEMPTS_MAX = 3
const CONFLICT_PAUSE_MS = 100

/** Errors: LocationError; StoreUnavailableError when the store refused, so nothing was written. */
export async function putObject(
  client: S3Client,
  request: PutRequest,
  support: ConditionSupport,
): Promise<PutOutcome> {
  for (let attempt = 1; ; attempt += 1) {
    const isPlain = support.isRefused
    if (isPlain && (await statObject(client, request.location)) !== undefined) return 'exists'
    const answer = await attemptPut(client, request, isPlain)
    const isRepeatable = attempt < ATTEMPTS_MAX
    switch (answer?.verdict) {
      case 'ok':
        return 'created'
      case 'exists':
        return attempt === 1 ? 'exists' : readBack(client, request)
      case undefined:
      case 'try-again':
        return readBack(client, request)
      case 'conflict': {
        const outcome = await readBack(client, request)
        if (outcome !== 'unknown' || !isRepeatable) return outcome
        await setTimeout(CONFLICT_PAUSE_MS * attempt)
        break
      }
      case 'unsupported':
        if (isPlain) throw unavailable(`write ${request.location}`, answer.facts)
        support.isRefused = true
        break
      case 'expired':
        if (!isRepeatable) throw unavailable(`write ${request.location}`, answer.facts)
        break
      case 'absent':
      case 'no-bucket':
      case 'refused':
        throw unavailable(`write ${request.location}`, answer.facts)
    }
  }
}

/** The answer, or undefined when none came. */
async function attemptPut(
  client: S3Client,
  { location, bytes }: PutRequest,
  isPlain: boolean,
): Promise<S3Answer | undefined> {
  const headers: Record<string, string> = isPlain ? {} : { 'if-none-match': '*' }
  try {
    const place = parseS3ObjectLocation(location)
    return await client.sendOnce({ method: 'PUT', place, headers, body: bytes })
  } catch (error) {
    if (error instanceof ExchangeError) return undefined
    throw error
  }
}

/**
 * After a write of unknown fate: `created` when the object is there and holds our bytes, `exists` when it holds others,
 * `unknown` when it is not there (the write may still be on its way) or cannot be read.
 */
async function readBack(client: S3Client, { location, bytes }: PutRequest): Promise<PutOutcome> {
  try {
    const found = await readObject(client, location, { sizeBytesMax: bytes.length })
    return found.equals(bytes) ? 'created' : 'exists'
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return 'exists'
    if (error instanceof ObjectNotFoundError || error instanceof StoreUnavailableError) {
      return 'unknown'
    }
    throw error
  }
}
