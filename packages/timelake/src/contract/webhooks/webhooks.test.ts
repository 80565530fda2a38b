import { parseJson } from '@timelake/iceberg/spec/json'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from './address-ranges.ts'
import { cloudEventText, subjectOf } from './cloud-event.ts'
import { isGivenUp, retryPauseMs } from './plan-retry.ts'
import { decodeWebhookFilter, webhookFilterJson } from './webhook-filter.ts'
import { decodeWebhookSecret, encodeWebhookSecret } from './webhook-secret.ts'
import { checkWebhookUrl } from './webhook-target.ts'

const KINDS = ['table-committed', 'table-dropped'] as const

describe('the filter of a webhook', () => {
  const decode = (text: string) => decodeWebhookFilter(parseJson(text), 'filter', KINDS)

  it.each([
    '{}',
    '{"kinds":["table-dropped"],"warehouses":["main"]}',
    '{"namespaces":[["a"],["b","c"]],"tables":[{"id":"x"},{"namespace":["a"],"name":"t"}]}',
  ])('is read and printed: %s', (text) => {
    const again = webhookFilterJson(decode(text))
    expect(again).toEqual(parseJson(text))
  })

  it.each([
    ['{"kind":[]}', 'filter: expected the members'],
    ['{"kinds":[]}', 'filter.kinds: expected 1 to 100 entries'],
    ['{"kinds":["table-comitted"]}', 'filter.kinds[0]: expected one of table-committed'],
    ['{"warehouses":[""]}', 'filter.warehouses[0]: expected 1 to 1000 characters'],
    ['{"namespaces":[[]]}', 'filter.namespaces[0]: expected 1 to 100 levels'],
    ['{"tables":[{"name":"t"}]}', 'filter.tables[0].namespace: expected list'],
    ['[]', 'filter: expected object'],
  ])('is refused: %s', (text, message) => {
    expect(() => decode(text)).toThrow(message)
    expect(() => decode(text)).toThrow(InvalidInputError)
  })
})

describe('the address of a receiver', () => {
  const inside = parseRange('10.0.0.0/8')
  const allowed = inside === undefined ? [] : [inside]
  const check = (text: string, ranges = allowed) => checkWebhookUrl(text, 'url', ranges).href

  it.each([
    ['https://receiver.example', 'https://receiver.example/'],
    ['https://receiver.example:8443/a?b=c', 'https://receiver.example:8443/a?b=c'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
  ])('may be %s', (text, normal) => expect(check(text, [])).toBe(normal))

  it.each(['http://10.0.0.1/', 'http://receiver.example/', 'https://10.255.0.1:8443/x'])(
    'may be %s where the settings name 10.0.0.0/8',
    (text) => expect(check(text)).toBe(text),
  )

  it.each([
    ...['', 'receiver', 'ftp://receiver.example/', 'file:///etc/passwd', 'https://'],
    ...['https://user:hunter2@receiver.example/', 'https://hunter2@receiver.example/'],
    ...['https://receiver.example/#hunter2', `https://receiver.example/${'x'.repeat(2_100)}`],
    ...['https://127.0.0.1/', 'https://localhost/', 'https://a.localhost./', 'https://[::1]/'],
    ...['https://0x7f.1/', 'https://169.254.169.254/latest', 'https://[fd00::1]/'],
    ...['http://8.8.8.8/', 'https://192.168.0.1/'],
  ])('is not %s', (text) => {
    expect(() => check(text)).toThrow(InvalidInputError)
    expect(() => check(text)).toThrow(/^url: expected (?!.*hunter2)/)
  })

  it('needs https where the settings name nothing', () => {
    expect(() => check('http://receiver.example/', [])).toThrow('expected an https URL')
  })
})

describe('pauses between attempts', () => {
  it('double up to five minutes, and chance takes away up to a half', () => {
    const pauses = [1, 2, 3, 9, 10, 1_000_000].map((count) => retryPauseMs(count, 0))
    expect(pauses).toEqual([1_000, 2_000, 4_000, 256_000, 300_000, 300_000])
    expect(retryPauseMs(2, 1)).toBe(1_000)
    expect(retryPauseMs(0, 0)).toBe(1_000)
  })

  it('are what the receiver asks for, up to an hour', () => {
    expect(retryPauseMs(1, 0.5, 5_000)).toBe(5_000)
    expect(retryPauseMs(9, 0.5, 86_400_000)).toBe(3_600_000)
  })
})

describe('giving an event up', () => {
  const policy = { attemptsMax: 3, retryForMs: 100 }
  const tried = (attempts: number, ageMs: number) => ({
    attempts,
    firstAttemptAtMs: 1_000,
    nowMs: 1_000 + ageMs,
  })
  it.each([
    ['refused', 2, 0, false],
    ['refused', 3, 0, true],
    ['refused', 1, 100, true],
    ['failed', 99, 99, false],
    ['failed', 1, 100, true],
    ['away', 99, 99, false],
    ['away', 1, 100, true],
    ['gone', 99, 100, false],
  ] as const)('%s, attempt %i, %i ms old: %s', (outcome, attempts, ageMs, isDead) => {
    expect(isGivenUp({ outcome, reason: '' }, tried(attempts, ageMs), policy)).toBe(isDead)
  })
})

describe('the secret of a webhook', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (bytes) => {
        const text = encodeWebhookSecret(bytes)
        expect(Uint8Array.from(decodeWebhookSecret(text, 'secret'))).toEqual(bytes)
      }),
    )
  })

  it.each([
    '',
    'hunter2',
    `whsec_${'A'.repeat(30)}`,
    `whsec_${'A'.repeat(31)}*`,
    `whsec_${'A'.repeat(100)}`,
  ])('is not %s, which the error does not repeat', (text) => {
    expect(() => decodeWebhookSecret(text, 'secret')).toThrow(
      'secret: expected whsec_ and 24 to 64 bytes in base64, found another text',
    )
  })
})

describe('the envelope of an event', () => {
  it('is the same text whenever it is made, and sorts as its numbers do', () => {
    const event = {
      eventId: '0190-ab-12',
      eventNumber: 12n,
      kind: 'table-committed',
      warehouse: 'team a/prod',
      levels: ['a', 'b'],
      name: 't',
      createdAtMs: 1_700_000_000_123,
      data: { n: 1n },
    }
    expect(cloudEventText(event)).toBe(
      '{"specversion":"1.0","id":"0190-ab-12","source":"/warehouses/team%20a%2Fprod",' +
        '"type":"timelake.table-committed","subject":"a.b.t","time":"2023-11-14T22:13:20.123Z",' +
        '"partitionkey":"0190-ab","sequence":"0000000000000000012","datacontenttype":"application/json","data":{"n":1}}',
    )
  })

  it('names the subject of an event by its id', () => {
    expect(subjectOf('a-b-c-7')).toBe('a-b-c')
  })
})
