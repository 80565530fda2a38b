import { describe, expect, it } from 'vitest'
import { TRUSTED_CALLER } from '../access/caller.ts'
import { makeGuard } from './guard.ts'
import { ForbiddenError, NotAuthorizedError } from './request-errors.ts'

const LOOPBACK = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [] }
const CALLER = { ...TRUSTED_CALLER, id: 'somebody' }
const anybody = () => TRUSTED_CALLER
const from = (host?: string, origin?: string, authorization?: string) => ({
  host,
  origin,
  authorization,
})

describe('on a loopback address', () => {
  const guard = makeGuard(
    {
      ...LOOPBACK,
      allowedHosts: ['lake.example'],
      allowedOrigins: ['https://console.example'],
    },
    anybody,
  )

  it.each(['localhost:8181', '127.0.0.1', '[::1]:8181', 'LOCALHOST', 'lake.example:443'])(
    'answers to the host %s',
    (host) => {
      expect(() => guard(from(host), false)).not.toThrow()
    },
  )

  it.each(['evil.example', 'localhost.evil.example:8181', '127.0.0.1.evil.example'])(
    'refuses the host %s, which a page may have rebound to us',
    (host) => {
      expect(() => guard(from(host), true)).toThrow(ForbiddenError)
    },
  )

  it('answers to allowed origins and to its own, and refuses others', () => {
    expect(() => guard(from('localhost', 'https://console.example'), false)).not.toThrow()
    expect(() => guard(from('localhost:8181', 'http://localhost:8181'), false)).not.toThrow()
    expect(() => guard(from('localhost', 'https://evil.example'), false)).toThrow(ForbiddenError)
    expect(() => guard(from('localhost', 'null'), false)).toThrow(ForbiddenError)
  })
})

it('trusts no origin where every host is answered', () => {
  const guard = makeGuard({ ...LOOPBACK, host: '0.0.0.0' }, anybody)
  expect(() => guard(from('any.example'), false)).not.toThrow()
  expect(() => guard(from('evil.example', 'http://evil.example'), false)).toThrow(ForbiddenError)
})

it('asks who calls, except on open routes', () => {
  const guard = makeGuard(LOOPBACK, (authorization) => {
    if (authorization === 'Bearer open sesame') return CALLER
    throw new NotAuthorizedError('invalid')
  })
  expect(guard(from('localhost', undefined, 'Bearer open sesame'), false)).toBe(CALLER)
  expect(guard(from('localhost'), true)).toBe(TRUSTED_CALLER)
  expect(() => guard(from('localhost'), false)).toThrow(NotAuthorizedError)
})
