import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const SCRIPT = `
const { makeFaultPoint } = await import(${JSON.stringify(new URL('fault-point.ts', import.meta.url).href)})
const reach = makeFaultPoint({ faultPoint: 'commit.swapped', faultHit: 2, faultProofFile: process.argv[1] })
reach('commit.metadata-written')
reach('commit.swapped')
process.stdout.write('once')
reach('commit.swapped')
process.stdout.write('twice')
`

it('kills the process at the chosen hit of the chosen step, and leaves a proof', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'timelake-fault-'))
  const proofFile = join(directory, 'proof')
  const loader = createRequire(fileURLToPath(import.meta.url)).resolve('tsx')
  const args = ['--import', loader, '--input-type=module', '-e', SCRIPT, proofFile]
  const ended = await new Promise<{ signal: unknown; stdout: string }>((resolve) => {
    execFile(process.execPath, args, (error, stdout) => resolve({ signal: error?.signal, stdout }))
  })
  expect(ended).toEqual({ signal: 'SIGKILL', stdout: 'once' })
  expect(readFileSync(proofFile, 'utf8')).toBe('fault point commit.swapped hit 2\n')
  rmSync(directory, { recursive: true })
})
