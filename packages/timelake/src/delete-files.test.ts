import { describe, expect, it } from 'vitest'
import {
  DELETE_BATCH_MAX,
  fileDeleter,
  type DeleteContext,
  type DeletedFile,
} from './delete-files.ts'

const HOME = 'file:///lake/t'
const FOLDERS = { own: [HOME], shared: ['file:///lake/pool'] }

const gone = (location: string): DeletedFile => ({ outcome: 'gone', location })

function contextOf(changes: Partial<DeleteContext> = {}): DeleteContext {
  return {
    deleteFiles: async (locations) => locations.map(gone),
    obstacle: async () => undefined,
    signal: new AbortController().signal,
    ...changes,
  }
}

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${HOME}/data/${index}`)

describe('fileDeleter', () => {
  it('I30 deletes below its own folders and counts the rest by reason', async () => {
    const asked: string[] = []
    const deleteFiles = async (locations: readonly string[]) => {
      asked.push(...locations)
      return locations.map((location): DeletedFile =>
        location.endsWith('/odd') ? { outcome: 'refused', location } : gone(location),
      )
    }
    const deleter = fileDeleter(contextOf({ deleteFiles }), FOLDERS)
    const kept = ['file:///lake/pool/x', 'file:///lake/other/x', HOME, `${HOME}/../u/x`]
    const own = [`${HOME}/a`, `${HOME}/b`, `${HOME}/odd`]
    await deleter.deleteAll('data', [...kept, ...own])
    expect(asked).toEqual(own)
    expect(deleter.counts()).toMatchObject({
      deleted: { data: 2 },
      left: { outside: 3, shared: 1, refused: 1 },
    })
  })

  it('asks before every batch and stops when something came up', async () => {
    let questionCount = 0
    const obstacle = async () => (++questionCount === 2 ? 'it was restored' : undefined)
    const deleter = fileDeleter(contextOf({ obstacle }), FOLDERS)
    const all = names(2 * DELETE_BATCH_MAX + 1)
    await expect(deleter.deleteAll('data', all)).rejects.toThrow('it was restored')
    expect(deleter.counts().deleted.data).toBe(DELETE_BATCH_MAX)
  })

  it('deletes a bounded number of files at a time', async () => {
    const sizes: number[] = []
    const deleteFiles = async (locations: readonly string[]) => {
      sizes.push(locations.length)
      return locations.map(gone)
    }
    const all = names(2 * DELETE_BATCH_MAX + 1)
    await fileDeleter(contextOf({ deleteFiles }), FOLDERS).deleteAll('data', all)
    expect(sizes).toEqual([DELETE_BATCH_MAX, DELETE_BATCH_MAX, 1])
  })

  it('begins nothing after an abort', async () => {
    const stop = new AbortController()
    const deleteFiles = async (locations: readonly string[]) => {
      stop.abort(new Error('stopped'))
      return locations.map(gone)
    }
    const context = contextOf({ signal: stop.signal, deleteFiles })
    const aborted = fileDeleter(context, FOLDERS)
    const all = names(2 * DELETE_BATCH_MAX)
    await expect(aborted.deleteAll('data', all)).rejects.toThrow('stopped')
    expect(aborted.counts().deleted.data).toBe(DELETE_BATCH_MAX)
  })

  it('begins nothing after a batch that was not deleted whole, and says why', async () => {
    const error = new Error('slow down')
    const deleteFiles = async (locations: readonly string[]) =>
      locations.map((location, index): DeletedFile =>
        index === 1 ? { outcome: 'failed', location, error } : gone(location),
      )
    const failed = fileDeleter(contextOf({ deleteFiles }), FOLDERS)
    const all = names(2 * DELETE_BATCH_MAX)
    await expect(failed.deleteAll('data', all)).rejects.toMatchObject({
      message: `1 of ${DELETE_BATCH_MAX} files were not deleted`,
      cause: error,
    })
    expect(failed.counts().deleted.data).toBe(DELETE_BATCH_MAX - 1)
  })
})
