import type { SecretBox } from '@timelake/storage/secret-box'
import { noSecretBox, openSecretBox } from '@timelake/storage/secret-box'
import type { Database } from '@timelake/database/sql-session'
import { manualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { seededIds } from '@timelake/testing/seeded-ids'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { noFaults } from '@timelake/timelake/contract/fault-points'
import { sameStoreForAll } from '@timelake/storage/warehouse-stores'
import { openTestStore } from '@timelake/testing/open-test-store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { delay } from '../delay.ts'
import type { CatalogContext } from '../context.ts'
import { ServerKeys } from './server-keys.ts'

const boxOf = (byte: number, previous?: number): SecretBox => {
  const key = (value: number) => Buffer.alloc(32, value).toString('base64')
  const previousKey = previous === undefined ? {} : { previousKey: key(previous) }
  return openSecretBox({ key: key(byte), ...previousKey })
}

let database: Database
let files: Awaited<ReturnType<typeof openTestStore>>
const clock = manualClock()
const newUuid = seededIds('keys')
const context = (secretBox: SecretBox): CatalogContext => ({
  ...{ database, secretBox, newUuid, delay },
  nowMs: clock.nowMs,
  stores: sameStoreForAll(files.store),
  log: pino({ level: 'silent' }),
  registry: new Registry(),
  reachFaultPoint: noFaults,
})

beforeAll(async () => {
  database = await openTestDatabase()
  files = await openTestStore()
})

afterAll(async () => {
  await database.close()
  await files.remove()
})

it('are the same for every process of the database, sealed there', async () => {
  const first = await new ServerKeys(context(boxOf(1)), 'shared').current()
  expect(await new ServerKeys(context(boxOf(1)), 'shared').current()).toEqual(first)
  expect(await new ServerKeys(context(boxOf(2, 1)), 'shared').byId(first.id)).toEqual(first)
  expect(await new ServerKeys(context(boxOf(1)), 'other').byId(first.id)).toBeUndefined()
  const rows = await database.query<{ key_text: string }>('select key_text from server_key')
  const bytes = Buffer.from(first.bytes).toString('base64url')
  for (const { key_text: text } of rows) {
    expect(text).not.toContain(bytes)
    expect(text).toMatch(/^v1\./)
  }
})

it('are made anew where the ones that are there do not open, and found by processes that run', async () => {
  const old = new ServerKeys(context(boxOf(3)), 'lost')
  const lost = await old.current()
  const young = new ServerKeys(context(boxOf(4)), 'lost')
  clock.advance(1)
  const made = await young.current()
  expect(made.id).not.toBe(lost.id)
  expect(await young.byId(lost.id)).toBeUndefined()
  const running = new ServerKeys(context(boxOf(4)), 'lost')
  expect((await running.current()).id).toBe(made.id)
})

it('are looked for again at most once a second', async () => {
  const running = new ServerKeys(context(boxOf(5)), 'late')
  await running.current()
  const other = new ServerKeys(context(noSecretBox()), 'late')
  clock.advance(10)
  const plain = await other.current()
  expect(await running.byId(plain.id)).toBeUndefined()
  clock.advance(1_000)
  expect(await running.byId(plain.id)).toEqual(plain)
})
