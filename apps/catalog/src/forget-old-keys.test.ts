import { reserveIdempotencyKey } from '@timelake/database/idempotency'
import { manualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { BackgroundTasks } from './background-tasks.ts'
import { forgetOldKeys } from './forget-old-keys.ts'

it('deletes the keys whose lifetime is over and keeps the others', async () => {
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
  clock.advance(1_001)
  const background = new BackgroundTasks(pino({ level: 'silent' }))
  const stop = forgetOldKeys({ background, context: { database, nowMs: clock.nowMs } })
  await background.drain()
  stop()
  expect(await database.query('select key from idempotency_key')).toEqual([{ key: 'long' }])
  await database.close()
})
