import { expect, it } from 'vitest'
import { TooManyPlansError } from './plan-errors.ts'
import { PlanTurns } from './plan-turns.ts'

it('lets in so many at a time, refuses the others before they begin, and forgets those that failed', async () => {
  const turns = new PlanTurns(2)
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const running = [turns.run(() => held), turns.run(() => held)]
  let begun = false
  await expect(turns.run(async () => void (begun = true))).rejects.toThrow(TooManyPlansError)
  expect(begun).toBe(false)
  release()
  await Promise.all(running)
  await expect(turns.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(turns.count).toBe(0)
  expect(await turns.run(async () => 'in')).toBe('in')
})
