import { openTestCatalog, type TestCatalog } from '@timelake/catalog/open-test-catalog'
import { readSettings } from '@timelake/timelake/contract/settings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAccounts, parseAudit, parseGrants } from './access-command.ts'
import { accounts, audit, grants } from './access.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './exit-code.ts'
import { UsageError } from './usage-error.ts'

describe('the words of accounts, grants and audit', () => {
  it.each([
    [parseAccounts, ['create', 'spark'], { body: { name: 'spark' } }],
    [
      parseAccounts,
      ['create', 'a', '--group', 'g', '--issuer', 'https://i'],
      { body: { name: 'a', kind: 'group', subject: 'g', issuer: 'https://i' } },
    ],
    [
      parseAccounts,
      ['rotate', 'a', '--keep-old', '10m'],
      { body: { 'old-secret-for-ms': 600_000n } },
    ],
    [
      parseGrants,
      ['add', 'a', 'reader', '--warehouse', 'w', '--namespace', 'x.y'],
      { body: { account: 'a', role: 'reader', warehouse: 'w', namespace: ['x', 'y'] } },
    ],
    [parseAudit, ['--outcome', 'denied'], { query: { outcome: 'denied', pageSize: '50' } }],
  ] as const)('%o of %j', (parse, args, expected) => {
    expect(parse([...args])).toMatchObject(expected)
  })

  it.each([
    [parseAccounts, []],
    [parseAccounts, ['create']],
    [parseAccounts, ['create', 'a', 'b']],
    [parseAccounts, ['create', 'a', '--subject', 's', '--group', 'g']],
    [parseAccounts, ['rotate', 'a', '--keep-old', 'long']],
    [parseAccounts, ['show', 'a', '--keep-old', '1s']],
    [parseGrants, ['add', 'a']],
    [parseGrants, ['remove']],
    [parseAudit, ['x']],
  ] as const)('%o refuses %j', (parse, args) => {
    expect(() => parse([...args])).toThrow(UsageError)
  })
})

describe('against a server', () => {
  let catalog: TestCatalog
  let printed: string[] = []
  let context: CommandContext

  beforeAll(async () => {
    catalog = await openTestCatalog({ config: { token: 'operator' } })
    context = {
      settings: readSettings({ TIMELAKE_URI: catalog.running.url, TIMELAKE_TOKEN: 'operator' }),
      print: (text: string) => void printed.push(text),
      send: (request: Request) => fetch(request),
      nowMs: catalog.clock.nowMs,
    } as unknown as CommandContext // `as`: the commands use no more of it
  })

  afterAll(() => catalog.stop())

  const run = async (words: readonly string[]): Promise<string> => {
    printed = []
    const [command, ...args] = words
    if (command === 'accounts') await accounts(parseAccounts(args), context)
    else if (command === 'grants') await grants(parseGrants(args), context)
    else await audit(parseAudit(args), context)
    return printed.join('\n')
  }

  it('makes an account, gives it a role, turns its secret and forgets it', async () => {
    expect(await run(['accounts', 'list'])).toBe('no accounts')
    const made = await run(['accounts', 'create', 'spark', '--description', 'the cluster'])
    expect(made).toMatch(/spark {2}service\n.*client id +spark\n.*tls_/)
    const granted = await run([
      'grants',
      'add',
      'spark',
      'writer',
      '--warehouse',
      'main',
      '--namespace',
      'a.b',
    ])
    expect(granted).toMatch(/spark {2}writer {2}main\.a\.b$/)
    const shown = await run(['accounts', 'show', 'spark'])
    expect(shown).toContain('the cluster')
    expect(shown).toContain('last used never')
    expect(shown).not.toContain('tls_')
    expect(await run(['accounts', 'rotate', 'spark'])).toMatch(
      /tls_.*\nthe one before is valid until/,
    )
    expect(await run(['accounts', 'disable', 'spark'])).toContain('spark  service  disabled')
    expect(await run(['accounts', 'enable', 'spark'])).not.toContain('disabled')
    const [id = ''] = granted.split(' ')
    expect(await run(['grants', 'list', '--account', 'spark'])).toBe(granted)
    expect(await run(['grants', 'remove', id])).toBe(`grant ${id} is taken back`)
    expect(await run(['grants', 'list'])).toBe('no grants')
    expect(await run(['accounts', 'delete', 'spark'])).toBe('account spark is forgotten')
    await expect(run(['accounts', 'show', 'spark'])).rejects.toThrow(CommandError)
    expect(await run(['accounts', 'list', '--json'])).toContain('"accounts":[]')
  })

  it('says what a first account means for an open server', async () => {
    const open = await openTestCatalog()
    const settings = readSettings({ TIMELAKE_URI: open.running.url })
    printed = []
    await accounts(parseAccounts(['create', 'first']), { ...context, settings })
    await open.stop()
    expect(printed.join('\n')).toContain('from its next start on')
    expect(await run(['accounts', 'create', 'another'])).not.toContain('from its next start on')
  })

  it('shows failed logins in the audit log', async () => {
    const form = { grant_type: 'client_credentials', client_id: 'eve', client_secret: 'x' }
    await catalog.call('POST', '/v1/oauth/tokens', { body: new URLSearchParams(form).toString() })
    const eve = () => run(['audit', '--action', 'getToken'])
    await expect.poll(eve, { timeout: 5_000 }).toMatch(/eve {2}getToken {2}denied 401/)
    expect(await run(['audit', '--outcome', 'failed', '--caller', 'eve'])).toBe('no entries')
  })
})
