import { createServer, type Server } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { portOf, startChaosProxy, type ChaosProxy } from './chaos-proxy.ts'
import { classifyRequest } from './traffic.ts'

const stored = new Map<string, string>()
let upstream: Server
let proxy: ChaosProxy

beforeAll(async () => {
  upstream = createServer((request, response) => {
    void buffer(request).then((body) => {
      const key = request.url ?? ''
      if (request.method === 'PUT') stored.set(key, body.toString())
      const found = stored.get(key)
      response.setHeader('x-host', request.headers.host ?? '')
      response.writeHead(found === undefined ? 404 : 200).end(found ?? 'none')
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  proxy = await startChaosProxy({ upstream: `http://127.0.0.1:${portOf(upstream)}` })
})

beforeEach(() => {
  stored.clear()
  proxy.setRules([])
  proxy.reset()
})

afterAll(async () => {
  await proxy.close()
  upstream.closeAllConnections()
  upstream.close()
})

const put = (key: string, body: string) => fetch(proxy.url + key, { method: 'PUT', body })

describe('a fault proxy', () => {
  it('passes path, query, Host and body unchanged', async () => {
    const answer = await put('/b/a%20b%2Bc?x=1&y=%2F', 'hello')
    expect(answer.headers.get('x-host')).toBe(new URL(proxy.url).host)
    expect(stored.get('/b/a%20b%2Bc?x=1&y=%2F')).toBe('hello')
  })

  it('answers a status that the upstream never sees, and lets the next request pass', async () => {
    proxy.setRules([{ do: 'status', kind: 'put', status: 503, times: 1 }])
    expect((await put('/b/k', 'x')).status).toBe(503)
    expect(stored.size).toBe(0)
    expect((await put('/b/k', 'x')).status).toBe(200)
    expect(proxy.hits()).toEqual([1])
  })

  it('drops the answer after the upstream has applied the request', async () => {
    proxy.setRules([{ do: 'drop-answer', file: 'metadata' }])
    await expect(put('/b/00001-a.metadata.json', '{}')).rejects.toThrow('fetch failed')
    expect(stored.get('/b/00001-a.metadata.json')).toBe('{}')
  })

  it('answers a status after the upstream has applied the request', async () => {
    proxy.setRules([{ do: 'status-after', status: 500 }])
    expect((await put('/b/k', 'x')).status).toBe(500)
    expect(stored.get('/b/k')).toBe('x')
  })

  it('cuts a request that the upstream never sees', async () => {
    proxy.setRules([{ do: 'drop-request' }])
    await expect(put('/b/k', 'x')).rejects.toThrow('fetch failed')
    expect(stored.size).toBe(0)
  })

  it('truncates a body below its announced length', async () => {
    stored.set('/b/k', 'a long body')
    proxy.setRules([{ do: 'truncate', bytes: 3 }])
    const answer = await fetch(`${proxy.url}/b/k`)
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow('terminated')
  })

  it('hangs until its time is over, then cuts', async () => {
    proxy.setRules([{ do: 'hang', ms: 20 }])
    await expect(put('/b/k', 'x')).rejects.toThrow('fetch failed')
    expect(stored.size).toBe(0)
  })

  it('lets the named number of matching requests pass first', async () => {
    proxy.setRules([{ do: 'status', status: 500, file: 'data', skip: 1, times: 1 }])
    const statuses = [
      (await put('/b/1.parquet', 'x')).status,
      (await put('/b/k', 'x')).status,
      (await put('/b/2.parquet', 'x')).status,
      (await put('/b/3.parquet', 'x')).status,
    ]
    expect(statuses).toEqual([200, 200, 500, 200])
    expect(proxy.log().map(({ fault }) => fault)).toEqual([
      undefined,
      undefined,
      'status',
      undefined,
    ])
  })

  it('refuses a rule that it does not know', () => {
    // `as`: the point of the test.
    expect(() => proxy.setRules([{ do: 'explode' as 'hang' }])).toThrow('unknown action: explode')
  })
})

describe('classifyRequest', () => {
  it.each([
    ['GET', '/b?list-type=2&prefix=a', 'list', 'none'],
    ['POST', '/b?delete', 'batch-delete', 'none'],
    ['GET', '/b/t/metadata/00001-x.metadata.json', 'get', 'metadata'],
    ['PUT', '/b/t/metadata/00001-x.gz.metadata.json', 'put', 'metadata'],
    ['PUT', '/b/t/metadata/snap-1-1-a.avro', 'put', 'manifest-list'],
    ['HEAD', '/b/t/metadata/a-m0.avro', 'head', 'manifest'],
    ['PUT', '/b/t/data/x.parquet?partNumber=1&uploadId=u', 'part', 'data'],
    ['POST', '/b/t/data/x.parquet?uploads', 'create-multipart', 'data'],
    ['POST', '/b/t/data/x.parquet?uploadId=u', 'complete', 'data'],
    ['DELETE', '/b/t/data/x.parquet?uploadId=u', 'abort', 'data'],
    ['DELETE', '/b/t/metadata/d.puffin', 'delete', 'statistics'],
  ])('%s %s is %s of %s', (method, target, kind, file) => {
    expect(classifyRequest({ method, target, isCopy: false })).toEqual({ kind, file })
  })
})
