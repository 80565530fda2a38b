import { pruneBatches } from '@timelake/database/append-batches'
import { pruneIdempotencyKeys } from '@timelake/database/idempotency'
import { pruneScanPlans } from '@timelake/database/scan-plans'
import { pruneAuditEntries } from '@timelake/database/audit-log'
import type { Catalog } from './catalog/catalog.ts'

/** Keys, and ids of batches, deleted in one statement; more wait for the next round. */
const KEYS_MAX = 10_000
const EVERY_MS = 60_000

interface KeyKeeper {
  readonly background: Catalog['background']
  readonly config: { readonly access: Pick<Catalog['config']['access'], 'auditRetentionMs'> }
  readonly context: Pick<Catalog['context'], 'database' | 'nowMs'>
}

/**
 * Deletes idempotency keys, ids of appended batches and entries of the audit log whose time is over, now and every minute, until the returned
 * function is called.
 */
export function forgetOldKeys({ background, config, context }: KeyKeeper): () => void {
  const { database, nowMs } = context
  const round = () => {
    background.start('forget old idempotency keys', async () => {
      await pruneIdempotencyKeys(database, { nowMs: nowMs(), limit: KEYS_MAX })
    })
    background.start('forget old scan plans', async () => {
      await pruneScanPlans(database, { nowMs: nowMs(), limit: KEYS_MAX })
    })
    background.start('forget old batches', async () => {
      await pruneBatches(database, { expiredBeforeMs: nowMs(), limit: KEYS_MAX })
    })
    background.start('forget old entries of the audit log', async () => {
      const beforeMs = nowMs() - config.access.auditRetentionMs
      await pruneAuditEntries(database, { beforeMs, limit: KEYS_MAX })
    })
  }
  round()
  const timer = setInterval(round, EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
