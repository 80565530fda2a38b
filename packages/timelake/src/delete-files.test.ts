import { describe, expect, it } from 'vitest'
import { DELETE_BATCH_MAX, DELETES_MAX, fileDeleter, type DeleteContext } from './delete-files.ts'

const HOME = 'file:///lake/t'
const FOLDERS = { own: [HOME], shared: ['file:///lake/pool'] }

function contextOf(changes: Partial<DeleteContext> = {}): DeleteContext {
  return {
    deleteFile: async () => 'deleted',
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
    const answers: Record<string, 'absent' | 'refused'> = {
      [`${HOME}/gone`]: 'absent',
      [`${HOME}/odd`]: 'refused',
    }
    const deleteFile = async (location: string) => {
      asked.push(location)
      return answers[location] ?? 'deleted'
    }
    const deleter = fileDeleter(contextOf({ deleteFile }), FOLDERS)
    const kept = ['file:///lake/pool/x', 'file:///lake/other/x', HOME, `${HOME}/../u/x`]
    const own = [`${HOME}/a`, `${HOME}/gone`, `${HOME}/odd`]
    await deleter.deleteAll('data', [...kept, ...own])
    expect(asked.sort()).toEqual(own)
    expect(deleter.counts()).toMatchObject({
      deleted: { data: 1 },
      absent: 1,
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
    let [running, most] = [0, 0]
    const deleteFile = async () => {
      most = Math.max(most, ++running)
      await Promise.resolve()
      running -= 1
      return 'deleted' as const
    }
    await fileDeleter(contextOf({ deleteFile }), FOLDERS).deleteAll('data', names(50))
    expect(most).toBe(DELETES_MAX)
  })

  it('begins nothing after an abort or a failure', async () => {
    const stop = new AbortController()
    const aborting = contextOf({
      signal: stop.signal,
      deleteFile: async () => {
        stop.abort(new Error('stopped'))
        return 'deleted'
      },
    })
    const aborted = fileDeleter(aborting, FOLDERS)
    await expect(aborted.deleteAll('data', names(100))).rejects.toThrow('stopped')
    expect(aborted.counts().deleted.data).toBe(1)
    const failing = contextOf({ deleteFile: () => Promise.reject(new Error('disk')) })
    const failed = fileDeleter(failing, FOLDERS)
    await expect(failed.deleteAll('data', names(100))).rejects.toThrow('disk')
  })
})
