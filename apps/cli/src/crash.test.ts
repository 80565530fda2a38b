import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FaultPoint } from '@timelake/timelake/contract/fault-points'
import { readSettings } from '@timelake/timelake/contract/settings'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { serve } from './serve.ts'

// Each test starts two servers, one of them as a process.
vi.setConfig({ testTimeout: 120_000 })

const PROGRAM = `
const { main } = await import(${JSON.stringify(new URL('main.ts', import.meta.url).href)})
await main(['serve'])
`
const TABLE = '/v1/main/namespaces/ns/tables/t'

let directory: string
let child: ChildProcess | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'timelake-crash-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

const environment = (more: Record<string, string> = {}) => ({
  TIMELAKE_DATA_DIR: directory,
  TIMELAKE_PORT: '0',
  TIMELAKE_LOG_LEVEL: 'error',
  TIMELAKE_MAINTENANCE: 'off',
  ...more,
})

/** A server in a process of its own that dies at the step; its address, and what it died of. */
async function startDoomed(faultPoint: FaultPoint) {
  const loader = createRequire(fileURLToPath(import.meta.url)).resolve('tsx')
  const env = {
    ...process.env,
    ...environment({ TIMELAKE_FAULT_POINT: faultPoint, TIMELAKE_FAULT_HIT: '2' }),
  }
  const args = ['--import', loader, '--input-type=module', '-e', PROGRAM]
  const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  child = started
  const died = new Promise<NodeJS.Signals | null>((resolve) => {
    started.on('exit', (_, signal) => resolve(signal))
  })
  const url = new Promise<string>((resolve, reject) => {
    let text = ''
    started.stdout.on('data', (chunk) => {
      text += String(chunk)
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)
      if (found !== null) resolve(found[0])
    })
    void died.then(() => reject(new Error(`the server ended before it listened: ${text}`)))
  })
  return { url: await url, died }
}

const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
const commit = (url: string, value: string) =>
  post(url, TABLE, { updates: [{ action: 'set-properties', updates: { value, [value]: 'set' } }] })

it.each<[FaultPoint, string]>([
  ['commit.requirements-checked', 'first'],
  ['commit.metadata-written', 'first'],
  ['commit.swapped', 'second'],
])(
  'I1, I27 killed at %s, the server starts again by itself and the table is as of the %s commit',
  async (faultPoint, last) => {
    const { url, died } = await startDoomed(faultPoint)
    await post(url, '/v1/main/namespaces', { namespace: ['ns'] })
    const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }
    await post(url, '/v1/main/namespaces/ns/tables', { name: 't', schema })
    expect((await commit(url, 'first')).status).toBe(200)
    await expect(commit(url, 'second')).rejects.toThrow()
    expect(await died).toBe('SIGKILL')

    const server = await serve(readSettings(environment()))
    try {
      const loaded = await fetch(server.url + TABLE)
      const { metadata } = (await loaded.json()) as { metadata: { properties: object } }
      const expected = last === 'first' ? { first: 'set' } : { first: 'set', second: 'set' }
      expect(metadata.properties).toMatchObject({ value: last, ...expected })
      expect('second' in metadata.properties).toBe(last === 'second')
      expect((await commit(server.url, 'third')).status).toBe(200)
    } finally {
      await server.stop()
    }
  },
)
