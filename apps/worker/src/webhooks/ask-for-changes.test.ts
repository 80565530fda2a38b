import { keepEventDetails } from '@timelake/database/event-details'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestReceiver, type TestReceiver } from './open-test-receiver.ts'
import { openTestWebhooks, type TestWebhooks } from './open-test-webhooks.ts'
import type { RunningWebhooks } from './start-webhooks.ts'

const SOON = { timeoutMs: 10_000 }
const CHANGES = '{"partitions":[{"added-files":1}]}'

describe('what commits did to partitions', () => {
  let lake: TestWebhooks
  let receiver: TestReceiver
  let running: RunningWebhooks | undefined
  beforeAll(async () => {
    lake = await openTestWebhooks(await openTestDatabase())
    receiver = await openTestReceiver()
  })
  afterEach(async () => {
    await running?.stop()
    receiver.received.splice(0)
    await lake.database.query('delete from webhook')
  })
  afterAll(async () => {
    await receiver.close()
    await lake.close()
  })
  const payload = '{"snapshot-id":1,"manifest-list":"file:///m.avro"}'

  it('is asked of the catalog, and is in the body', async () => {
    const table = await lake.table()
    await lake.hook(receiver.url, [table])
    const asked: Request[] = []
    await lake.commit(table, 1, payload)
    running = await lake.start({
      context: {
        catalogUri: 'http://catalog.example/',
        catalogToken: 'letmein',
        async catalogFetch(request) {
          asked.push(request)
          const [row] = await lake.database.query<{ seq: bigint }>(
            'select max(seq) as seq from outbox_event',
          )
          await keepEventDetails(lake.database, [{ seq: row?.seq ?? 0n, details: CHANGES }])
          return new Response('{}')
        },
      },
    })
    const { json } = await waitFor(() => receiver.received[0], SOON)
    expect(json['data']).toMatchObject({ data: { changes: { partitions: [{}] } } })
    expect(asked).toHaveLength(1)
    const [request] = asked
    const url = new URL(request?.url ?? '')
    expect(url.origin + url.pathname).toMatch(
      /^http:\/\/catalog\.example\/lake\/v1\/w[0-9a-f]+\/events$/,
    )
    expect(url.searchParams.get('table')).toBe(table.id)
    expect(request?.headers.get('authorization')).toBe('Bearer letmein')
    // A commit that tells of no snapshot has none.
    await lake.commit(table)
    await waitFor(() => receiver.received.length === 2, SOON)
    expect(asked).toHaveLength(1)
  })

  it('is left out when the catalog does not answer, which is asked again after a minute', async () => {
    const table = await lake.table()
    await lake.hook(receiver.url, [table])
    let askedCount = 0
    running = await lake.start({
      context: {
        catalogFetch() {
          askedCount += 1
          return Promise.reject(new Error('away'))
        },
      },
    })
    await lake.commit(table, 1, payload)
    const { json } = await waitFor(() => receiver.received[0], SOON)
    expect(json['data']).not.toHaveProperty('data.changes')
    await lake.commit(table, 1, payload)
    await waitFor(() => receiver.received.length === 2, SOON)
    expect(askedCount).toBe(1)
    lake.clock.advance(60_000)
    await lake.commit(table, 1, payload)
    await waitFor(() => receiver.received.length === 3, SOON)
    expect(askedCount).toBe(2)
  })
})
