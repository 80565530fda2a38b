import { createAccount, updateAccount } from '@timelake/database/accounts'
import { putGrant } from '@timelake/database/grants'
import type { Database, SqlSession } from '@timelake/database/sql-session'
import { manualClock } from '@timelake/testing/manual-clock'
import { openTestDatabase } from '@timelake/testing/open-test-database'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AccessDirectory } from './access-directory.ts'

let database: Database
let queryCount = 0
const clock = manualClock()
const counting = (): Database => ({
  ...database,
  query<Row>(...args: Parameters<SqlSession['query']>) {
    queryCount += 1
    return database.query<Row>(...args)
  },
  runScript: (text) => database.runScript(text),
  transaction: (run) => database.transaction(run),
  close: () => database.close(),
})
const open = () =>
  new AccessDirectory({ database: counting(), nowMs: clock.nowMs }, { maxAgeMs: 1_000 })

beforeAll(async () => {
  database = await openTestDatabase()
  const account = { name: 'a', kind: 'service', issuer: undefined, subject: undefined } as const
  const more = { description: '', secret: undefined, nowMs: 0, countMax: 9 }
  await createAccount(database, { id: 'a', ...account, ...more })
  const outside = { kind: 'group', issuer: 'https://idp', subject: 'team' } as const
  await createAccount(database, { id: 'g', name: 'g', ...outside, ...more })
  const grant = { warehouseId: undefined, levels: [], role: 'writer', nowMs: 0 } as const
  await putGrant(database, { id: 'x', accountId: 'g', ...grant, countMax: 9 })
})

afterAll(() => database.close())

it('reads an account once for all that ask at the same time, and then once in its time', async () => {
  const directory = open()
  queryCount = 0
  const found = await Promise.all([1, 2, 3].map(async () => directory.service('a')))
  expect(new Set(found.map((known) => known?.caller)).size).toBe(1)
  clock.advance(1_000)
  expect(directory.service('a')).not.toBeInstanceOf(Promise)
  expect(queryCount).toBe(1)
  await updateAccount(database, {
    ...{ id: 'a', expectedVersion: 0n, description: '', disabledAtMs: 5, nowMs: 5 },
  })
  clock.advance(1)
  expect((await directory.service('a'))?.access.account.disabledAtMs).toBe(5)
  expect(queryCount).toBe(2)
})

it('forgets what was told to it, also what is being read', async () => {
  const directory = open()
  const reading = directory.service('a')
  directory.forget()
  await reading
  expect(directory.service('a')).toBeInstanceOf(Promise)
})

it('knows an identity by its groups, under an id that stays', async () => {
  const directory = open()
  const identity = { issuer: 'https://idp', subject: 'ann', groups: ['team'] }
  const { caller } = await directory.identity(identity, 'Ann')
  expect(caller).toMatchObject({ name: 'Ann', kind: 'federated' })
  expect(caller?.grants.roleAt('any')).toBe('writer')
  const { caller: alone } = await directory.identity({ ...identity, groups: [] }, 'Ann')
  expect(alone?.id).toBe(caller?.id)
  expect(alone?.grants.roleAt('any')).toBeUndefined()
  const { caller: other } = await directory.identity({ ...identity, issuer: 'https://x' }, 'Ann')
  expect(other?.id).not.toBe(caller?.id)
  expect(other?.grants.roleAt('any')).toBeUndefined()
})
