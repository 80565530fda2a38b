import { describe, expect, it } from 'vitest'
import type { AccessScope } from './access-broker.ts'
import type { SessionRequest } from './s3-session.ts'
import { openVendedSessions, sessionNameOf, VENDED_SESSIONS_MAX } from './s3-vended-sessions.ts'
import type { S3Credentials } from './storage-profile.ts'

const HOUR_MS = 3_600_000
const ROLE = 'arn:aws:iam::1:role/lake'
const orders: AccessScope = { prefixes: ['s3://lake/orders'], access: 'write' }
const asked = { sessionName: 'ann', durationMs: HOUR_MS }
const KEYS: S3Credentials = { accessKeyId: 'a', secretAccessKey: 'b' }

function open(
  roles: { roleArn?: string; clientRoleArn?: string } = { roleArn: ROLE },
  keys = KEYS,
) {
  let nowMs = 0
  let isBroken = false
  const calls: SessionRequest[] = []
  const vend = openVendedSessions({
    profile: { type: 's3', region: 'x', pathStyle: true, ...roles },
    credentials: keys,
    nowMs: () => nowMs,
    assume: async (session) => {
      calls.push(session)
      await Promise.resolve()
      if (isBroken) throw new Error('no answer')
      const expiresAtMs = nowMs + session.durationSeconds * 1_000
      return { accessKeyId: `key ${calls.length}`, secretAccessKey: 's', expiresAtMs }
    },
  })
  return {
    vend,
    key: async (scope = orders, options = asked) => (await vend(scope, options)).accessKeyId,
    calls,
    pass: (durationMs: number) => void (nowMs += durationMs),
    break: (value: boolean) => void (isBroken = value),
  }
}

describe('openVendedSessions', () => {
  it('asks once for callers at the same time and for half of the life', async () => {
    const sessions = open()
    expect(await Promise.all([sessions.key(), sessions.key()])).toEqual(['key 1', 'key 1'])
    sessions.pass(HOUR_MS / 2 - 1)
    expect(await sessions.key()).toBe('key 1')
    sessions.pass(1)
    expect(await sessions.key()).toBe('key 2')
  })

  it('shares a session with nobody of another scope, access, name or duration', async () => {
    const sessions = open()
    const keys = [
      await sessions.key(),
      await sessions.key({ ...orders, access: 'read' }),
      await sessions.key({ ...orders, prefixes: ['s3://lake/orders2'] }),
      await sessions.key({ ...orders, prefixes: ['s3://lake2/orders'] }),
      await sessions.key(orders, { ...asked, sessionName: 'bob' }),
      await sessions.key(orders, { ...asked, durationMs: 2 * HOUR_MS }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(
      await sessions.key({ ...orders, prefixes: ['s3://lake/orders/', 's3://lake/orders/x'] }),
    ).toBe('key 1')
  })

  it('remembers no failure', async () => {
    const sessions = open()
    sessions.break(true)
    await expect(sessions.key()).rejects.toThrow('no answer')
    sessions.break(false)
    expect(await sessions.key()).toBe('key 2')
  })

  it.each([
    [0, 900],
    [900_000, 900],
    [1_234_567, 1_234],
    [100 * HOUR_MS, 43_200],
  ])('asks for %i ms within what stores grant', async (durationMs, durationSeconds) => {
    const sessions = open()
    await sessions.key(orders, { ...asked, durationMs })
    expect(sessions.calls[0]?.durationSeconds).toBe(durationSeconds)
  })

  it('asks for an hour at most with keys that are a session themselves', async () => {
    const sessions = open({ roleArn: ROLE }, { ...KEYS, sessionToken: 't' })
    await sessions.key(orders, { ...asked, durationMs: 5 * HOUR_MS })
    expect(sessions.calls[0]?.durationSeconds).toBe(3_600)
  })

  it('takes the role for clients, and never asks without a policy', async () => {
    const sessions = open({ roleArn: ROLE, clientRoleArn: 'arn:aws-cn:iam::1:role/clients' })
    await sessions.key()
    expect(sessions.calls[0]).toMatchObject({ roleArn: 'arn:aws-cn:iam::1:role/clients' })
    expect(sessions.calls[0]?.policy).toContain('arn:aws-cn:s3:::lake/orders/*')
  })

  it('hands out nothing without a role', async () => {
    const sessions = open({})
    await expect(sessions.key()).rejects.toMatchObject({ reason: 'no-role' })
    expect(sessions.calls).toEqual([])
  })

  it('asks for nothing when the scope cannot be limited', async () => {
    const sessions = open()
    const wide = { ...orders, prefixes: ['s3://lake/*'] }
    await expect(sessions.key(wide)).rejects.toMatchObject({ reason: 'wildcard' })
    expect(sessions.calls).toEqual([])
  })

  it('forgets the session that was not asked for longest', async () => {
    const sessions = open()
    const scopeOf = (index: number): AccessScope => ({
      ...orders,
      prefixes: [`s3://lake/${index}`],
    })
    for (let index = 0; index < VENDED_SESSIONS_MAX; index += 1) await sessions.key(scopeOf(index))
    expect(await sessions.key(scopeOf(0))).toBe('key 1')
    await sessions.key(scopeOf(VENDED_SESSIONS_MAX))
    expect(await sessions.key(scopeOf(0))).toBe('key 1')
    expect(await sessions.key(scopeOf(1))).toBe(`key ${VENDED_SESSIONS_MAX + 2}`)
  })
})

describe('sessionNameOf', () => {
  it('keeps a plain name', () => {
    expect(sessionNameOf('timelake:a'.replace(':', '-'))).toBe('timelake-a')
    expect(sessionNameOf('ann@example.com')).toBe('ann@example.com')
  })

  it.each(['', 'a', 'a b', 'ü', '"\n', 'x'.repeat(65), 'x'.repeat(5_000)])(
    'makes a name of %j that STS takes',
    (text) => {
      expect(sessionNameOf(text)).toMatch(/^[\w+=,.@-]{2,64}$/)
    },
  )

  it('gives different names to different texts', () => {
    const texts = [
      'a b',
      'a-b',
      'a/b',
      'a  b',
      sessionNameOf('a b'),
      'ü',
      'ö',
      `${'x'.repeat(64)}y`,
      `${'x'.repeat(64)}z`,
    ]
    expect(new Set(texts.map(sessionNameOf)).size).toBe(texts.length)
  })
})
