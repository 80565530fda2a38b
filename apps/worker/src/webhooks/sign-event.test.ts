import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { encodeWebhookSecret } from '@timelake/timelake/contract/webhooks/webhook-secret'
import { afterAll, describe, expect, it } from 'vitest'
import { signEvent } from './sign-event.ts'

const NOW_MS = 1_700_000_000_999
const KEY = Buffer.alloc(32, 4)
const OTHER_KEY = Buffer.alloc(32, 5)
const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0
const BODY = '{"name":"Käse, 温度"}'

const docs = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8')
const sample = (language: string): string => {
  const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(docs)?.[1]
  if (found === undefined) throw new Error(`docs/webhooks.md has no ${language} sample`)
  return found
}
const directory = mkdtempSync(join(tmpdir(), 'timelake-sample-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const sign = (body = BODY, keys: readonly Uint8Array[] = [KEY]) =>
  signEvent({ id: 't-1', nowMs: NOW_MS, body, keys })

describe('the signature of an event', () => {
  it('is the one that Standard Webhooks prescribes', () => {
    // The example of the specification's own libraries.
    const keys = [Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')]
    const body = '{"test": 2432232314}'
    const nowMs = 1_614_265_330_000
    const signed = signEvent({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', nowMs, body, keys })
    expect(signed).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  type Check = (headers: object, body: string, secret: string, nowSeconds: number) => boolean

  const cases: readonly [string, Parameters<Check>, boolean][] = [
    ['is accepted', [sign(), BODY, encodeWebhookSecret(KEY), NOW_MS / 1000], true],
    [
      'is accepted beside another',
      [sign(BODY, [OTHER_KEY, KEY]), BODY, encodeWebhookSecret(KEY), NOW_MS / 1000],
      true,
    ],
    ['of another body is not', [sign('{}'), BODY, encodeWebhookSecret(KEY), NOW_MS / 1000], false],
    [
      'of another secret is not',
      [sign(), BODY, encodeWebhookSecret(OTHER_KEY), NOW_MS / 1000],
      false,
    ],
    ['of long ago is not', [sign(), BODY, encodeWebhookSecret(KEY), NOW_MS / 1000 + 302], false],
    ['of the future is not', [sign(), BODY, encodeWebhookSecret(KEY), NOW_MS / 1000 - 302], false],
    [
      'under another id is not',
      [{ ...sign(), 'webhook-id': 't-2' }, BODY, encodeWebhookSecret(KEY), NOW_MS / 1000],
      false,
    ],
  ]

  it.each(cases)('%s by the JavaScript of the documentation', async (_, args, isAccepted) => {
    const path = join(directory, 'sample.mjs')
    writeFileSync(path, sample('js'))
    const { isFromTimelake } = (await import(pathToFileURL(path).href)) as { isFromTimelake: Check }
    expect(isFromTimelake(...args)).toBe(isAccepted)
  })

  it.skipIf(!HAS_PYTHON).each(cases)(
    '%s by the Python of the documentation (skipped without python3)',
    (_, args, isAccepted) => {
      const [headers, body, secret, now] = args
      const program = `${sample('python')}\nimport json, sys\nargs = json.load(sys.stdin)\nprint(is_from_timelake(args[0], args[1].encode(), args[2], args[3]))`
      const input = JSON.stringify([headers, body, secret, now])
      const printed = execFileSync('python3', ['-c', program], { input, encoding: 'utf8' })
      expect(printed.trim()).toBe(isAccepted ? 'True' : 'False')
    },
  )
})
