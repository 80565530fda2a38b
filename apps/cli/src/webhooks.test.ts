import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHmac, randomBytes } from 'node:crypto'
import { waitFor } from '@timelake/testing/wait-for'
import { readSettings } from '@timelake/timelake/contract/settings'
import { openTestReceiver, type TestReceiver } from '@timelake/worker/webhooks/open-test-receiver'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeCommandContext } from './context.ts'
import { parseCommandLine } from './command-line.ts'
import { EXIT_CODES } from './exit-code.ts'
import { serve, type RunningServer } from './serve.ts'
import { UsageError } from './usage-error.ts'
import { webhooks } from './webhooks.ts'

// A whole server is started, which loads a database.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 })

const SOON = { timeoutMs: 15_000 }

describe('webhooks of a served lake', () => {
  let directory: string
  let receiver: TestReceiver
  let server: RunningServer
  const printed: string[] = []
  // Neither Redis nor maintenance is there: sending needs none.
  const settings = (more: Record<string, string> = {}) =>
    readSettings({
      TIMELAKE_DATA_DIR: directory,
      TIMELAKE_PORT: '0',
      TIMELAKE_LOG_LEVEL: 'error',
      TIMELAKE_MAINTENANCE: 'off',
      TIMELAKE_SECRET_KEY: randomBytes(32).toString('base64'),
      TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.0/8',
      ...more,
    })
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'timelake-webhooks-'))
    receiver = await openTestReceiver()
    server = await serve(settings())
  })
  afterAll(async () => {
    await server.stop()
    await receiver.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const run = async (args: string): Promise<{ exitCode: number; text: string }> => {
    printed.splice(0)
    const command = parseCommandLine(['webhooks', ...args.split(' '), '--uri', server.url])
    if (command.kind !== 'webhooks') throw new Error('another command')
    const context = {
      ...makeCommandContext(settings()),
      print: (text: string) => void printed.push(text),
    }
    return { exitCode: await webhooks(command, context), text: printed.join('\n') }
  }
  const post = async (path: string, body: unknown): Promise<void> => {
    const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })
    expect(response.ok, await response.text()).toBe(true)
  }

  it('send what clients commit, signed with the secret that was shown once', async () => {
    await post('/v1/main/namespaces', { namespace: ['ns'] })
    const created = await run(`create plant ${receiver.url} --namespace ns`)
    expect(created.exitCode).toBe(EXIT_CODES.done)
    const secret = /whsec_\S+/.exec(created.text)?.[0] ?? ''
    expect((await run('show plant')).text).not.toContain('whsec_')
    expect(await run('test plant')).toEqual({ exitCode: 0, text: 'the receiver took it' })

    const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] }
    await post('/v1/main/namespaces/ns/tables', { name: 't', schema })
    await post('/v1/main/namespaces/ns/tables/t', {
      updates: [{ action: 'set-properties', updates: { a: 'b' } }],
    })
    await waitFor(() => receiver.received.length === 3, SOON)
    const [, made, committed] = receiver.received
    if (made === undefined || committed === undefined) throw new Error('events are missing')
    expect([made.json['type'], committed.json['type']]).toEqual([
      'timelake.table-created',
      'timelake.table-committed',
    ])
    expect(committed.json).toMatchObject({
      source: '/warehouses/main',
      subject: 'ns.t',
      data: { kind: 'table-committed', namespace: ['ns'], name: 't', 'event-number': 2n },
    })
    const { headers, body } = committed
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const mac = createHmac('sha256', key).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${mac}`)
    expect((await run('list')).text).toBe(
      `plant  active  127.0.0.1:${receiver.port}  0 waiting, 0 dead`,
    )
  })

  it('wait while paused, and are sent again on request', async () => {
    receiver.received.splice(0)
    expect((await run('pause plant')).text).toContain('paused by an operator')
    await post('/v1/main/namespaces/ns/tables/t', {
      updates: [{ action: 'set-properties', updates: { c: 'd' } }],
    })
    expect(receiver.received).toEqual([])
    await run('resume plant')
    const event = await waitFor(() => receiver.received[0], SOON)
    expect((await run(`replay plant --event ${event.id}`)).exitCode).toBe(0)
    await waitFor(() => receiver.received.length === 2, SOON)
    expect(receiver.received.map(({ id }) => id)).toEqual([event.id, event.id])
    expect((await run('dead-letters plant')).text).toBe('no dead letters')
    expect((await run('rotate plant')).text).toContain('whsec_')
    expect((await run('delete plant')).text).toBe('webhook plant is forgotten')
    expect((await run('list')).text).toBe('no webhooks')
  })
})

describe('timelake webhooks', () => {
  const parse = (args: string) => parseCommandLine(['webhooks', ...args.split(' ')])

  it('reads filters as people write them', () => {
    const args =
      'create plant https://receiver.example/ --warehouse main --namespace a.b --table a.t --kind table-committed --after start'
    expect(parse(args)).toMatchObject({
      action: 'create',
      name: 'plant',
      body: {
        name: 'plant',
        url: 'https://receiver.example/',
        after: 'start',
        filter: {
          warehouses: ['main'],
          namespaces: [['a', 'b']],
          tables: [{ namespace: ['a'], name: 't' }],
          kinds: ['table-committed'],
        },
      },
    })
  })

  it.each([
    '',
    'show',
    'create x',
    'show x y',
    'list x',
    'replay x',
    'replay x --after 1 --event 2',
    'create x https://y --table t',
  ])('refuses %j', (args) => expect(() => parse(args)).toThrow(UsageError))
})
