import { waitFor } from '@timelake/testing/wait-for'
import { describe, expect, it } from 'vitest'
import { CommitQueueFullError, NotAppliedError } from './catalog/catalog-errors.ts'
import { CommitLanes, GROUP_MEMBERS_MAX, type OrderingClass } from './commit-lanes.ts'

interface Named {
  readonly name: string
  readonly orderingClass: OrderingClass
}

/** Lanes whose pauses end when the test says so. */
function lanesOf(options: {
  depthMax: number
  land?: (members: readonly Named[]) => Promise<void>
  delay?: () => Promise<void>
}) {
  let nowMs = 0
  return new CommitLanes<Named>({
    land: async () => {},
    untilReady: () => undefined,
    delay: () => new Promise(() => {}),
    nowMs: () => (nowMs += 100),
    ...options,
  })
}

const member = (name: string, orderingClass: OrderingClass = 'strict'): Named => ({
  name,
  orderingClass,
})

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

it('runs the tasks of one lane in their order, one at a time', async () => {
  const lanes = lanesOf({ depthMax: 10 })
  const order: string[] = []
  const first = gate()
  const tasks = ['a', 'b', 'c'].map((name) =>
    lanes.run('t', async () => {
      order.push(`${name} begins`)
      if (name === 'a') await first.opened
      order.push(`${name} ends`)
    }),
  )
  first.open()
  await Promise.all(tasks)
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('lets other lanes pass', async () => {
  const lanes = lanesOf({ depthMax: 10 })
  const first = gate()
  const slow = lanes.run('t', () => first.opened)
  expect(await lanes.run('u', async () => 'done')).toBe('done')
  first.open()
  await slow
})

it('goes on after a failure', async () => {
  const lanes = lanesOf({ depthMax: 10 })
  const failed = lanes.run('t', () => Promise.reject(new Error('no')))
  const next = lanes.run('t', async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

it('refuses tasks beyond its depth and takes them again later', async () => {
  const lanes = lanesOf({ depthMax: 2 })
  const first = gate()
  const running = [lanes.run('t', () => first.opened), lanes.run('t', () => first.opened)]
  await expect(lanes.run('t', async () => 1)).rejects.toThrow(CommitQueueFullError)
  expect(lanes.depth).toBe(2)
  first.open()
  await Promise.all(running)
  expect(await lanes.run('t', async () => 1)).toBe(1)
})

it('runs a task of several lanes alone in each of them, in the order in which it came', async () => {
  const lanes = lanesOf({ depthMax: 10 })
  const order: string[] = []
  const first = gate()
  const note = (name: string) => async () => void order.push(name)
  const tasks = [
    lanes.run('t', async () => {
      await first.opened
      order.push('t')
    }),
    lanes.runAcross(['t', 'u'], note('t and u')),
    lanes.run('u', note('u')),
    lanes.runAcross(['u', 't', 'u'], note('u and t')),
    lanes.run('v', note('v')),
  ]
  await tasks[4]
  first.open()
  await Promise.all(tasks)
  expect(order).toEqual(['v', 't', 't and u', 'u', 'u and t'])
  expect(lanes.depth).toBe(0)
})

it('ends many tasks that take their lanes in opposite orders', async () => {
  const lanes = lanesOf({ depthMax: 1_000 })
  const busy = new Set<string>()
  const hold = (names: string[]) => async () => {
    expect(names.filter((name) => busy.has(name))).toEqual([])
    for (const name of names) busy.add(name)
    await new Promise((resolve) => setImmediate(resolve))
    for (const name of names) busy.delete(name)
  }
  const names = ['a', 'b', 'c', 'd', 'e']
  const tasks = Array.from({ length: 100 }, (_, i) => {
    const some = names.filter((_, at) => (i >> at) % 2 === 0)
    const mine = i % 2 === 0 ? some : some.reverse()
    return mine.length === 0 ? Promise.resolve() : lanes.runAcross(mine, hold(mine))
  })
  await Promise.all(tasks)
  expect(lanes.depth).toBe(0)
})

it('takes no place for a task that one of its lanes refuses', async () => {
  const lanes = lanesOf({ depthMax: 1 })
  const first = gate()
  const running = lanes.run('t', () => first.opened)
  await expect(lanes.runAcross(['u', 't'], async () => 1)).rejects.toThrow(CommitQueueFullError)
  expect(lanes.depth).toBe(1)
  expect(await lanes.run('u', async () => 'free')).toBe('free')
  first.open()
  await running
})

it('drains: finishes what was accepted and refuses what comes', async () => {
  const lanes = lanesOf({ depthMax: 10 })
  const first = gate()
  let isDone = false
  const running = lanes.run('t', async () => {
    await first.opened
    isDone = true
  })
  const drained = lanes.drain()
  await expect(lanes.run('t', async () => 1)).rejects.toThrow(NotAppliedError)
  first.open()
  await drained
  expect(isDone).toBe(true)
  expect(lanes.depth).toBe(0)
  await running
})

describe('members', () => {
  /** Lanes that note who lands together; the first group waits for the gate. */
  function noting(depthMax = 1_000) {
    const groups: string[][] = []
    const first = gate()
    const lanes = lanesOf({
      depthMax,
      async land(members) {
        groups.push(members.map(({ name }) => name))
        if (groups.length === 1) await first.opened
      },
    })
    const ended = async (): Promise<void> => {
      first.open()
      await lanes.drain()
    }
    return { lanes, groups, ended }
  }

  it('land together with all who wait by then', async () => {
    const { lanes, groups, ended } = noting()
    lanes.join('t', member('a'))
    await Promise.resolve()
    for (const name of ['b', 'c', 'd']) lanes.join('t', member(name))
    expect(lanes.depth).toBe(4)
    await ended()
    expect(groups).toEqual([['a'], ['b', 'c', 'd']])
    expect(lanes.depth).toBe(0)
  })

  it('neither overtake a task that came before nor are overtaken by one that came after', async () => {
    const { lanes, groups, ended } = noting()
    lanes.join('t', member('a'))
    const task = lanes.runAcross(['t', 'u'], async () => void groups.push(['task']))
    lanes.join('t', member('b'))
    lanes.join('t', member('c'))
    await ended()
    await task
    expect(groups).toEqual([['a'], ['task'], ['b', 'c']])
  })

  it('come in groups of a bounded size', async () => {
    const { lanes, groups, ended } = noting()
    lanes.join('t', member('a'))
    await Promise.resolve()
    for (let i = 0; i <= GROUP_MEMBERS_MAX; i += 1) lanes.join('t', member(`m${i}`))
    await ended()
    expect(groups.map(({ length }) => length)).toEqual([1, GROUP_MEMBERS_MAX, 1])
  })

  it('count in the depth until they have landed', async () => {
    const { lanes, ended } = noting(2)
    lanes.join('t', member('a'))
    await Promise.resolve()
    lanes.join('t', member('b'))
    expect(() => lanes.join('t', member('c'))).toThrow(CommitQueueFullError)
    expect(lanes.expectedWaitMs('t')).toBe(0)
    const room = lanes.room('t')
    const drained = ended()
    await room
    await drained
    expect(lanes.hasRoom('t')).toBe(true)
  })

  it('of class append wait while these are paused, and the others pass', async () => {
    const { lanes, groups, ended } = noting()
    lanes.join('t', member('a', 'append'))
    await Promise.resolve()
    void lanes.pauseAppends('t', 1_000)
    lanes.join('t', member('b', 'append'))
    lanes.join('t', member('c'))
    lanes.join('t', member('d', 'rewrite'))
    const drained = ended()
    await drained
    expect(groups).toEqual([['a'], ['c', 'd'], ['b']])
  })

  it('go on when the pause has ended', async () => {
    const groups: string[][] = []
    const paused = gate()
    const lanes = lanesOf({
      depthMax: 10,
      delay: () => paused.opened,
      async land(members) {
        groups.push(members.map(({ name }) => name))
      },
    })
    const hold = gate()
    const task = lanes.run('t', () => hold.opened)
    void lanes.pauseAppends('t', 1_000)
    lanes.join('t', member('a', 'append'))
    lanes.join('t', member('b'))
    hold.open()
    await task
    await waitFor(() => groups.length === 1, { timeoutMs: 10_000 })
    lanes.join('t', member('c'))
    await waitFor(() => groups.length === 2, { timeoutMs: 10_000 })
    expect(groups).toEqual([['b'], ['c']])
    paused.open()
    await lanes.drain()
    expect(groups).toEqual([['b'], ['c'], ['a']])
  })
})
