import { manualClock } from '@timelake/testing/manual-clock'
import { expect, it } from 'vitest'
import { AgingReads } from './aging-reads.ts'

const clock = manualClock()

/** Reads that count, each ended by hand. */
function openReads() {
  const reads = new AgingReads({ maxAgeMs: 1_000, entriesMax: 10, nowMs: clock.nowMs })
  const ends: ((error?: Error) => void)[] = []
  const find = async (key: string) =>
    reads.find(key, () => {
      const count = ends.length + 1
      return new Promise<number>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve(count) : reject(error)))
      })
    })
  const end = (index: number, error?: Error) => ends[index]?.(error)
  return { reads, find, end, count: () => ends.length }
}

it('reads a key once for all that ask at the same time, and again when it is too old', async () => {
  const { reads, find, end, count } = openReads()
  const asked = [find('a'), find('a'), find('a')]
  expect(count()).toBe(1)
  expect(reads.remembers('a')).toBe(false)
  // The age counts from when it was asked for: the answer may be that old.
  clock.advance(400)
  end(0)
  expect(await Promise.all(asked)).toEqual([1, 1, 1])
  clock.advance(600)
  expect(await find('a')).toBe(1)
  expect(reads.remembers('a')).toBe(true)
  clock.advance(1)
  expect(reads.remembers('a')).toBe(false)
  const again = find('a')
  end(1)
  expect(await again).toBe(2)
})

it('keeps keys apart', async () => {
  const { find, end } = openReads()
  const [a, b] = [find('a'), find('b')]
  end(1)
  end(0)
  expect(await Promise.all([a, b])).toEqual([1, 2])
})

it('remembers no failure, which all that asked share', async () => {
  const { find, end } = openReads()
  const asked = Promise.allSettled([find('a'), find('a')])
  end(0, new Error('away'))
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const again = find('a')
  end(1)
  expect(await again).toBe(2)
})

it('forgets what is known and what is being read: it may be from before', async () => {
  const { reads, find, end } = openReads()
  const known = find('known')
  end(0)
  await known
  const before = find('a')
  reads.forget()
  expect(reads.remembers('known')).toBe(false)
  // Who asks now does not join the read from before, and is not told its answer afterwards.
  const after = find('a')
  end(2)
  end(1)
  expect(await Promise.all([before, after])).toEqual([2, 3])
  expect(await find('a')).toBe(3)
})
