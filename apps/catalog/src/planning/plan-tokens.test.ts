import { ServerKeys } from '../access/server-keys.ts'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { PlanTokens, type TokenOwner } from './plan-tokens.ts'

const OWNER: TokenOwner = { warehouseId: 'w', tableUuid: 't', callerId: 'c' }
const UUID = '0f0e0d0c-0b0a-4908-8706-050403020100'

let catalog: TestCatalog
let tokens: PlanTokens
let fromElsewhere: PlanTokens
beforeAll(async () => {
  catalog = await openTestCatalog()
  const { database, clock } = catalog
  const context = {
    database,
    nowMs: clock.nowMs,
    newUuid: () => UUID,
    secretBox: { seal: (text: string) => `sealed.${text}`, open: (text: string) => text.slice(7) },
    log: pino({ level: 'silent' }),
  }
  tokens = new PlanTokens(new ServerKeys(context, 'test'), clock.nowMs)
  fromElsewhere = new PlanTokens(new ServerKeys(context, 'test'), clock.nowMs)
})
afterAll(() => catalog.stop())

const later = () => catalog.clock.nowMs() + 1_000
const strangers: TokenOwner[] = [
  { ...OWNER, warehouseId: 'x' },
  { ...OWNER, tableUuid: 'x' },
  { ...OWNER, callerId: 'x' },
  // The same texts one after the other.
  { warehouseId: 'wt', tableUuid: '', callerId: 'c' },
]

it('I51: opens tasks for their warehouse, table and caller alone, in every process', async () => {
  const task = { text: '{"a":1}', expiresAtMs: later() }
  const [token = ''] = await tokens.signTasks(OWNER, { ...task, texts: [task.text] })
  expect(await tokens.openTask(OWNER, token)).toEqual(task)
  expect(await fromElsewhere.openTask(OWNER, token)).toEqual(task)
  for (const stranger of strangers) expect(await tokens.openTask(stranger, token)).toBeUndefined()
  expect(await tokens.openPlanId(OWNER, token)).toBeUndefined()
})

it('signs the same text alike, and other texts otherwise', async () => {
  const expiresAtMs = later()
  const signed = await tokens.signTasks(OWNER, { texts: ['a', 'b', 'a'], expiresAtMs })
  expect(signed[0]).toBe(signed[2])
  expect(signed[0]).not.toBe(signed[1])
})

it('says of a plan what it was signed with, until its time is over', async () => {
  const plan = { uuid: UUID, isKept: true, expiresAtMs: later() }
  const planId = await tokens.signPlanId(OWNER, plan)
  expect(await tokens.openPlanId(OWNER, planId)).toEqual(plan)
  expect(await tokens.openTask(OWNER, planId)).toBeUndefined()
  for (const stranger of strangers) {
    expect(await tokens.openPlanId(stranger, planId)).toBeUndefined()
  }
  catalog.clock.advance(1_000)
  expect(await tokens.openPlanId(OWNER, planId)).toBeUndefined()
})

it('refuses every other spelling of a token', async () => {
  const [token = ''] = await tokens.signTasks(OWNER, { texts: ['{}'], expiresAtMs: later() })
  const padded = Buffer.from(token, 'base64url').toString('base64')
  for (const other of [`${token}=`, ` ${token}`, `${token}\n`, padded === token ? '' : padded]) {
    expect(await tokens.openTask(OWNER, other)).toBeUndefined()
  }
})
