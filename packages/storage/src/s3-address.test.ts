import { describe, expect, it } from 'vitest'
import { openAddressBook } from './s3-address.ts'
import type { S3Profile } from './storage-profile.ts'

const address = (profile: Omit<S3Profile, 'type'>, bucket: string, key: string) => {
  const { isSecure, hostname, port, host, path } = openAddressBook({ type: 's3', ...profile })({
    bucket,
    key,
  })
  return { url: `${isSecure ? 'https' : 'http'}://${hostname}:${port}`, host, path }
}

describe('openAddressBook', () => {
  it('puts the bucket into the path where the profile says so', () => {
    const profile = { endpoint: 'http://127.0.0.1:9000', region: 'x', pathStyle: true }
    expect(address(profile, 'lake', 'a/b')).toEqual({
      url: 'http://127.0.0.1:9000',
      host: '127.0.0.1:9000',
      path: '/lake/a/b',
    })
  })

  it('puts it into the host name otherwise, unless no certificate would fit', () => {
    const profile = { region: 'eu-central-1', pathStyle: false }
    expect(address(profile, 'lake', 'a')).toEqual({
      url: 'https://lake.s3.eu-central-1.amazonaws.com:',
      host: 'lake.s3.eu-central-1.amazonaws.com',
      path: '/a',
    })
    expect(address(profile, 'my.lake', 'a')).toMatchObject({
      host: 's3.eu-central-1.amazonaws.com',
      path: '/my.lake/a',
    })
  })

  it('knows the addresses of China', () => {
    const profile = { region: 'cn-north-1', pathStyle: true }
    expect(address(profile, 'lake', 'a').host).toBe('s3.cn-north-1.amazonaws.com.cn')
  })

  it('keeps a path of the endpoint and takes IPv6', () => {
    const profile = { endpoint: 'https://[::1]:9/storage/', region: 'x', pathStyle: true }
    expect(address(profile, 'lake', 'a')).toEqual({
      url: 'https://::1:9',
      host: '[::1]:9',
      path: '/storage/lake/a',
    })
  })

  it.each([
    ['a b', 'a%20b'],
    ['a+b', 'a%2Bb'],
    ['a%20b', 'a%2520b'],
    ['what?x=1#y', 'what%3Fx%3D1%23y'],
    ["it's (a) *!", 'it%27s%20%28a%29%20%2A%21'],
    ['caf\u00e9', 'caf%C3%A9'],
    ['~a-b_c.d', '~a-b_c.d'],
    ['a//b/', 'a//b/'],
  ])('encodes the key %j as %j', (key, path) => {
    const profile = { endpoint: 'http://h', region: 'x', pathStyle: true }
    expect(address(profile, 'lake', key).path).toBe(`/lake/${path}`)
  })
})
