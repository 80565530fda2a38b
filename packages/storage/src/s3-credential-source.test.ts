import { describe, expect, it } from 'vitest'
import { credentialSourceOf, renewedCredentials } from './s3-credential-source.ts'

const HOUR_MS = 3_600_000

function openSource() {
  let nowMs = 0
  let fetchCount = 0
  let isBroken = false
  const source = renewedCredentials(
    async () => {
      fetchCount += 1
      if (isBroken) throw new Error('no answer')
      const accessKeyId = `key ${fetchCount}`
      return { accessKeyId, secretAccessKey: 's', expiresAtMs: nowMs + HOUR_MS }
    },
    () => nowMs,
  )
  return {
    key: async () => (await source.current()).accessKeyId,
    expire: () => source.expire(),
    pass: (durationMs: number) => void (nowMs += durationMs),
    break: (value: boolean) => void (isBroken = value),
    fetchCount: () => fetchCount,
  }
}

describe('renewedCredentials', () => {
  it('fetches once for callers at the same time, and keeps what it got', async () => {
    const source = openSource()
    expect(await Promise.all([source.key(), source.key()])).toEqual(['key 1', 'key 1'])
    source.pass(HOUR_MS / 2)
    expect(await source.key()).toBe('key 1')
    expect(source.fetchCount()).toBe(1)
  })

  it('fetches again minutes before the end', async () => {
    const source = openSource()
    await source.key()
    source.pass(HOUR_MS - 240_000)
    expect(await source.key()).toBe('key 2')
  })

  it('goes on with valid ones while a fetch fails, and fails when they have ended', async () => {
    const source = openSource()
    await source.key()
    source.break(true)
    source.pass(HOUR_MS - 60_000)
    expect(await source.key()).toBe('key 1')
    source.pass(60_000)
    await expect(source.key()).rejects.toThrow('no answer')
    source.break(false)
    expect(await source.key()).toBe('key 4')
  })

  it('fetches others when the store says that they have expired', async () => {
    const source = openSource()
    await source.key()
    source.expire()
    expect(await source.key()).toBe('key 2')
  })
})

describe('credentialSourceOf', () => {
  it('uses given keys as they are, without waiting', () => {
    const keys = { accessKeyId: 'a', secretAccessKey: 'b' }
    const profile = { type: 's3', region: 'x', pathStyle: true } as const
    expect(credentialSourceOf(profile, keys, () => 0).current()).toEqual(keys)
  })
})
