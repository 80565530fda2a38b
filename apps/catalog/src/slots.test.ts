import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

it('runs no more calls at a time than it has slots, in the order in which they came', async () => {
  const slots = new Slots(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const calls = [0, 1, 2, 3].map((at) =>
    slots.run(() => {
      begun.push(at)
      return new Promise<void>((resolve, reject) => {
        ends.push(at === 0 ? () => reject(new Error('failed')) : resolve)
      })
    }),
  )
  expect(begun).toEqual([0, 1])
  ends[0]?.()
  await expect(calls[0]).rejects.toThrow('failed')
  expect(begun).toEqual([0, 1, 2])
  ends[1]?.()
  ends[2]?.()
  await Promise.all([calls[1], calls[2]])
  expect(begun).toEqual([0, 1, 2, 3])
  ends[3]?.()
  await calls[3]
  expect(await slots.run(() => Promise.resolve('free'))).toBe('free')
})
