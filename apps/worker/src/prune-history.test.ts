import { readFeed, openFeed } from '@timelake/database/feed'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '@timelake/database/sql-session'
import { FEED_START } from '@timelake/database/webhook-row'
import { createWebhook, listWebhooks } from '@timelake/database/webhooks'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { Registry } from 'prom-client'
import { pruneHistory } from './prune-history.ts'
import { makeWebhookMetrics } from './webhooks/webhook-metrics.ts'

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

it('I44 counts the events that a paused webhook misses, by its filter', async () => {
  await database.query('update outbox_event set created_at_ms = $1, dispatched_at_ms = 1', [
    NOW_MS - 1_001,
  ])
  const webhook = async (kind: string) => {
    const made = await createWebhook(database, {
      ...{ id: kind, name: kind, url: 'https://receiver.example/', feedCursor: FEED_START },
      ...{ filter: JSON.stringify({ kinds: [kind] }), sealedSecret: 'v1.sealed' },
      ...{ attemptsMax: 5, retryForMs: 1_000, pausedReason: 'asked', nowMs: 0, countMax: 9 },
    })
    expect(made.outcome).toBe('created')
  }
  await webhook('namespace-updated')
  await webhook('table-committed')
  await pruneHistory(database, limits, new AbortController().signal)
  expect(await listWebhooks(database)).toMatchObject([
    { name: 'namespace-updated', eventsLost: 3n, eventsLostAtMs: NOW_MS },
    { name: 'table-committed', eventsLost: 0n, eventsLostAtMs: undefined },
  ])
  const registry = new Registry()
  makeWebhookMetrics({ database, registry, nowMs: () => NOW_MS })
  const text = await registry.getSingleMetricAsString('timelake_webhook_events')
  expect(text).toContain('{webhook="namespace-updated",state="lost"} 3')
})
