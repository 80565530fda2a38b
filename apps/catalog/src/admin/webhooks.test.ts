import { EVENT_KINDS } from '@timelake/database/outbox'
import { leaseWebhook, recordWebhookTest, settleWebhook } from '@timelake/database/webhook-sending'
import { findWebhook, type WebhookDelivery } from '@timelake/database/webhooks'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { noSecretBox, openSecretBox } from '@timelake/storage/secret-box'
import { waitFor } from '@timelake/testing/wait-for'
import { parseRange } from '@timelake/timelake/contract/webhooks/address-ranges'
import { secretContext } from '@timelake/timelake/contract/webhooks/webhook-secret'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../on-each-database.ts'
import { openTestCatalog, type TestAnswer, type TestCatalog } from '../open-test-catalog.ts'
import { errorOf, member, textAt } from '../test-json.ts'

const WEBHOOKS = '/admin/v1/webhooks'
const URL_TEXT = 'https://receiver.example/hook?token=hunter2'
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const INSIDE = parseRange('10.0.0.0/8')

const secretBox = openSecretBox({ key: Buffer.alloc(32, 3).toString('base64') })

describeOnEachDatabase('webhooks', (on) => {
  let catalog: TestCatalog
  beforeAll(async () => {
    invariant(INSIDE !== undefined, 'the range is written right')
    catalog = await openTestCatalog({
      on,
      secretBox,
      config: { webhookAllowedAddresses: [INSIDE] },
    })
  })
  afterAll(() => catalog.stop())

  let count = 0
  const call = (method: string, path: string, body?: JsonValue): Promise<TestAnswer> =>
    catalog.call(method, `${WEBHOOKS}${path}`, body === undefined ? {} : { body })
  const create = (body: JsonObject): Promise<TestAnswer> =>
    call('POST', '', { name: `hook${++count}`, url: URL_TEXT, ...body })
  const made = async (body: JsonObject = {}): Promise<string> => {
    const answer = await create(body)
    expect(answer.status, answer.text).toBe(201)
    return textAt(answer.json, 'name')
  }
  const row = async (name: string) => {
    const found = await findWebhook(catalog.database, name)
    invariant(found !== undefined, `webhook ${name} is there`)
    return found
  }

  it('is made from a description and shown with its secret once', async () => {
    const filter = { kinds: ['table-committed'], namespaces: [['a', 'b']] }
    const answer = await create({ filter, 'attempts-max': 5n, 'retry-for-ms': 60_000n })
    expect(answer.status, answer.text).toBe(201)
    const { secret, ...shown } = answer.json as JsonObject
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toMatchObject({
      url: URL_TEXT,
      filter,
      'attempts-max': 5n,
      'retry-for-ms': 60_000n,
      version: 0n,
      state: 'active',
      'paused-reason': null,
      'waiting-events': 0n,
      'dead-letters': 0n,
      'delivered-events': 0n,
      'last-failure': null,
    })
    const path = `/${textAt(shown, 'name')}`
    const again = await call('GET', path)
    expect(again.json).toEqual(shown)
    const list = await call('GET', '')
    expect(member(list.json, 'webhooks')).toContainEqual(shown)
    expect(again.text + list.text).not.toContain('secret":"')
    const { id, sealedSecret } = await row(textAt(shown, 'name'))
    expect(sealedSecret).not.toContain(String(secret))
    expect(secretBox.open(sealedSecret, secretContext(id))).toBe(secret)
    const log = catalog.log.join('')
    for (const hidden of [String(secret), 'hunter2']) expect(log).not.toContain(hidden)
    expect((await call('DELETE', path)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) {
      const gone = await call(method, path)
      expect([gone.status, errorOf(gone).type]).toEqual([404, 'NoSuchWebhookException'])
    }
  })

  it('takes a secret of the caller', async () => {
    expect(textAt((await create({ secret: SECRET })).json, 'secret')).toBe(SECRET)
  })

  it('keeps its name to itself', async () => {
    const name = await made()
    const second = await create({ name })
    expect([second.status, errorOf(second).type]).toEqual([409, 'AlreadyExistsException'])
  })

  it.each<[string, JsonObject]>([
    ['name: ', { name: '' }],
    ['name: ', { name: 'a\u0000' }],
    ['url: ', { url: 'ftp://receiver.example/' }],
    ['url: ', { url: 'https://u:hunter2@receiver.example/' }],
    ['url: expected a public address', { url: 'https://127.0.0.1/hunter2' }],
    ['url: expected a public address', { url: 'https://169.254.169.254/latest' }],
    ['url: ', { url: 7n }],
    ['filter.kinds[0]: ', { filter: { kinds: ['hunter3'] } }],
    ['filter: expected the members', { filter: { kind: [] } }],
    ['attempts-max: ', { 'attempts-max': 0n }],
    ['retry-for-ms: ', { 'retry-for-ms': 59_999n }],
    ['secret: expected whsec_', { secret: 'hunter2' }],
    ['after: ', { after: 'hunter3' }],
    ['expected the members', { uri: 'x' }],
  ])('is refused with %s', async (message, body) => {
    const answer = await create(body)
    expect([answer.status, errorOf(answer).type]).toEqual([400, 'IllegalArgumentException'])
    expect(errorOf(answer).message).toContain(message)
    expect(answer.text).not.toContain('hunter2')
  })

  it('may lead to an address that the settings name', async () => {
    await made({ url: 'http://10.1.2.3:8080/hook' })
  })

  it('is changed member by member, from the version that the caller knows', async () => {
    const name = await made()
    const changed = await call('PATCH', `/${name}`, { 'attempts-max': 7n, version: 0n })
    expect(changed.json).toMatchObject({ 'attempts-max': 7n, url: URL_TEXT, version: 1n })
    const stale = await call('PATCH', `/${name}`, { url: 'https://other.example/', version: 0n })
    expect([stale.status, errorOf(stale).type]).toEqual([409, 'WebhookChangedException'])
    const other = await call('PATCH', `/${name}`, { url: 'https://other.example/' })
    expect(other.json).toMatchObject({ url: 'https://other.example/', version: 2n })
    expect((await call('PATCH', `/${name}`, { url: 'https://[::1]/' })).status).toBe(400)
    expect((await call('PATCH', '/nobody', {})).status).toBe(404)
  })

  it('is paused and resumed', async () => {
    const name = await made()
    const paused = await call('POST', `/${name}/pause`, { reason: 'rebuilding' })
    expect(paused.json).toMatchObject({ state: 'paused', 'paused-reason': 'rebuilding' })
    const resumed = await call('POST', `/${name}/resume`)
    expect(resumed.json).toMatchObject({ state: 'active', 'paused-reason': null })
    const again = await call('POST', `/${name}/pause`)
    expect(textAt(again.json, 'paused-reason')).toBe('paused by an operator')
  })

  it('gets another secret, beside which the old one signs for a while', async () => {
    const name = await made({ secret: SECRET })
    const old = await row(name)
    const answer = await call('POST', `/${name}/secret`, { 'old-secret-for-ms': 1_000n })
    expect(answer.status, answer.text).toBe(200)
    const now = await row(name)
    expect(now.oldSecretUntilMs).toBe(catalog.clock.nowMs() + 1_000)
    expect(now.sealedOldSecret).toBe(old.sealedSecret)
    const opened = secretBox.open(now.sealedSecret, secretContext(now.id))
    expect(opened).toBe(textAt(answer.json, 'secret'))
    expect(opened).not.toBe(SECRET)
  })

  it('tells what came of a trial, and when nobody tried', async () => {
    const name = await made()
    const asked = call('POST', `/${name}/test`)
    const { id, testId } = await waitFor(
      async () => {
        const now = await row(name)
        return now.testId === undefined ? undefined : { id: now.id, testId: now.testId }
      },
      { timeoutMs: 5_000 },
    )
    const outcome = '{"delivered":false,"reason":"the receiver answered 500","took-ms":12}'
    await recordWebhookTest(catalog.database, { webhookId: id, testId, outcome })
    expect((await asked).json).toEqual({
      'event-id': testId,
      delivered: false,
      reason: 'the receiver answered 500',
      'took-ms': 12n,
    })
    const first = call('POST', `/${name}/test`)
    await waitFor(async () => (await row(name)).testId !== testId, { timeoutMs: 5_000 })
    await catalog.database.query(`update webhook set test_id = 'another' where id = $1`, [id])
    expect((await first).json).toMatchObject({ delivered: null })
  })

  const deadLetter = (eventId: string): WebhookDelivery => ({
    eventId,
    subject: 't',
    eventNumber: 1n,
    kind: 'table-committed',
    body: `{"id":"${eventId}"}`,
    attempts: 3,
    firstAttemptAtMs: 1,
    nextAttemptAtMs: 2,
    lastFailure: 'the receiver answered 422',
    givenUpAtMs: 9,
  })
  const giveUp = async (name: string, eventIds: readonly string[]): Promise<void> => {
    const { id: webhookId, placeVersion, version } = await row(name)
    const lease = { webhookId, holder: 'test', nowMs: 0, leaseMs: 1 }
    expect(await leaseWebhook(catalog.database, lease)).toBeDefined()
    const settled = await settleWebhook(catalog.database, {
      ...lease,
      placeVersion,
      version,
      deliveredIds: [],
      kept: eventIds.map(deadLetter),
    })
    expect(settled).toBe('settled')
  }

  it('shows its dead letters in pages, sends them again and forgets them', async () => {
    const name = await made()
    await giveUp(name, ['t-1', 't-2', 't-3'])
    const seen: string[] = []
    for (let token: JsonValue = ''; token !== null;) {
      const page = await call('GET', `/${name}/dead-letters?pageSize=2&pageToken=${String(token)}`)
      const letters = member(page.json, 'dead-letters') as readonly JsonObject[]
      seen.push(...letters.map((letter) => textAt(letter, 'event-id')))
      expect(letters[0]).toMatchObject({
        attempts: 3n,
        'last-failure': 'the receiver answered 422',
      })
      token = member(page.json, 'next-page-token')
    }
    expect(seen).toEqual(['t-1', 't-2', 't-3'])
    const one = await call('POST', `/${name}/replay`, { 'dead-letter': 't-2' })
    expect([one.status, one.json]).toEqual([202, { 'dead-letters': 1n }])
    expect((await call('GET', `/${name}`)).json).toMatchObject({
      'waiting-events': 1n,
      'dead-letters': 2n,
    })
    const gone = await call('DELETE', `/${name}/dead-letters?event-id=t-1`)
    expect(gone.json).toEqual({ 'dead-letters': 1n })
    expect((await call('POST', `/${name}/replay`, { 'dead-letters': true })).json).toEqual({
      'dead-letters': 1n,
    })
    expect((await call('DELETE', `/${name}/dead-letters`)).json).toEqual({ 'dead-letters': 0n })
    expect((await call('DELETE', `/${name}/dead-letters?event-id=%00`)).status).toBe(400)
  })

  it('goes back to an event, to a cursor and to the oldest event', async () => {
    const name = await made()
    const now = (await row(name)).feedCursor
    const made1 = await catalog.call('POST', '/v1/main/namespaces', {
      body: { namespace: [`replay${++count}`] },
    })
    expect(made1.status).toBe(200)
    const [event] = await catalog.database.query<{ event_id: string; seq: bigint }>(
      'select event_id, seq from outbox_event order by seq desc limit 1',
    )
    invariant(event !== undefined, 'a namespace was made')
    const back = await call('POST', `/${name}/replay`, { 'event-id': event.event_id })
    expect(back.status, back.text).toBe(202)
    expect((await row(name)).feedCursor).toMatch(new RegExp(`\\.${event.seq - 1n}$`))
    expect((await call('POST', `/${name}/replay`, { after: now })).status).toBe(202)
    expect(await row(name)).toMatchObject({ feedCursor: now, placeVersion: 2n })
    expect((await call('POST', `/${name}/replay`, { after: 'start' })).status).toBe(202)
    const pruned = await call('POST', `/${name}/replay`, { after: '00000000.1.0' })
    expect(pruned.status, pruned.text).toBe(410)
    expect((await call('POST', `/${name}/replay`, { 'event-id': 'x-1' })).status).toBe(410)
  })

  it.each([{}, { after: 'x', 'dead-letters': true }, { 'dead-letters': false }, { since: 'x' }])(
    'is not replayed by %j',
    async (body) => {
      const name = await made()
      expect((await call('POST', `/${name}/replay`, body)).status).toBe(400)
    },
  )

  it('knows every kind of event', async () => {
    const answer = await create({ filter: { kinds: [...EVENT_KINDS] } })
    expect(answer.status, answer.text).toBe(201)
  })

  it('comes a hundred times and not more', async () => {
    const list = await call('GET', '')
    const there = (member(list.json, 'webhooks') as readonly JsonValue[]).length
    for (let more = there; more < 100; more += 1) await made()
    const answer = await create({})
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain('expected at most 100 webhooks')
    await catalog.database.query('delete from webhook')
  })
})

describe('webhooks without TIMELAKE_SECRET_KEY', () => {
  it('are refused with the name of the variable', async () => {
    const catalog = await openTestCatalog({ secretBox: noSecretBox() })
    const body = { name: 'x', url: URL_TEXT }
    const answer = await catalog.call('POST', WEBHOOKS, { body })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).message).toContain('TIMELAKE_SECRET_KEY')
    await catalog.stop()
  })
})
