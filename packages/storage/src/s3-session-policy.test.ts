import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnvendableScopeError, type UnvendableReason } from './access-broker.ts'
import { LocationError } from './object-store.ts'
import { SESSION_POLICY_CHARACTERS_MAX, sessionPolicyOf } from './s3-session-policy.ts'

const policyOf = (prefixes: readonly string[], access: 'read' | 'write' = 'write') =>
  JSON.parse(sessionPolicyOf({ prefixes, access }))

const reasonOf = (prefixes: readonly string[]): UnvendableReason | undefined => {
  try {
    sessionPolicyOf({ prefixes, access: 'read' })
    return undefined
  } catch (error) {
    if (error instanceof UnvendableScopeError) return error.reason
    throw error
  }
}

describe('sessionPolicyOf', () => {
  it('allows objects below the prefix, and lists that name it with its slash', () => {
    expect(policyOf(['s3://lake/a/orders'])).toEqual({
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: [
            's3:GetObject',
            's3:PutObject',
            's3:DeleteObject',
            's3:AbortMultipartUpload',
            's3:ListMultipartUploadParts',
          ],
          Resource: ['arn:aws:s3:::lake/a/orders/*'],
        },
        {
          Effect: 'Allow',
          Action: 's3:ListBucket',
          Resource: 'arn:aws:s3:::lake',
          Condition: { StringLike: { 's3:prefix': ['a/orders/*'] } },
        },
      ],
    })
  })

  it('allows nothing but reads to readers', () => {
    const [objects, lists] = policyOf(['s3://lake/a/orders'], 'read').Statement
    expect(objects.Action).toEqual(['s3:GetObject'])
    expect(lists.Action).toBe('s3:ListBucket')
  })

  it('covers several prefixes and buckets, and says what is covered twice once', () => {
    const prefixes = [
      's3://lake/a/t/data',
      's3://other/x',
      's3a://lake/a/t',
      's3://lake/b/',
      's3://lake/a/t',
    ]
    const { Statement } = policyOf(prefixes)
    expect(Statement[0].Resource).toEqual([
      'arn:aws:s3:::lake/a/t/*',
      'arn:aws:s3:::lake/b/*',
      'arn:aws:s3:::other/x/*',
    ])
    expect(Statement.slice(1).map((statement: { Resource: string }) => statement.Resource)).toEqual(
      ['arn:aws:s3:::lake', 'arn:aws:s3:::other'],
    )
    expect(Statement[1].Condition.StringLike['s3:prefix']).toEqual(['a/t/*', 'b/*'])
  })

  it('names the partition of the role', () => {
    const text = sessionPolicyOf({ prefixes: ['s3://lake/t'], access: 'read' }, 'aws-cn')
    expect(text).toContain('"arn:aws-cn:s3:::lake/t/*"')
    expect(text).not.toContain('arn:aws:')
  })

  it.each([
    's3://lake/*/*',
    's3://lake/f*/t1',
    's3://lake/foo/?',
    's3://lake/${aws:username}/t',
    's3://lake/$/t',
    's3://lake/a\\*',
  ])('refuses %j, which a policy would read as more than it says (B194)', (prefix) => {
    expect(reasonOf([prefix])).toBe('wildcard')
    expect(reasonOf(['s3://lake/fine', prefix])).toBe('wildcard')
  })

  it.each(['s3://lake', 's3://lake/', 's3://lake//'])('refuses the whole bucket %j', (prefix) => {
    expect(reasonOf([prefix])).toBe('whole-bucket')
  })

  it.each(['s3://lake/a/../b', 's3://lake/./b', 's3://lake/a//b', 'file:///a', 's3:///a', ''])(
    'throws LocationError for %j',
    (prefix) => {
      expect(() => reasonOf([prefix])).toThrow(LocationError)
    },
  )

  it('refuses more than fits instead of widening it', () => {
    const many = Array.from({ length: 60 }, (_, index) => `s3://lake/warehouse/table-${index}`)
    expect(reasonOf(many)).toBe('too-large')
    expect(reasonOf([`s3://lake/${'x'.repeat(1_000)}`])).toBe('too-large')
    expect(reasonOf(many.slice(0, 10))).toBeUndefined()
  })

  it('adds what a table gave up, the last first, as far as there is room and it can be said', () => {
    const resourcesOf = (former: readonly string[]) => {
      const scope = { prefixes: ['s3://lake/now'], former, access: 'read' as const }
      const text = sessionPolicyOf(scope)
      expect(text.length).toBeLessThanOrEqual(SESSION_POLICY_CHARACTERS_MAX)
      return JSON.parse(text).Statement[0].Resource as string[] // `as`: of a policy
    }
    const odd = ['s3://lake/st*r', 's3://lake', 's3://lake/now/inside', 's3://lake/before']
    expect(resourcesOf(odd)).toEqual(['arn:aws:s3:::lake/before/*', 'arn:aws:s3:::lake/now/*'])
    const many = Array.from({ length: 60 }, (_, index) => `s3://lake/warehouse/former-${index}`)
    const some = resourcesOf(many)
    expect(some.length).toBeGreaterThan(10)
    expect(some.length).toBeLessThan(60)
    expect(some).toContain('arn:aws:s3:::lake/warehouse/former-0/*')
    expect(some).toContain('arn:aws:s3:::lake/now/*')
    expect(some).not.toContain('arn:aws:s3:::lake/warehouse/former-59/*')
  })

  it('holds its prefixes literally, whatever their characters, or refuses them', () => {
    const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(segment, (text) => {
        const prefix = `s3://lake/w/${text.replaceAll('/', '-')}x`
        let policy: string
        try {
          policy = sessionPolicyOf({ prefixes: [prefix], access: 'read' })
        } catch (error) {
          return error instanceof UnvendableScopeError && /[*?$\\]/.test(text)
        }
        expect(policy.length).toBeLessThanOrEqual(SESSION_POLICY_CHARACTERS_MAX)
        const [resource] = JSON.parse(policy).Statement[0].Resource
        expect(resource).toBe(`arn:aws:s3:::${prefix.slice('s3://'.length)}/*`)
        return !/[*?$]/.test(text)
      }),
    )
  })
})
