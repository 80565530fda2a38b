import { describe, expect, it } from 'vitest'
import { MalformedRequestError, RequestRefusedError } from './access-broker.ts'
import { parseClientUri } from './s3-client-uri.ts'
import type { S3Profile } from './storage-profile.ts'

const local: S3Profile = {
  type: 's3',
  endpoint: 'http://127.0.0.1:9000',
  region: 'x',
  pathStyle: true,
}
const minio: S3Profile = { ...local, endpoint: 'https://s3.example' }
const hosted: S3Profile = { ...minio, pathStyle: false }
const aws: S3Profile = { type: 's3', region: 'us-east-1', pathStyle: false }
const frankfurt: S3Profile = { ...aws, region: 'eu-central-1' }

describe('parseClientUri', () => {
  it.each([
    [local, 'http://127.0.0.1:9000/lake/w/t/x', 'lake', 'w/t/x'],
    [local, 'http://localhost:9000/lake/w', 'lake', 'w'],
    [local, 'http://[::1]:9000/lake/w', 'lake', 'w'],
    [minio, 'https://s3.example/lake/w', 'lake', 'w'],
    [minio, 'https://S3.Example:443/lake/w', 'lake', 'w'],
    [minio, 'https://s3.example/lake', 'lake', ''],
    [minio, 'https://s3.example/lake/?prefix=a', 'lake', ''],
    [hosted, 'https://lake.s3.example/w/x', 'lake', 'w/x'],
    [hosted, 'https://a.b-c.s3.example/w/x', 'a.b-c', 'w/x'],
    [hosted, 'https://s3.example/lake/w/x', 'lake', 'w/x'],
    [hosted, 'https://lake.s3.example', 'lake', ''],
    [aws, 'https://lake.s3.amazonaws.com/w', 'lake', 'w'],
    [aws, 'https://lake.s3.us-east-1.amazonaws.com/w', 'lake', 'w'],
    [aws, 'https://s3.us-east-1.amazonaws.com/lake/w', 'lake', 'w'],
    [frankfurt, 'https://lake.s3.dualstack.eu-central-1.amazonaws.com/w', 'lake', 'w'],
    [frankfurt, 'https://s3-eu-central-1.amazonaws.com/lake/w', 'lake', 'w'],
    [minio, "https://s3.example/lake/w/day=1/a'(b)!*,:@$&c", 'lake', "w/day=1/a'(b)!*,:@$&c"],
    [minio, 'https://s3.example/lake/w/%C3%BC%20%2B%2A', 'lake', 'w/ü +*'],
    [minio, 'https://s3.example/lake/w/folder/', 'lake', 'w/folder/'],
    [minio, 'https://s3.example/lake/w/.hidden/..x/x..', 'lake', 'w/.hidden/..x/x..'],
  ])('reads %j %s', (profile, uri, bucket, key) => {
    expect(parseClientUri(uri, profile)).toMatchObject({ bucket, key })
  })

  it('leaves names that are encoded by Iceberg encoded', () => {
    const uri = 'https://s3.example/lake/w/ts=10%253A30%252F%2525/x'
    expect(parseClientUri(uri, minio).key).toBe('w/ts=10%3A30%2F%25/x')
  })

  it('gives the path as it is signed, and the host that was named', () => {
    const uri = "https://lake.s3.example:443/w/day=1/a'%7e?list-type=2&prefix=w%2F%C3%BC"
    const found = parseClientUri(uri, hosted)
    expect(found).toMatchObject({ host: 'lake.s3.example', path: '/w/day%3D1/a%27~' })
    expect([...found.parameters]).toEqual([
      ['list-type', '2'],
      ['prefix', 'w/ü'],
    ])
    expect(parseClientUri('http://127.0.0.1:9000/lake/w', local).host).toBe('127.0.0.1:9000')
    expect(parseClientUri('https://s3.example/lake/', minio).path).toBe('/lake/')
    expect(parseClientUri('https://s3.example/lake?delete', minio).path).toBe('/lake')
    expect(parseClientUri('https://lake.s3.example?delete', hosted).path).toBe('/')
  })

  it.each([
    [local, 'http://127.0.0.1:9001/lake/w'],
    [local, 'https://127.0.0.1:9000/lake/w'],
    [local, 'http://127.0.0.1/lake/w'],
    [local, 'http://lake.127.0.0.1:9000/w'],
    [minio, 'https://evil.example/lake/w'],
    [minio, 'https://evil.s3.example/lake/w'],
    [minio, 'https://s3.example.evil.example/lake/w'],
    [minio, 'https://s3.example./lake/w'],
    [minio, 'http://s3.example/lake/w'],
    [minio, 'https://169.254.169.254/latest/meta-data'],
    [hosted, 'https://evils3.example/w'],
    [hosted, 'https://.s3.example/w'],
    [hosted, 'https://a..s3.example/w'],
    [aws, 'https://lake.s3.eu-west-1.amazonaws.com/w'],
    [frankfurt, 'https://lake.s3.amazonaws.com/w'],
    [aws, 'https://s3.us-east-1.amazonaws.com.evil.example/lake/w'],
  ])('refuses the host of %j %s (B198)', (profile, uri) => {
    expect(() => parseClientUri(uri, profile)).toThrow(RequestRefusedError)
  })

  it.each([
    '/lake/w',
    'lake/w',
    's3://lake/w',
    'ftp://s3.example/lake/w',
    'https://',
    'https:///lake/w',
    'https://s3.example',
    'https://s3.example/',
    'https://user@s3.example/lake/w',
    'https://user:pass@s3.example/lake/w',
    'https://evil.example@s3.example/lake/w',
    'https://s3.example\\@evil.example/lake/w',
    'https://s3.example:0x1bb/lake/w',
    'https://s3.example:/lake/w',
    'https://s3.example/lake/w#x',
    'https://s3.example/lake/ü',
    'https://s3.example/lake/a b',
    'https://s3.example/lake/a\nb',
    'https://s3.example/lake/a\tb',
    ' https://s3.example/lake/a',
    'https://s3.example/lake/a\n',
    'https://s3.example/lake/w/../v/x',
    'https://s3.example/lake/w/..',
    'https://s3.example/lake/w/./x',
    'https://s3.example/lake/w/%2e%2e/v/x',
    'https://s3.example/lake/w/%2E./v/x',
    'https://s3.example/lake/w/..%2Fv/x',
    'https://s3.example/lake/w%2Fx',
    'https://s3.example/lake/w/%2f../x',
    'https://s3.example/lake/w/%252e%252e/v',
    'https://s3.example/lake/w/%252e%252e%252fv',
    'https://s3.example/lake/w/%25252e%25252e%25252fv',
    'https://s3.example/lake/w/%252525252525252e',
    'https://s3.example/lake/w/%255c..%255cv',
    'https://s3.example/lake/w/..%5Cv',
    'https://s3.example/lake/w\\x',
    'https://s3.example/lake//w/x',
    'https://s3.example//lake/w/x',
    'https://s3.example/lake/w//x',
    'https://s3.example/lake/w/x//',
    'https://s3.example/lake/../other/w',
    'https://s3.example/%2e%2e/w',
    'https://s3.example/la%2Fke/w',
    'https://s3.example/l/w',
    'https://s3.example/lake/%00',
    'https://s3.example/lake/%0d%0a',
    'https://s3.example/lake/%7F',
    'https://s3.example/lake/%C0%AE%C0%AE/x',
    'https://s3.example/lake/%ED%A0%80',
    'https://s3.example/lake/%',
    'https://s3.example/lake/%zz',
    'https://s3.example/lake/a+b',
    'https://s3.example/lake/a;b',
    'https://s3.example/lake/a?prefix=a+b',
    'https://s3.example/lake/a?prefix=a;acl',
    'https://s3.example/lake/a?prefix=a&prefix=b',
    'https://s3.example/lake/a?prefix=a&%70refix=b',
    'https://s3.example/lake/a?&',
    'https://s3.example/lake/a?=b',
    'https://s3.example/lake/a?prefix=%zz',
    `https://s3.example/lake/${'a'.repeat(1_025)}`,
    `https://s3.example/lake/a?prefix=${'a'.repeat(9_000)}`,
  ])('refuses %j, which is no URI of an object or could be read as another (B198)', (uri) => {
    expect(() => parseClientUri(uri, minio)).toThrow(MalformedRequestError)
  })

  it('repeats nothing of what it refuses', () => {
    const uri = 'https://user:hush@s3.example/lake/hush'
    expect(() => parseClientUri(uri, minio)).toThrow(/^(?!.*hush)/)
  })
})
