import { readTurn } from '@timelake/database/commit-turns'
import { waitFor } from '@timelake/testing/wait-for'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'
import { CommitTurns } from './commit-turns.ts'

const WAIT = { timeoutMs: 10_000 }
/** Longer than any turn of a process that does nothing else. */
const TURN_MS = 250
const LONG_MS = 60_000
const MANY_WAIT = { hadExpected: false, memberCount: 2, waitingCount: 2 }
const FEW_WAIT = { ...MANY_WAIT, waitingCount: 0 }
const EXPECTED = { ...FEW_WAIT, hadExpected: true }

let catalog: TestCatalog
let tableId: string
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

/** A process whose clock and timers go on when the test says so. */
function openProcess(processId: string) {
  let nowMs = 0
  let timers: (() => void)[] = []
  const tasks: Promise<void>[] = []
  const world = { isBusy: true }
  const turns = new CommitTurns({
    database: catalog.database,
    processId,
    nowMs: () => nowMs,
    delay: () => new Promise((resolve) => void timers.push(resolve)),
    isBusy: () => world.isBusy,
    background: { start: (_, task) => void tasks.push(task()) },
  })
  return {
    turns,
    world,
    pass: (ms: number) => void (nowMs += ms),
    fireTimers() {
      const due = timers
      timers = []
      for (const fire of due) fire()
    },
    ended: () => Promise.all(tasks),
  }
}

let p: ReturnType<typeof openProcess>
let q: ReturnType<typeof openProcess>
let names = 0
beforeEach(async () => {
  names += 1
  const name = `t${names}`
  await makeTable(catalog, { levels: ['ns'], name })
  const { json } = await catalog.call('GET', '/admin/v1/tables')
  // `as`: what the route answers.
  const { tables } = json as { tables: { id: string; name: string }[] }
  tableId = tables.find((table) => table.name === name)?.id ?? ''
  p = openProcess('p')
  q = openProcess('q')
})
afterEach(async () => {
  for (const { turns, ended, fireTimers } of [p, q]) {
    turns.stop()
    fireTimers()
    await ended()
  }
})

const table = () => ({ id: tableId })
const turn = async () => (await readTurn(catalog.database, tableId))?.turn
/** Fires the timers, and ends when what the database is asked at once by those who waited for them is done. */
const tick = async ({ fireTimers }: typeof p) => {
  fireTimers()
  await turn()
}

it('I33 keeps a turn for several groups, then gives it to whoever asked', async () => {
  await p.turns.take(table())
  const taking = q.turns.take(table())
  for (let group = 0; group < 3; group += 1) await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBe('p')
  p.pass(TURN_MS)
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBe('q')
  q.fireTimers()
  await taking
})

it('I33 gets the place behind the turn when it is free, also if another one had it', async () => {
  const third = openProcess('r')
  const next = async () => (await readTurn(catalog.database, tableId))?.next
  await p.turns.take(table())
  const second = q.turns.take(table())
  await waitFor(async () => (await next()) === 'q', WAIT)
  const last = third.turns.take(table())
  for (let look = 0; look < 3; look += 1) await tick(third)
  expect([await turn(), await next()]).toEqual(['p', 'q'])
  await p.turns.afterGroup(table(), FEW_WAIT)
  await waitFor(async () => {
    third.fireTimers()
    return (await next()) === 'r'
  }, WAIT)
  expect(await turn()).toBe('q')
  q.fireTimers()
  await second
  await q.turns.afterGroup(table(), FEW_WAIT)
  expect([await turn(), await next()]).toEqual(['r', undefined])
  third.fireTimers()
  await last
  third.turns.stop()
  third.fireTimers()
  await third.ended()
})

it('I33 gives a turn away after a group when few others wait', async () => {
  await p.turns.take(table())
  await p.turns.afterGroup(table(), EXPECTED)
  expect(await turn()).toBe('p')
  await p.turns.afterGroup(table(), FEW_WAIT)
  expect(await turn()).toBeUndefined()
})

it('I33 waits for its turn before a group is gathered, once it has met others', async () => {
  await p.turns.beforeGroup(tableId)
  expect(await turn()).toBeUndefined()
  await q.turns.take(table())
  const taking = p.turns.take(table())
  await q.turns.afterGroup(table(), FEW_WAIT)
  await waitFor(async () => {
    p.fireTimers()
    return (await turn()) === 'p'
  }, WAIT)
  p.fireTimers()
  await taking
  await p.turns.afterGroup(table(), FEW_WAIT)
  expect(await turn()).toBeUndefined()
  await q.turns.take(table())
  let isOurs = false
  const waiting = p.turns.beforeGroup(tableId)?.then(() => void (isOurs = true))
  for (let look = 0; look < 3; look += 1) await tick(p)
  expect([await turn(), isOurs]).toEqual(['q', false])
  await q.turns.afterGroup(table(), FEW_WAIT)
  await waitFor(() => {
    p.fireTimers()
    return isOurs
  }, WAIT)
  await waiting
  expect(await turn()).toBe('p')
  await p.turns.afterGroup(table(), FEW_WAIT)
  p.pass(LONG_MS)
  expect(p.turns.beforeGroup(tableId)).toBeUndefined()
})

it('I33 keeps a turn longer where the first group took long, within a bound', async () => {
  await p.turns.take(table())
  p.pass(TURN_MS * 2)
  await p.turns.afterGroup(table(), MANY_WAIT)
  p.pass(TURN_MS)
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBe('p')
  // Less than a few times what the first group took.
  p.pass(TURN_MS * 2)
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBeUndefined()
})

it('I33 keeps a turn that is over for the commit of who loaded in it', async () => {
  await p.turns.take(table())
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await p.turns.expectCommit(table(), LONG_MS)).toBe(false)
  p.pass(TURN_MS)
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBe('p')
  await p.turns.afterGroup(table(), EXPECTED)
  expect(await turn()).toBeUndefined()
})

it('I33 keeps a turn no longer for a commit than it may take to come', async () => {
  await p.turns.take(table())
  await p.turns.afterGroup(table(), MANY_WAIT)
  await p.turns.expectCommit(table(), TURN_MS * 2)
  p.pass(TURN_MS * 2)
  await p.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBeUndefined()
})

it('I33 gives a turn that is over to others before somebody loads in it', async () => {
  await p.turns.take(table())
  const taking = q.turns.take(table())
  p.pass(TURN_MS)
  const expecting = p.turns.expectCommit(table(), LONG_MS)
  await waitFor(async () => (await turn()) === 'q', WAIT)
  q.fireTimers()
  await taking
  q.world.isBusy = false
  q.fireTimers()
  await waitFor(async () => (await turn()) !== 'q', WAIT)
  p.fireTimers()
  expect(await expecting).toBe(true)
  expect(await turn()).toBe('p')
})

it('I33 gives a turn away early when it has nothing to commit', async () => {
  await p.turns.take(table())
  for (let look = 0; look < 3; look += 1) await tick(p)
  expect(await turn()).toBe('p')
  p.world.isBusy = false
  await p.turns.afterGroup(table(), MANY_WAIT)
  await tick(p)
  expect(await turn()).toBe('p')
  await p.turns.expectCommit(table(), TURN_MS)
  for (let look = 0; look < 3; look += 1) await tick(p)
  expect(await turn()).toBe('p')
  p.pass(TURN_MS)
  await waitFor(async () => {
    p.fireTimers()
    return (await turn()) === undefined
  }, WAIT)
})

it('I33 takes the turn of a process that died in it', async () => {
  await q.turns.take(table())
  let isOurs = false
  const taking = p.turns.take(table()).then(() => void (isOurs = true))
  await waitFor(async () => {
    await tick(p)
    return isOurs
  }, WAIT)
  await taking
  expect(await turn()).toBe('p')
})

it('takes note of a turn that it was given after it had stopped waiting', async () => {
  await p.turns.take(table())
  const late = openProcess('p')
  const row = { ...table(), commitTurn: 'p' }
  expect(late.turns.isOfAnother(row)).toBe(false)
  expect(q.turns.isOfAnother(row)).toBe(true)
  await late.turns.afterGroup(table(), MANY_WAIT)
  late.pass(TURN_MS)
  await late.turns.afterGroup(table(), MANY_WAIT)
  expect(await turn()).toBeUndefined()
  late.fireTimers()
  await late.ended()
})

it('gives away what it has when it stops', async () => {
  await p.turns.take(table())
  await p.turns.expectCommit(table(), LONG_MS)
  p.turns.stop()
  p.fireTimers()
  await p.ended()
  expect(await turn()).toBeUndefined()
})
