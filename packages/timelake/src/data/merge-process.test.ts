import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMergeProcess, MergeEngineError, typeScriptLoader } from './merge-process.ts'

describe('the merge process', () => {
  it('starts with the first statement, answers, and stops', { timeout: 30_000 }, async () => {
    const jobsDirectory = await mkdtemp(join(tmpdir(), 'timelake-merge-'))
    const engine = createMergeProcess({
      jobsDirectory,
      memoryBytesMax: 256_000_000,
      threadCount: 1,
      spillBytesMax: 1_000_000_000,
      idleMsMax: 60_000,
    })
    expect(await engine.query('SELECT 42 AS answer')).toEqual([{ answer: 42 }])
    await engine.stop()
    await rm(jobsDirectory, { recursive: true })
  })

  it('needs no loader where Node strips types by itself, as in an image without tsx', () => {
    const missing = () => {
      throw new Error('not installed')
    }
    expect(typeScriptLoader(true, missing)).toEqual([])
    expect(typeScriptLoader(false, () => '/modules/tsx.mjs')).toEqual([
      '--import',
      'file:///modules/tsx.mjs',
    ])
    expect(() => typeScriptLoader(false, missing)).toThrow(MergeEngineError)
  })
})
