import { describe, expect, it } from 'vitest'
import { factsOf, unavailable, verdictOf } from './s3-verdict.ts'

describe('verdictOf', () => {
  it.each([
    [200, '', 'ok'],
    [204, '', 'ok'],
    [206, '', 'ok'],
    [404, 'NoSuchKey', 'absent'],
    [404, 'BlobNotFound', 'absent'],
    [404, 'NoSuchBucket', 'no-bucket'],
    [404, 'NoSuchUpload', 'refused'],
    [404, '', 'refused'],
    [412, 'PreconditionFailed', 'exists'],
    [412, '', 'exists'],
    [409, 'BlobAlreadyExists', 'exists'],
    [409, 'ConditionalRequestConflict', 'conflict'],
    [409, 'OperationAborted', 'conflict'],
    [409, 'ObjectParentIsFile', 'refused'],
    [409, '', 'refused'],
    [501, 'NotImplemented', 'unsupported'],
    [501, '', 'unsupported'],
    [400, 'NotImplemented', 'unsupported'],
    [400, 'InvalidArgument', 'unsupported'],
    [400, 'InvalidRequest', 'refused'],
    [400, 'RequestTimeout', 'try-again'],
    [400, 'ExpiredToken', 'expired'],
    [403, 'ExpiredToken', 'expired'],
    [403, 'AccessDenied', 'refused'],
    [403, 'SignatureDoesNotMatch', 'refused'],
    [403, 'RequestTimeTooSkewed', 'refused'],
    [429, '', 'try-again'],
    [408, '', 'try-again'],
    [500, 'InternalError', 'try-again'],
    [502, '', 'try-again'],
    [503, 'SlowDown', 'try-again'],
    [503, 'NoSuchKey', 'try-again'],
    [504, '', 'try-again'],
    [520, '', 'try-again'],
    [301, 'PermanentRedirect', 'refused'],
    [307, 'TemporaryRedirect', 'refused'],
    [401, '', 'refused'],
    [405, 'MethodNotAllowed', 'refused'],
  ] as const)('takes %i %s for %s', (status, code, verdict) => {
    expect(verdictOf({ status, code })).toBe(verdict)
  })
})

describe('factsOf', () => {
  const facts = (status: number, text: string, headers = {}) =>
    factsOf({ status, headers, body: Buffer.from(text) })

  it('reads the code of an error and nothing of a success', () => {
    expect(facts(404, '<Error><Code>NoSuchKey</Code></Error>')).toEqual({
      status: 404,
      code: 'NoSuchKey',
    })
    expect(facts(200, '<Code>NoSuchKey</Code>')).toEqual({ status: 200, code: '' })
    expect(facts(404, '<html>not found</html>')).toEqual({ status: 404, code: '' })
    expect(facts(404, '<Code>no such <b>key</Code>')).toEqual({ status: 404, code: '' })
  })

  it('reads it from a header where there is no body', () => {
    expect(facts(404, '', { 'x-ms-error-code': 'BlobNotFound' }).code).toBe('BlobNotFound')
  })
})

describe('unavailable', () => {
  it('says what was done, what is likely wrong, and the status', () => {
    const { message } = unavailable('read s3://b/x', { status: 404, code: 'NoSuchBucket' })
    expect(message).toBe('cannot read s3://b/x: the bucket does not exist, status 404 NoSuchBucket')
  })
})
