import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@timelake/testing/wait-for'
import { parseRange } from '@timelake/timelake/contract/webhooks/address-ranges'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestReceiver, type TestReceiver } from './open-test-receiver.ts'
import { openPoster, type Poster, type PosterOptions } from './post-event.ts'

const LOOPBACK = ['127.0.0.0/8', '::1'].map(parseRange).filter((range) => range !== undefined)
const BODY = '{"id":"x-1","partitionkey":"x","sequence":"1"}'

let receiver: TestReceiver
beforeAll(async () => {
  receiver = await openTestReceiver()
})
afterAll(() => receiver.close())

const posters: Poster[] = []
afterEach(() => {
  for (const poster of posters.splice(0)) poster.close()
  receiver.received.splice(0)
  receiver.setReply(() => 200)
})

const open = (options: Partial<PosterOptions> = {}): Poster => {
  const poster = openPoster({
    timeoutMs: 5_000,
    allowedAddresses: LOOPBACK,
    resolveHost: () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
    ...options,
  })
  posters.push(poster)
  return poster
}
const post = (poster: Poster, url: string) =>
  poster.post({ url: new URL(url), headers: { 'x-test': '1' }, body: BODY })

describe('posting an event', () => {
  it.each([
    [200, { outcome: 'delivered' }],
    [204, { outcome: 'delivered' }],
    [301, { outcome: 'refused', reason: 'the receiver answered 301' }],
    [400, { outcome: 'refused', reason: 'the receiver answered 400' }],
    [408, { outcome: 'away', reason: 'the receiver answered 408' }],
    [410, { outcome: 'gone', reason: 'the receiver answered 410' }],
    [500, { outcome: 'failed', reason: 'the receiver answered 500' }],
    [503, { outcome: 'away', reason: 'the receiver answered 503' }],
    ['drop', { outcome: 'away', reason: 'no answer: the connection was closed' }],
  ] as const)('takes %s as what it is', async (reply, outcome) => {
    receiver.setReply(() => reply)
    expect(await post(open(), receiver.url)).toEqual(outcome)
  })

  it('follows no redirect', async () => {
    receiver.setReply(({ path }) =>
      path === '/hook' ? { status: 307, headers: { location: '/other' } } : 200,
    )
    expect(await post(open(), receiver.url)).toMatchObject({ outcome: 'refused' })
    expect(receiver.received).toHaveLength(1)
  })

  it('gives a receiver that says nothing up in time', async () => {
    receiver.setReply(() => 'hang')
    const outcome = await post(open({ timeoutMs: 50 }), receiver.url)
    expect(outcome).toEqual({ outcome: 'away', reason: 'no answer within 50 ms' })
  })

  it('gives a resolver that says nothing up in time', async () => {
    const poster = open({ timeoutMs: 50, resolveHost: () => new Promise(() => {}) })
    expect(await post(poster, 'https://receiver.example/')).toEqual({
      outcome: 'away',
      reason: 'no answer within 50 ms',
    })
  })

  it('waits for the seconds that a busy receiver asks for', async () => {
    receiver.setReply(() => ({ status: 429, headers: { 'retry-after': '12' } }))
    expect(await post(open(), receiver.url)).toMatchObject({ retryAfterMs: 12_000 })
    receiver.setReply(() => ({ status: 429, headers: { 'retry-after': 'Wed, 21 Oct 2026' } }))
    expect(await post(open(), receiver.url)).not.toHaveProperty('retryAfterMs')
  })

  it('reads of an answer without end no more than its beginning', async () => {
    let sentBytes = 0
    let isClosed = false
    const server: Server = createServer((_incoming, outgoing) => {
      outgoing.writeHead(200)
      const more = (): void => {
        while (!isClosed && outgoing.write(Buffer.alloc(16_384))) sentBytes += 16_384
      }
      outgoing.on('drain', more)
      outgoing.on('close', () => (isClosed = true))
      outgoing.on('error', () => {})
      more()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const outcome = await post(open(), `http://127.0.0.1:${port}/`)
    expect(outcome).toEqual({ outcome: 'delivered' })
    await waitFor(() => isClosed, { timeoutMs: 5_000 })
    expect(sentBytes).toBeLessThan(20_000_000)
    await new Promise((resolve) => server.close(resolve))
  })

  it('uses a connection again, and another one when the receiver has closed it meanwhile', async () => {
    const poster = open()
    const ports: (number | undefined)[] = []
    const server = createServer((incoming, outgoing) => {
      ports.push(incoming.socket.remotePort)
      const isThird = ports.length === 3
      // As a receiver whose idle time is over at this moment.
      if (isThird) incoming.socket.destroy()
      else incoming.resume().on('end', () => outgoing.writeHead(200).end())
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    for (let count = 0; count < 3; count += 1) {
      expect(await post(poster, url)).toEqual({ outcome: 'delivered' })
    }
    expect(ports).toHaveLength(4)
    expect(ports[1]).toBe(ports[0])
    expect(ports[3]).not.toBe(ports[0])
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('the target of a post', () => {
  const refused = {
    outcome: 'away',
    reason:
      'cannot reach the receiver: expected a public address, or one that TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES names',
  }

  it.each([
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[64:ff9b::a9fe:a9fe]',
  ])('is not %s', async (host) => {
    const poster = open({ allowedAddresses: [] })
    expect(await post(poster, `https://${host}:${receiver.port}/`)).toEqual(refused)
    expect(receiver.received).toEqual([])
  })

  it.each([
    ['127.0.0.1'],
    ['10.1.2.3', '192.168.0.1'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['fe80::1%eth0'],
  ])('is no name that leads to %s', async (...addresses) => {
    const poster = open({ allowedAddresses: [], resolveHost: () => Promise.resolve(addresses) })
    const outcome = await post(poster, `https://receiver.example:${receiver.port}/`)
    expect(outcome).toMatchObject({ outcome: 'away' })
    expect(JSON.stringify(outcome)).toContain('cannot reach the receiver')
  })

  it('I45 is the address that was checked, whatever the name leads to afterwards', async () => {
    const asked: string[] = []
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const resolveHost = (host: string) => {
      asked.push(host)
      return Promise.resolve(answers.shift() ?? [])
    }
    const outcome = await post(open({ resolveHost }), `http://receiver.example:${receiver.port}/x`)
    expect(outcome).toEqual({ outcome: 'delivered' })
    expect(asked).toEqual(['receiver.example'])
    expect(receiver.received[0]?.headers.host).toBe(`receiver.example:${receiver.port}`)
  })

  it('is only the allowed ones of several addresses', async () => {
    const resolveHost = () => Promise.resolve(['10.0.0.1', '127.0.0.1'])
    const outcome = await post(open({ resolveHost }), `http://receiver.example:${receiver.port}/x`)
    expect(outcome).toEqual({ outcome: 'delivered' })
  })

  it('is reached without encryption only where the settings name it', async () => {
    const resolveHost = () => Promise.resolve(['8.8.8.8'])
    expect(await post(open({ resolveHost }), 'http://receiver.example/x')).toEqual({
      outcome: 'away',
      reason: 'cannot reach the receiver: expected https for a public address',
    })
  })

  it('is not told in the reason, nor is the path', async () => {
    const unknown = await post(open(), 'https://hunter2.example/hunter2')
    expect(unknown).toEqual({ outcome: 'away', reason: 'no answer: ENOTFOUND' })
    const closed = await post(open(), 'http://127.0.0.1:1/hunter2')
    expect(closed).toEqual({ outcome: 'away', reason: 'no answer: ECONNREFUSED' })
  })
})
