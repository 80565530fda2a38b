import { listAuditEntries, writeAuditEntries } from '@timelake/database/audit-log'
import { reserveIdempotencyKey } from '@timelake/database/idempotency'
import { manualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { BackgroundTasks } from './background-tasks.ts'
import { forgetOldKeys } from './forget-old-keys.ts'

it('deletes the keys, batches and audit entries whose time is over and keeps the others', async () => {
  const database = await openTestDatabase()
  const clock = manualClock()
  const reserve = (key: string, lifetimeMs: number) =>
    reserveIdempotencyKey(database, {
      warehouseId: 'w',
      key,
      operation: 'createNamespace',
      requestHash: 'h',
      nowMs: clock.nowMs(),
      leaseMs: 1,
      lifetimeMs,
    })
  await reserve('short', 1_000)
  await reserve('long', 100_000)
  const remember = (batchId: string, expiresAtMs: number) =>
    database.query(
      `insert into append_batch (table_id, batch_id, request_hash, snapshot_id, landed_at_ms, expires_at_ms)
       values ('t', $1, 'h', 1, 0, $2)`,
      [batchId, expiresAtMs],
    )
  await remember('short', clock.nowMs() + 1_000)
  await remember('long', clock.nowMs() + 100_000)
  clock.advance(1_001)
  const background = new BackgroundTasks(pino({ level: 'silent' }))
  const entry = {
    ...{ callerId: 'c', callerName: 'c', callerKind: 'account', action: 'dropTable', status: 204 },
    ...{ outcome: 'done' as const, warehouse: 'main', namespace: ['a'], object: 't' },
    ...{ detail: undefined, remoteAddress: undefined },
  }
  const config = { access: { auditRetentionMs: 1_000 } }
  await writeAuditEntries(database, [
    { ...entry, atMs: clock.nowMs() - 1_001 },
    { ...entry, atMs: clock.nowMs() - 1_000 },
  ])
  const stop = forgetOldKeys({ background, config, context: { database, nowMs: clock.nowMs } })
  await background.drain()
  stop()
  expect(await database.query('select key from idempotency_key')).toEqual([{ key: 'long' }])
  expect(await database.query('select batch_id from append_batch')).toEqual([{ batch_id: 'long' }])
  expect(await listAuditEntries(database, { filter: {}, limit: 9 })).toEqual([
    { ...entry, seq: 2n, atMs: clock.nowMs() - 1_000 },
  ])
  await database.close()
})
