import type { DeleteFileIndex } from '@timelake/iceberg/scan/delete-file-index'
import { expect, it } from 'vitest'
import { DeleteIndexes, INDEXED_DELETES_MAX } from './delete-indexes.ts'

function indexOf(deleteFileCount: number) {
  const index: DeleteFileIndex = {
    isEmpty: deleteFileCount === 0,
    equalityFieldIds: [],
    deletesFor: () => [],
  }
  return { index, deleteFileCount }
}

it('builds an index once, also for callers at the same time', async () => {
  const indexes = new DeleteIndexes()
  let builtCount = 0
  const build = async () => {
    builtCount += 1
    return indexOf(3)
  }
  const [one, two] = await Promise.all([indexes.get('a', build), indexes.get('a', build)])
  expect(one).toBe(two)
  expect(await indexes.get('a', build)).toBe(one)
  expect(builtCount).toBe(1)
  expect(await indexes.get('b', build)).not.toBe(one)
})

it('lets the oldest go when there are more delete files than it may keep, and keeps none that is larger', async () => {
  const indexes = new DeleteIndexes()
  const first = await indexes.get('a', async () => indexOf(INDEXED_DELETES_MAX / 2 + 1))
  await indexes.get('b', async () => indexOf(INDEXED_DELETES_MAX / 2))
  expect(await indexes.get('a', async () => indexOf(1))).not.toBe(first)
  const large = await indexes.get('c', async () => indexOf(INDEXED_DELETES_MAX + 1))
  expect(await indexes.get('c', async () => indexOf(1))).not.toBe(large)
})

it('tries again after a failure', async () => {
  const indexes = new DeleteIndexes()
  const failing = indexes.get('a', () => Promise.reject(new Error('store')))
  await expect(failing).rejects.toThrow('store')
  expect((await indexes.get('a', async () => indexOf(1))).isEmpty).toBe(false)
})
