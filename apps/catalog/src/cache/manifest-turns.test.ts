import { expect, it } from 'vitest'
import { ManifestTurns } from './manifest-turns.ts'

function open(bytesMax: number, countMax = 10) {
  const turns = new ManifestTurns({ bytesMax, countMax })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const read = (name: string, fileBytes: number): Promise<void> =>
    turns.run(fileBytes, () => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    })
  return { turns, begun, read, end: (name: string) => ends.get(name)?.() }
}

it('lets reads run while their files fit, first come, first served', async () => {
  const { turns, begun, read, end } = open(10)
  const reads = [read('a', 6), read('b', 4), read('c', 5), read('d', 1)]
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b'])
  end('b')
  await reads[1]
  // The small one does not overtake.
  expect(begun).toEqual(['a', 'b'])
  end('a')
  await reads[0]
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
  end('c')
  end('d')
  await Promise.all(reads)
  expect(turns.usedBytes).toBe(0)
})

it('reads alone what is larger than all may be', async () => {
  const { begun, read, end } = open(10)
  const large = read('large', 1_000)
  const small = read('small', 1)
  await Promise.resolve()
  expect(begun).toEqual(['large'])
  end('large')
  await large
  expect(begun).toEqual(['large', 'small'])
  end('small')
  await small
})

it('bounds how many run, and goes on after a failure', async () => {
  const { turns, begun, read, end } = open(10, 1)
  const failed = turns.run(1, () => Promise.reject(new Error('no')))
  const after = read('after', 0)
  await expect(failed).rejects.toThrow('no')
  expect(begun).toEqual(['after'])
  end('after')
  await after
})
