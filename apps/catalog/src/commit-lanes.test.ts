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
