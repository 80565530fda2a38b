import { afterAll, beforeAll, expect, it } from 'vitest'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { waitFor } from '@timelake/testing/wait-for'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({ config: { bodyBytesMax: 1_000_000 } })
})
afterAll(() => catalog.stop())

it.each([
  ['GET', '/v1/nonsense', 400, 'BadRequestException'],
  ['GET', '/', 400, 'BadRequestException'],
  ['GET', '/v1/main/namespaces/', 400, 'BadRequestException'],
  ['PUT', '/v1/main/namespaces', 405, 'UnsupportedOperationException'],
  ['PATCH', '/v1/main/namespaces/a/tables/t', 405, 'UnsupportedOperationException'],
  ['OPTIONS', '/v1/config', 405, 'UnsupportedOperationException'],
])('answers %s %s with %i in the envelope', async (method, path, status, type) => {
  const answer = await catalog.call(method, path)
  expect(answer.status).toBe(status)
  expect(errorOf(answer)).toMatchObject({ type, code: status })
  expect(answer.headers['content-type']).toBe('application/json')
  if (status === 405) expect(answer.headers.allow).toBeTruthy()
})

it('answers what is no HTTP in the envelope too', async () => {
  const answer = await rawExchange(
    'GET /v1/config HTTP/1.1\r\nHost: localhost\r\nBad Header\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('"code":400')
})

it.each([false, true])('answers 413 for a body over the limit, chunked: %s', async (isChunked) => {
  const body = Buffer.alloc(2_000_000, 0x20)
  const headers = isChunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': '2000000' }
  const answer = await catalog.call('POST', '/v1/main/namespaces', { body, headers })
  expect(answer.status).toBe(413)
  expect(errorOf(answer).code).toBe(413)
  expect((await catalog.call('GET', '/v1/config')).status).toBe(200)
})

it('refuses a gzip bomb', async () => {
  const body = gzipSync(Buffer.alloc(50_000_000))
  const headers = { 'content-encoding': 'gzip' }
  const answer = await catalog.call('POST', '/v1/main/namespaces', { body, headers })
  expect(answer.status).toBe(413)
})

it('refuses foreign hosts and origins on loopback', async () => {
  const rebound = await catalog.call('GET', '/v1/config', { headers: { host: 'evil.example' } })
  expect(rebound.status).toBe(403)
  expect(errorOf(rebound).type).toBe('ForbiddenException')
  const page = await catalog.call('GET', '/v1/config', {
    headers: { origin: 'https://evil.example' },
  })
  expect(page.status).toBe(403)
})

it('ignores a meaningless credential in open mode', async () => {
  const headers = { authorization: 'Bearer None' }
  expect((await catalog.call('GET', '/v1/config', { headers })).status).toBe(200)
})

it('I29 with a token asks for it everywhere but in health checks, and never logs it (B201)', async () => {
  const token = 'secret-token-0123456789'
  const guarded = await openTestCatalog({ config: { token } })
  const get = (path: string, authorization?: string) =>
    guarded.call('GET', path, authorization === undefined ? {} : { headers: { authorization } })
  for (const path of ['/v1/config', '/metrics', '/admin/v1/tables', '/v1/nonsense']) {
    const answer = await get(path)
    expect(answer.status, path).toBe(401)
    expect(errorOf(answer).type).toBe('NotAuthorizedException')
    expect((await get(path, 'Bearer wrong-secret')).status).toBe(401)
    expect((await get(path, `Bearer ${token}`)).status).not.toBe(401)
  }
  expect((await get('/health/live')).status).toBe(200)
  expect((await get('/health/ready')).status).toBe(200)
  const inside = await guarded.running.fetch(new Request(`${guarded.running.url}/v1/config`))
  expect(inside.status).toBe(200)
  await get(`/v1/config?token=${token}`, `Bearer ${token}`)
  expect(guarded.log.join('')).not.toMatch(/secret/)
  await guarded.stop()
})

it('shows health and metrics', async () => {
  expect((await catalog.call('GET', '/health/live')).json).toEqual({ status: 'live' })
  expect((await catalog.call('GET', '/health/ready')).json).toEqual({ status: 'ready' })
  const { text, headers } = await catalog.call('GET', '/metrics')
  expect(headers['content-type']).toContain('text/plain')
  expect(text).toMatch(/timelake_http_requests_total\{operation="getConfig",status="200"\} \d/)
})

it('answers 503 when too many commits wait for one table, and none is lost', async () => {
  const busy = await openTestCatalog({ config: { commitQueueDepthMax: 2 } })
  await makeNamespace(busy, ['ns'])
  const { path } = await makeTable(busy, { levels: ['ns'], name: 't' })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      busy.call('POST', path, {
        body: { updates: [{ action: 'set-properties', updates: { [`k${n}`]: 'v' } }] },
      }),
    ),
  )
  const { json } = await busy.call('GET', path)
  for (const [n, answer] of answers.entries()) {
    const isThere = `k${n}` in (member(json, 'metadata', 'properties') as object)
    expect(answer.status).toBe(isThere ? 200 : 503)
    if (!isThere) expect(errorOf(answer).type).toBe('SlowDownException')
  }
  await busy.stop()
})

it('finishes the commits that it accepted when it stops', async () => {
  const stopping = await openTestCatalog()
  await makeNamespace(stopping, ['ns'])
  const { path } = await makeTable(stopping, { levels: ['ns'], name: 't' })
  const body = { updates: [{ action: 'set-properties', updates: { last: 'one' } }] }
  const commit = stopping.call('POST', path, { body })
  await waitFor(async () => (await stopping.call('GET', '/health/live')).status === 200, {
    timeoutMs: 5_000,
  })
  await stopping.running.stop()
  expect((await commit).status).toBe(200)
  await expect(stopping.call('GET', '/health/live')).rejects.toThrow()
  await stopping.stop()
})

function rawExchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(new URL(catalog.running.url).port), '127.0.0.1', () => {
      socket.write(text)
    })
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.on('end', () => resolve(received))
    socket.on('error', reject)
  })
}
