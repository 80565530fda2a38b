import { readFeed, openFeed } from '@timelake/database/feed'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '@timelake/database/sql-session'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pruneHistory } from './prune-history.ts'

const NOW_MS = 1_700_000_000_000
const limits = { eventRetentionMs: 1_000, historyMsMax: 5_000, nowMs: NOW_MS }

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
  await openFeed(database, { id: '0f000000-0000-4000-8000-000000000000' })
})

afterAll(() => database.close())

it('forgets as many old events as there are, and keeps young ones and those that nobody acted on', async () => {
  const add = (count: number, createdAtMs: number, dispatchedAtMs: number | null) =>
    database.query(
      `insert into outbox_event (event_id, warehouse_id, event_number, kind, levels, payload, created_at_ms, dispatched_at_ms)
       select 'n-' || n, 'w', n, 'namespace-updated', 'ns', '{}', $2, $3 from generate_series(1, $1::int) as n`,
      [count, createdAtMs, dispatchedAtMs],
    )
  await add(2_500, NOW_MS - 1_001, NOW_MS)
  await add(1, NOW_MS - 1_001, null)
  await add(2, NOW_MS - 1_001, NOW_MS)
  await add(3, NOW_MS - 1_000, NOW_MS)
  await pruneHistory(database, limits, new AbortController().signal)
  const page = await readFeed(database, { limit: 10 })
  expect(page).toMatchObject({ outcome: 'read', events: { length: 6 } })
  await database.query('update outbox_event set dispatched_at_ms = 1')
  await pruneHistory(database, limits, new AbortController().signal)
  expect(await readFeed(database, { limit: 10 })).toMatchObject({ events: { length: 3 } })
})

it('stops when it is told to', async () => {
  await database.query('update outbox_event set created_at_ms = 1')
  await pruneHistory(database, limits, AbortSignal.abort())
  expect(await readFeed(database, { limit: 10 })).toMatchObject({ events: { length: 3 } })
})
