import { expect, it } from 'vitest'
import { CommitQueueFullError, NotAppliedError } from './catalog/catalog-errors.ts'
import { CommitLanes } from './commit-lanes.ts'

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

it('runs the tasks of one lane in their order, one at a time', async () => {
  const lanes = new CommitLanes({ depthMax: 10 })
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
  const lanes = new CommitLanes({ depthMax: 10 })
  const first = gate()
  const slow = lanes.run('t', () => first.opened)
  expect(await lanes.run('u', async () => 'done')).toBe('done')
  first.open()
  await slow
})

it('goes on after a failure', async () => {
  const lanes = new CommitLanes({ depthMax: 10 })
  const failed = lanes.run('t', () => Promise.reject(new Error('no')))
  const next = lanes.run('t', async () => 'done')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})

it('refuses tasks beyond its depth and takes them again later', async () => {
  const lanes = new CommitLanes({ depthMax: 2 })
  const first = gate()
  const running = [lanes.run('t', () => first.opened), lanes.run('t', () => first.opened)]
  await expect(lanes.run('t', async () => 1)).rejects.toThrow(CommitQueueFullError)
  expect(lanes.depth).toBe(2)
  first.open()
  await Promise.all(running)
  expect(await lanes.run('t', async () => 1)).toBe(1)
})

it('runs a task of several lanes alone in each of them, in the order in which it came', async () => {
  const lanes = new CommitLanes({ depthMax: 10 })
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
  const lanes = new CommitLanes({ depthMax: 1_000 })
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
  const lanes = new CommitLanes({ depthMax: 1 })
  const first = gate()
  const running = lanes.run('t', () => first.opened)
  await expect(lanes.runAcross(['u', 't'], async () => 1)).rejects.toThrow(CommitQueueFullError)
  expect(lanes.depth).toBe(1)
  expect(await lanes.run('u', async () => 'free')).toBe('free')
  first.open()
  await running
})

it('drains: finishes what was accepted and refuses what comes', async () => {
  const lanes = new CommitLanes({ depthMax: 10 })
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
