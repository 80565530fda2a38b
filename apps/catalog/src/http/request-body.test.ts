import { gzipSync } from 'node:zlib'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { expect, it } from 'vitest'
import { readRequestBody } from './request-body.ts'
import { BodyTooLargeError, UnsupportedEncodingError } from './request-errors.ts'

const plain = { contentLength: undefined, contentEncoding: undefined }
const gzip = { ...plain, contentEncoding: 'gzip' }

async function* chunks(...parts: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* parts
}

it('joins the chunks', async () => {
  const body = await readRequestBody(chunks(Buffer.from('ab'), Buffer.from('c')), plain, 3)
  expect(body.toString()).toBe('abc')
})

it('inflates gzip', async () => {
  const body = await readRequestBody(chunks(gzipSync('hello')), gzip, 100)
  expect(body.toString()).toBe('hello')
})

it('refuses a length over the limit before it reads anything', async () => {
  const unread = chunks(Buffer.from('x'))
  const read = readRequestBody(unread, { ...plain, contentLength: '11' }, 10)
  await expect(read).rejects.toThrow(BodyTooLargeError)
})

it('refuses chunks and inflated bytes over the limit', async () => {
  const long = readRequestBody(chunks(Buffer.alloc(6), Buffer.alloc(6)), plain, 10)
  await expect(long).rejects.toThrow(BodyTooLargeError)
  const bomb = readRequestBody(chunks(gzipSync(Buffer.alloc(1_000_000))), gzip, 10_000)
  await expect(bomb).rejects.toThrow(BodyTooLargeError)
})

it('refuses broken gzip and unknown encodings', async () => {
  const broken = readRequestBody(chunks(Buffer.from('not gzip')), gzip, 100)
  await expect(broken).rejects.toThrow(InvalidInputError)
  const unknown = readRequestBody(chunks(), { ...plain, contentEncoding: 'br' }, 100)
  await expect(unknown).rejects.toThrow(UnsupportedEncodingError)
})
