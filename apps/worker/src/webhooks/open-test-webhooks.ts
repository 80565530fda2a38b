import {
  event,
  newId,
  newNamespace,
  newTable,
  newWarehouse,
} from '@timelake/database/contract/contract-world'
import { feedEnd, openFeed } from '@timelake/database/feed'
import type { NamespaceRow } from '@timelake/database/namespaces'
import type { Database } from '@timelake/database/sql-session'
import { swapMetadataLocation } from '@timelake/database/swap-metadata-location'
import type { NewTable } from '@timelake/database/tables'
import { createWebhook, findWebhook, type NewWebhook } from '@timelake/database/webhooks'
import type { WebhookRow } from '@timelake/database/webhook-row'
import { openSecretBox } from '@timelake/storage/secret-box'
import { manualClock, type ManualClock } from '@timelake/testing/manual-clock'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { parseRange } from '@timelake/timelake/contract/webhooks/address-ranges'
import {
  encodeWebhookSecret,
  secretContext,
} from '@timelake/timelake/contract/webhooks/webhook-secret'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { startWebhooks, type RunningWebhooks, type WebhooksContext } from './start-webhooks.ts'
import type { WebhookConfig } from './webhook-config.ts'

export const TEST_KEY = Buffer.alloc(32, 9)
export const TEST_BOX = openSecretBox({ key: Buffer.alloc(32, 7).toString('base64') })

const INTERVAL_MS = 10
const DAY_MS = 86_400_000

export interface TestWebhooks {
  readonly database: Database
  readonly clock: ManualClock
  /** Every log line, as text. */
  readonly log: string[]
  /** Runs a sender until the test ends or stops it. */
  start(options?: {
    readonly config?: Partial<WebhookConfig>
    readonly context?: Partial<WebhooksContext>
  }): Promise<RunningWebhooks>
  /** A webhook of its own that gets the events of these tables. */
  hook(url: string, tables: readonly NewTable[], more?: Partial<NewWebhook>): Promise<WebhookRow>
  row(webhook: WebhookRow): Promise<WebhookRow>
  table(): Promise<NewTable>
  /** Commits to the table, as often as asked; the payload is JSON text. */
  commit(table: NewTable, count?: number, payload?: string): Promise<void>
  close(): Promise<void>
}

/** For tests: tables whose commits are events, and senders of them. */
export async function openTestWebhooks(database: Database): Promise<TestWebhooks> {
  const clock = manualClock()
  const log: string[] = []
  const running: RunningWebhooks[] = []
  const locations = new Map<string, string>()
  await openFeed(database, { id: newId() })
  const namespace: NamespaceRow = await newNamespace(database, await newWarehouse(database))
  let count = 0
  return {
    database,
    clock,
    log,
    async start({ config = {}, context = {} } = {}) {
      const allowed = parseRange('127.0.0.0/8')
      const webhooks = await startWebhooks({
        config: {
          intervalMs: INTERVAL_MS,
          allowedAddresses: allowed === undefined ? [] : [allowed],
          ...config,
        },
        context: {
          database,
          secretBox: TEST_BOX,
          nowMs: clock.nowMs,
          newUuid: newId,
          random: () => 0,
          log: pino({ level: 'debug' }, { write: (line: string) => void log.push(line) }),
          registry: new Registry(),
          reachFaultPoint: noFaults,
          catalogFetch: () => Promise.reject(new Error('no catalog here')),
          ...context,
        },
      })
      running.push(webhooks)
      return webhooks
    },
    async hook(url, tables, more = {}) {
      const id = newId()
      const made = await createWebhook(database, {
        id,
        name: `hook-${id}`,
        url,
        filter: JSON.stringify({ tables: tables.map((table) => ({ id: table.id })) }),
        sealedSecret: TEST_BOX.seal(encodeWebhookSecret(TEST_KEY), secretContext(id)),
        attemptsMax: 3,
        retryForMs: DAY_MS,
        feedCursor: await feedEnd(database),
        pausedReason: undefined,
        nowMs: clock.nowMs(),
        countMax: 1_000,
        ...more,
      })
      if (made.outcome !== 'created') throw new Error(`cannot set up webhook: ${made.outcome}`)
      return made.row
    },
    async row({ name }) {
      const found = await findWebhook(database, name)
      if (found === undefined) throw new Error(`webhook ${name} is gone`)
      return found
    },
    table: () => newTable(database, namespace, `t${++count}`),
    async commit(table, commitCount = 1, payload = '{}') {
      for (let each = 0; each < commitCount; each += 1) {
        const { id: tableId, tableUuid, location, metadataLocation } = table
        const expected = locations.get(tableId) ?? metadataLocation
        const next = `${location}/metadata/${newId()}.metadata.json`
        const swap = { tableId, expected, next, tableUuid, location, nowMs: clock.nowMs() }
        const swapped = await swapMetadataLocation(database, {
          ...swap,
          event: event('table-committed', payload),
        })
        if (swapped !== 'swapped') throw new Error(`cannot commit: ${swapped}`)
        locations.set(tableId, next)
      }
    },
    async close() {
      for (const each of running) await each.stop()
      await database.close()
    },
  }
}
