import type { IdempotencyOutcome } from '@timelake/database/idempotency'
import type { Warehouse } from './warehouse.ts'

/** Where a mutation writes down its outcome, when the caller sent an Idempotency-Key. */
export interface IdempotencySlot {
  /**
   * The ticket that stores the outcome in the transaction of the change. Asking for it is a promise to write it.
   */
  ticket(outcome: StoredOutcome): { warehouseId: string; key: string; outcome: StoredOutcome }
  /** Takes that promise back: the transaction changed nothing. */
  withdraw(): void
  /** Lower case. */
  readonly key: string
}

/** The answer of a finished mutation; a `metadataLocation` stands for a LoadTableResult made again from that file. */
export type StoredOutcome = IdempotencyOutcome

/** What every mutation gets beside its own input. */
export interface MutationScope {
  readonly warehouse: Warehouse
  readonly slot: IdempotencySlot | undefined
}

/** `{ idempotency }` for a database function, or nothing when the caller sent no key. */
export function idempotencyOf(scope: MutationScope, outcome: StoredOutcome) {
  return scope.slot === undefined ? {} : { idempotency: scope.slot.ticket(outcome) }
}
