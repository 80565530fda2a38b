import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type AccessScope, RequestRefusedError } from './access-broker.ts'
import { StoreUnavailableError } from './object-store.ts'
import { openAccessBroker } from './open-access-broker.ts'
import { fixedCredentials } from './s3-credential-source.ts'

const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
const scope: AccessScope = { prefixes: ['s3://lake/w/orders'], access: 'write' }
const OK = [200, ''] as const
const NO_UPLOAD = [404, 'NoSuchUpload'] as const
const DENIED = [403, 'AccessDenied'] as const
const OTHER_BODY = [400, 'XAmzContentSHA256Mismatch'] as const

type Answer = readonly [status: number, code: string]

interface Ways {
  /** To a batch of deletes whose body is another one than the one that was signed. */
  readonly otherBody: Answer
  /** To a part of no upload, and to one with a copy source that was not signed. */
  readonly plain: Answer
  readonly addedHeader: Answer
}

const STRICT: Ways = { otherBody: OTHER_BODY, plain: NO_UPLOAD, addedHeader: DENIED }

let server: Server | undefined

afterEach(() => void server?.close())

async function brokerOf(ways: Ways) {
  const seen: string[] = []
  const answerTo = ({ method, headers }: IncomingMessage): Answer => {
    if (method === 'POST') return ways.otherBody
    return headers['x-amz-copy-source'] === undefined ? ways.plain : ways.addedHeader
  }
  const opened = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const [status, code] = answerTo(request)
    response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`)
  })
  server = opened
  await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve))
  // `as`: a server that listens on a port has such an address.
  const endpoint = `http://127.0.0.1:${(opened.address() as AddressInfo).port}`
  const profile = { type: 's3', endpoint, region: 'x', pathStyle: true } as const
  const source = fixedCredentials(credentials)
  const broker = openAccessBroker({ profile, credentials, source, nowMs: Date.now })
  const body = '<Delete><Object><Key>w/orders/x</Key></Object></Delete>'
  const uri = `${endpoint}/lake`
  return {
    seen,
    put: () => broker.sign({ method: 'PUT', uri: `${uri}/w/orders/x`, headers: {} }, scope),
    batch: () => broker.sign({ method: 'POST', uri: `${uri}?delete`, headers: {}, body }, scope),
    remove: () => broker.sign({ method: 'DELETE', uri: `${uri}/w/orders/x`, headers: {} }, scope),
  }
}

describe('signing with keys that reach everything', () => {
  it('gives writes and batches where the store checks bodies and headers', async () => {
    const { put, batch, seen } = await brokerOf(STRICT)
    await Promise.all([put(), put()])
    await batch()
    await batch()
    expect(seen.map((request) => request.replace(/timelake-.*/, '…'))).toEqual([
      'PUT /lake/w/orders/…',
      'PUT /lake/w/orders/…',
      'POST /lake/?delete=',
    ])
  })

  it.each<[string, Answer]>([
    ['deletes what another body names', OK],
    ['answers something else', DENIED],
    ['knows no batches', [501, 'NotImplemented']],
  ])('gives no batch where the store %s', async (_, otherBody) => {
    const { batch, put, remove } = await brokerOf({ ...STRICT, otherBody })
    await expect(batch()).rejects.toThrow(RequestRefusedError)
    await put()
    await remove()
  })

  it.each<[string, Partial<Ways>]>([
    ['takes a header that was not signed', { addedHeader: NO_UPLOAD }],
    ['copies by a header that was not signed', { addedHeader: OK }],
    ['refuses the trial also without the header', { plain: DENIED }],
    ['takes a part of no upload', { plain: OK }],
  ])('gives no write where the store %s', async (_, ways) => {
    const { batch, put, remove } = await brokerOf({ ...STRICT, ...ways })
    await expect(put()).rejects.toThrow(RequestRefusedError)
    await batch()
    await remove()
  })

  it('remembers nothing of bad weather', async () => {
    const ways = { ...STRICT, otherBody: [503, 'SlowDown'] as Answer }
    const { batch } = await brokerOf({
      ...ways,
      get otherBody() {
        return ways.otherBody
      },
    })
    await expect(batch()).rejects.toThrow(StoreUnavailableError)
    ways.otherBody = OTHER_BODY
    await batch()
  })
})
