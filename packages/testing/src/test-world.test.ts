import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LocationError } from '@timelake/storage/object-store'
import { describe, expect, it } from 'vitest'
import { manualClock } from './manual-clock.ts'
import { openTestStore } from './open-test-store.ts'
import { seededIds } from './seeded-ids.ts'
import { waitFor } from './wait-for.ts'

describe('what tests are given', () => {
  it('is a clock that moves forward only when it is told to', () => {
    const clock = manualClock(1000)
    expect(clock.nowMs()).toBe(1000)
    clock.advance(5)
    expect(clock.nowMs()).toBe(1005)
    expect(() => clock.advance(-1)).toThrow(RangeError)
  })

  it('is the same UUIDs for the same seed', () => {
    const [first, again, other] = [seededIds('a'), seededIds('a'), seededIds('b')]
    const ids = Array.from({ length: 100 }, first)
    expect(Array.from({ length: 100 }, again)).toEqual(ids)
    expect(new Set([...ids, other()]).size).toBe(101)
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/
    for (const id of ids) expect(id).toMatch(uuid)
  })

  it('is a store on a directory of its own, gone afterwards', async () => {
    const { store, directory, location, remove } = await openTestStore()
    await store.putIfAbsent(`${location}/a`, new Uint8Array(3))
    expect(existsSync(join(directory, 'a'))).toBe(true)
    await expect(store.stat('file:///etc/passwd')).rejects.toThrow(LocationError)
    await writeFile(join(directory, 'b'), '')
    await remove()
    expect(existsSync(directory)).toBe(false)
  })

  it('waits for a level and gives its value', async () => {
    let calls = 0
    expect(await waitFor(() => (++calls >= 3 ? 'ready' : undefined), { timeoutMs: 5000 })).toBe(
      'ready',
    )
  })

  it('gives up after the time, with the last error as the cause', async () => {
    const failing = waitFor(
      () => {
        throw new Error('not yet')
      },
      { timeoutMs: 1 },
    )
    const error = await failing.catch((caught: unknown) => caught)
    expect(String(error)).toContain('waited 1 ms in vain')
    expect(error).toMatchObject({ cause: { message: 'not yet' } })
  })
})
