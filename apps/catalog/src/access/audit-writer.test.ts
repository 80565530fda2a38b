import { DatabaseUnavailableError } from '@timelake/database/database-errors'
import { listAuditEntries, type AuditEntry } from '@timelake/database/audit-log'
import type { Database } from '@timelake/database/sql-session'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BackgroundTasks } from '../background-tasks.ts'
import { AuditWriter } from './audit-writer.ts'

let database: Database
const log = pino({ level: 'silent' })

beforeEach(async () => {
  database = await openTestDatabase()
})

afterEach(() => database.close())

const entry = (action: string): AuditEntry => ({
  ...{ atMs: 1, callerId: 'c', callerName: 'c', callerKind: 'account', action, outcome: 'done' },
  ...{ status: 200, warehouse: undefined, namespace: undefined, object: undefined },
  ...{ detail: undefined, remoteAddress: undefined },
})
const actions = async () => {
  const rows = await listAuditEntries(database, { filter: {}, limit: 9_999 })
  return rows.map(({ action }) => action).reverse()
}
const open = (over: Partial<Database> = {}) => {
  const background = new BackgroundTasks(log)
  let lostCount = 0
  const writer = new AuditWriter({
    context: {
      database: Object.assign(Object.create(database) as Database, over),
      // Time does not matter here, only that others get their turn.
      delay: () => new Promise((resolve) => setImmediate(resolve)),
      log,
    },
    background,
    lost: { inc: (count = 1) => void (lostCount += Number(count)) },
  })
  return { writer, background, lostCount: () => lostCount }
}

it('writes what is recorded in its order, together', async () => {
  let statements = 0
  const query: Database['query'] = (...args) => {
    statements += 1
    return database.query(...args)
  }
  const { writer, background } = open({ query })
  for (const action of ['a', 'b', 'c']) writer.record(entry(action))
  await background.drain()
  writer.record(entry('d'))
  await background.drain()
  expect(await actions()).toEqual(['a', 'b', 'c', 'd'])
  expect(statements).toBe(2)
})

it('goes on when the database is back, and loses nothing', async () => {
  let failures = 2
  const query: Database['query'] = (...args) => {
    if (failures > 0) {
      failures -= 1
      return Promise.reject(new DatabaseUnavailableError('away'))
    }
    return database.query(...args)
  }
  const { writer, background, lostCount } = open({ query })
  for (const action of ['a', 'b']) writer.record(entry(action))
  await background.drain()
  expect(await actions()).toEqual(['a', 'b'])
  expect(lostCount()).toBe(0)
})

it('counts what it loses: beyond the bound, and at the end without a database', async () => {
  const query: Database['query'] = () => Promise.reject(new DatabaseUnavailableError('away'))
  const { writer, background, lostCount } = open({ query })
  for (let count = 0; count < 20_003; count += 1) writer.record(entry('a'))
  expect(lostCount()).toBe(3)
  writer.stop()
  await background.drain()
  expect(lostCount()).toBe(20_003)
})
