import { expect, it } from 'vitest'
import { exactPointers, readThroughPointers, type Pointer } from './pointer-cache.ts'

interface Row extends Pointer {
  readonly version: number
}

const T = { levels: ['a'], name: 't' }
const row = (version: number): Row => ({ ...T, warehouseId: 'w', version })

/** A database whose answers come when the test says so. */
function slowDatabase() {
  const asked: ((row: Row | undefined) => void)[] = []
  const find = () => new Promise<Row | undefined>((resolve) => asked.push(resolve))
  return { find, asked, answer: (at: number, value: Row | undefined) => asked[at]?.(value) }
}

it('asks once and remembers rows and absent names', async () => {
  const database = slowDatabase()
  const pointers = exactPointers(database.find, { entriesMax: 10 })
  const found = pointers.find('w', T)
  database.answer(0, undefined)
  expect(await found).toBeUndefined()
  expect(await pointers.find('w', T)).toBeUndefined()
  expect(database.asked).toHaveLength(1)
})

it('lets look-ups of one name share a question', async () => {
  const database = slowDatabase()
  const pointers = exactPointers(database.find, { entriesMax: 10 })
  const found = [pointers.find('w', T), pointers.find('w', T)]
  database.answer(0, row(1))
  expect([await found[0], await found[1]]).toEqual([row(1), row(1)])
  expect(database.asked).toHaveLength(1)
})

it('never keeps an answer that was asked for before a change', async () => {
  const database = slowDatabase()
  const pointers = exactPointers(database.find, { entriesMax: 10 })
  const early = pointers.find('w', T)
  pointers.forget('w', T)
  const late = pointers.find('w', T)
  database.answer(1, row(2))
  database.answer(0, row(1))
  expect(await early).toEqual(row(1))
  expect(await late).toEqual(row(2))
  expect(await pointers.find('w', T)).toEqual(row(2))
})

it('prefers what a mutation left behind to a late answer', async () => {
  const database = slowDatabase()
  const pointers = exactPointers(database.find, { entriesMax: 10 })
  const early = pointers.find('w', T)
  pointers.remember(row(2))
  database.answer(0, row(1))
  await early
  expect(await pointers.find('w', T)).toEqual(row(2))
})

it('does not remember failures', async () => {
  let isBroken = true
  const pointers = exactPointers<Row>(
    async () => {
      if (isBroken) throw new Error('down')
      return row(1)
    },
    { entriesMax: 10 },
  )
  await expect(pointers.find('w', T)).rejects.toThrow('down')
  isBroken = false
  expect(await pointers.find('w', T)).toEqual(row(1))
})

it('asks every time when others change the database too', async () => {
  let version = 0
  const pointers = readThroughPointers(async () => row((version += 1)))
  expect(await pointers.find('w', T)).toEqual(row(1))
  expect(await pointers.find('w', T)).toEqual(row(2))
})
