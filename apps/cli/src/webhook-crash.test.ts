import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@timelake/testing/wait-for'
import { readSettings } from '@timelake/timelake/contract/settings'
import { openTestReceiver, type TestReceiver } from '@timelake/worker/webhooks/open-test-receiver'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { serve } from './serve.ts'

// Two servers are started, one of them as a process.
vi.setConfig({ testTimeout: 120_000 })

const PROGRAM = `
const { main } = await import(${JSON.stringify(new URL('main.ts', import.meta.url).href)})
await main(['serve'])
`
const TABLE = '/v1/main/namespaces/ns/tables/t'
const SOON = { timeoutMs: 30_000 }

let directory: string
let receiver: TestReceiver
let child: ChildProcess | undefined
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'timelake-webhook-crash-'))
  receiver = await openTestReceiver()
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await receiver.close()
  rmSync(directory, { recursive: true, force: true })
})

const environment = (more: Record<string, string> = {}) => ({
  TIMELAKE_DATA_DIR: directory,
  TIMELAKE_PORT: '0',
  TIMELAKE_LOG_LEVEL: 'error',
  TIMELAKE_MAINTENANCE: 'off',
  TIMELAKE_SECRET_KEY: Buffer.alloc(32, 3).toString('base64'),
  TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.0/8',
  ...more,
})

/** A server in a process of its own that dies between the first sends and their being written down. */
async function startDoomed() {
  const loader = createRequire(fileURLToPath(import.meta.url)).resolve('tsx')
  const env = {
    ...process.env,
    ...environment({ TIMELAKE_FAULT_POINT: 'webhooks.sent', TIMELAKE_FAULT_HIT: '1' }),
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

const post = async (url: string, path: string, body: unknown): Promise<void> => {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  expect(response.ok, await response.text()).toBe(true)
}
const commit = (url: string, value: string) =>
  post(url, TABLE, { updates: [{ action: 'set-properties', updates: { value } }] })

it('killed after it sent events and before it wrote that down, the server sends them again and the rest in order', async () => {
  const { url, died } = await startDoomed()
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }
  await post(url, '/v1/main/namespaces', { namespace: ['ns'] })
  await post(url, '/v1/main/namespaces/ns/tables', { name: 't', schema })
  const filter = { tables: [{ namespace: ['ns'], name: 't' }], kinds: ['table-committed'] }
  // They are there before the webhook is, so that the first pass finds all of them.
  for (const value of ['a', 'b', 'c']) await commit(url, value)
  await post(url, '/admin/v1/webhooks', {
    name: 'plant',
    url: receiver.url,
    filter,
    after: 'start',
  })
  expect(await died).toBe('SIGKILL')
  const sentBefore = receiver.received.map(({ number }) => number)
  expect(sentBefore).toEqual([2, 3, 4])

  const server = await serve(readSettings(environment()))
  try {
    await commit(server.url, 'd')
    await waitFor(() => receiver.received.some(({ number }) => number === 5), SOON)
    const numbers = receiver.received.map(({ number }) => number)
    expect(numbers).toEqual([2, 3, 4, 2, 3, 4, 5])
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(4)
  } finally {
    await server.stop()
  }
})
