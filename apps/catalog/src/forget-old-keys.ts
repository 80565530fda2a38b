import { pruneBatches } from '@timelake/database/append-batches'
import { pruneIdempotencyKeys } from '@timelake/database/idempotency'
import type { Catalog } from './catalog/catalog.ts'

/** Keys, and ids of batches, deleted in one statement; more wait for the next round. */
const KEYS_MAX = 10_000
const EVERY_MS = 60_000

interface KeyKeeper {
  readonly background: Catalog['background']
  readonly context: Pick<Catalog['context'], 'database' | 'nowMs'>
}

/**
 * Deletes idempotency keys and ids of appended batches whose time is over, now and every minute, until the returned
 * function is called.
 */
export function forgetOldKeys({ background, context }: KeyKeeper): () => void {
  const { database, nowMs } = context
  const round = () => {
    background.start('forget old idempotency keys', async () => {
      await pruneIdempotencyKeys(database, { nowMs: nowMs(), limit: KEYS_MAX })
    })
    background.start('forget old batches', async () => {
      await pruneBatches(database, { expiredBeforeMs: nowMs(), limit: KEYS_MAX })
    })
  }
  round()
  const timer = setInterval(round, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
