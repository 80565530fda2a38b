import { expect, it } from 'vitest'
import { PAUSE_MS_MAX, PauseBudget } from './pause-budget.ts'

it('lets appends wait for a fifth of the time, and never longer than a second at once', () => {
  const budget = new PauseBudget(0)
  expect(budget.take(5_000, 0)).toBe(PAUSE_MS_MAX)
  expect(budget.take(100, 0)).toBe(0)
  expect(budget.take(1_000, 1_000)).toBe(200)
  let takenMs = 0
  for (let nowMs = 1_000; nowMs <= 101_000; nowMs += 50) takenMs += budget.take(1_000, nowMs)
  expect(takenMs).toBeLessThanOrEqual(20_000)
  expect(takenMs).toBeGreaterThan(19_000)
})

it('gets back what was not used', () => {
  const budget = new PauseBudget(0)
  const takenMs = budget.take(1_000, 0)
  budget.giveBack(takenMs - 50)
  expect(budget.take(1_000, 0)).toBe(950)
  expect(budget.isFull(0)).toBe(false)
  expect(budget.isFull(5_000)).toBe(true)
})
