import { createHash } from 'node:crypto'
import {
  DatabaseUnavailableError,
  IdempotencyKeyLostError,
} from '@timelake/database/database-errors'
import {
  finishIdempotencyKey,
  releaseIdempotencyKey,
  reserveIdempotencyKey,
  type IdempotencyOutcome,
} from '@timelake/database/idempotency'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import type { Caller } from '../access/caller.ts'
import { CommitStateUnknownError, IdempotencyConflictError } from '../catalog/catalog-errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { IdempotencySlot, StoredOutcome } from '../catalog/mutation-scope.ts'
import { errorAnswer } from './error-response.ts'
import { jsonTextAnswer, type HttpAnswer } from './exchange.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
/** Answers that the same call may not get again: another login, another day. */
const NEVER_STORED = new Set([401, 403, 419])

export interface KeyedCall {
  readonly warehouseId: string
  /** The header as it came. */
  readonly key: string
  readonly caller: Pick<Caller, 'id' | 'kind'>
  readonly operationId: string
  /** Everything that makes two calls different: path, query and body. */
  readonly parts: readonly (string | Uint8Array)[]
  run(slot: IdempotencySlot): Promise<HttpAnswer>
  /** Makes the answer of a finished call again. */
  replay(outcome: StoredOutcome): Promise<HttpAnswer>
}

/** The last call of each key that is in use in this process. Calls with one key take turns. */
export type RunningKeys = Map<string, Promise<unknown>>

/**
 * Runs a call under its Idempotency-Key: once, and every repetition gets an equivalent answer. A repetition that comes
 * while the first call runs in this process waits for it. Success is stored in the transaction of the change,
 * deterministic refusals after it; 401, 403, 419 and 5xx never. Throws InvalidInputError when the key is not a UUID
 * (of any version), IdempotencyConflictError when the key belongs to another call or its call runs elsewhere.
 * Spec: REST catalog, idempotency-key.
 */
export async function runKeyed(
  catalog: Catalog,
  running: RunningKeys,
  call: KeyedCall,
): Promise<HttpAnswer> {
  if (!UUID.test(call.key)) throw new InvalidInputError('expected a UUID', 'Idempotency-Key')
  const key = keptKey(call.caller, call.key)
  const name = `${call.warehouseId} ${key}`
  const earlier = running.get(name)
  const turn = (earlier ?? Promise.resolve()).then(
    () => runInTurn(catalog, key, call),
    () => runInTurn(catalog, key, call),
  )
  running.set(name, turn)
  try {
    return await turn
  } finally {
    if (running.get(name) === turn) running.delete(name)
  }
}

/**
 * What stands for a key of this caller: lower case, and different for different accounts, so that nobody is answered what
 * somebody else asked, learns that a key is in use, or takes one away.
 */
export function keptKey(caller: Pick<Caller, 'id' | 'kind'>, key: string): string {
  const lower = key.toLowerCase()
  switch (caller.kind) {
    // They are one and the same: whether the server asks for tokens may change.
    case 'trusted':
    case 'operator':
      return lower
    case 'account':
    case 'federated':
      return createHash('sha256').update(caller.id).update('\u0000').update(lower).digest('hex')
  }
}

async function runInTurn(catalog: Catalog, key: string, call: KeyedCall): Promise<HttpAnswer> {
  const verdict = await reserve(catalog, key, call)
  switch (verdict.outcome) {
    case 'reserved':
      return runReserved(catalog, key, call)
    case 'done':
      return call.replay(verdict)
    case 'mismatch':
      throw new IdempotencyConflictError(`idempotency key ${call.key} was used for another request`)
    case 'running':
      return takeOver(catalog, { key, call, retryAfterMs: verdict.retryAfterMs })
  }
}

/**
 * A key that is reserved although no call of this process holds it. Where this process is the only one, its owner
 * died, and an outcome that is missing proves that nothing happened.
 */
async function takeOver(
  catalog: Catalog,
  held: { readonly key: string; readonly call: KeyedCall; readonly retryAfterMs: number },
): Promise<HttpAnswer> {
  const { key, call, retryAfterMs } = held
  if (catalog.config.isOnlyWriter) {
    await releaseIdempotencyKey(catalog.context.database, { warehouseId: call.warehouseId, key })
    const verdict = await reserve(catalog, key, call)
    if (verdict.outcome === 'reserved') return runReserved(catalog, key, call)
  }
  const text = `the first request with idempotency key ${call.key} is still running`
  throw new IdempotencyConflictError(text, retryAfterMs)
}

function reserve(catalog: Catalog, key: string, call: KeyedCall) {
  const hash = createHash('sha256')
  for (const part of call.parts) hash.update(part).update('\u0000')
  return reserveIdempotencyKey(catalog.context.database, {
    warehouseId: call.warehouseId,
    key,
    operation: call.operationId,
    requestHash: hash.digest('hex'),
    nowMs: catalog.context.nowMs(),
    leaseMs: catalog.config.idempotencyLeaseMs,
    lifetimeMs: catalog.config.idempotencyLifetimeMs,
  })
}

async function runReserved(catalog: Catalog, key: string, call: KeyedCall): Promise<HttpAnswer> {
  const { database } = catalog.context
  const ticket = { warehouseId: call.warehouseId, key }
  let isRecorded = false
  const slot: IdempotencySlot = {
    key,
    ticket(outcome) {
      isRecorded = true
      return { ...ticket, outcome }
    },
    withdraw: () => void (isRecorded = false),
  }
  try {
    const answer = await call.run(slot)
    // Nothing was changed, or it had been changed earlier: that is the answer, whether or not it can be kept.
    if (!isRecorded) {
      await unlessUnavailable(() => finishIdempotencyKey(database, ticket, storedForm(answer)))
    }
    return answer
  } catch (error) {
    if (error instanceof IdempotencyKeyLostError) return replayWinner(catalog, key, call)
    // The change may have happened, and its outcome with it: the lease decides who may go on.
    if (error instanceof CommitStateUnknownError) throw error
    const answer = errorAnswer(error)
    if (answer.status >= 500 || NEVER_STORED.has(answer.status)) {
      await unlessUnavailable(() => releaseIdempotencyKey(database, ticket))
      throw error
    }
    await unlessUnavailable(() => finishIdempotencyKey(database, ticket, storedForm(answer)))
    return answer
  }
}

/** For a note beside an answer that holds without it: the key is then free again when its lease is over. */
async function unlessUnavailable(note: () => Promise<unknown>): Promise<void> {
  try {
    await note()
  } catch (error) {
    if (!(error instanceof DatabaseUnavailableError)) throw error
  }
}

/** This call outlived its lease, another one took over and finished: its answer counts. */
async function replayWinner(catalog: Catalog, key: string, call: KeyedCall): Promise<HttpAnswer> {
  const verdict = await reserve(catalog, key, call)
  if (verdict.outcome === 'done') return call.replay(verdict)
  throw new IdempotencyConflictError(
    `idempotency key ${call.key} was taken over by another request`,
  )
}

function storedForm(answer: HttpAnswer): IdempotencyOutcome {
  const { status, body } = answer
  return body === undefined ? { status } : { status, body: body.toString() }
}

/** The answer of an outcome whose body, if it has one, is stored as text. */
export function storedAnswer(outcome: StoredOutcome): HttpAnswer {
  const { status, body } = outcome
  return body === undefined ? { status, headers: {} } : jsonTextAnswer(status, body)
}
