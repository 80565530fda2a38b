import type { AuditEntry } from '@timelake/database/audit-log'
import type { JsonValue } from '@timelake/iceberg/spec/json-value'
import { expect, it } from 'vitest'
import { openTestCatalog } from '../open-test-catalog.ts'
import { member, textAt } from '../test-json.ts'
import { NotedRefusals } from './noted-refusals.ts'

function openRefusals() {
  const entries: AuditEntry[] = []
  const counted: Record<string, number> = {}
  let nowMs = 1_000
  const refusals = new NotedRefusals({
    audit: { record: (entry) => void entries.push(entry) },
    counter: {
      inc: (labels: unknown) => {
        const { reason } = labels as { reason: string } // `as`: the only overload that is used
        counted[reason] = (counted[reason] ?? 0) + 1
      },
    },
    nowMs: () => nowMs,
  })
  const note = (reason: 'missing' | 'invalid' | 'expired', remoteAddress = '10.0.0.1') =>
    refusals.note({ reason, action: 'loadTable', remoteAddress })
  return { note, entries, counted, advance: (ms: number) => (nowMs += ms) }
}

it('counts every refusal, and writes one of each address and reason in a minute', () => {
  const { note, entries, counted, advance } = openRefusals()
  for (let time = 0; time < 5; time += 1) {
    note('invalid')
    note('expired')
    note('missing')
  }
  note('invalid', '10.0.0.2')
  expect(counted).toEqual({ invalid: 6, expired: 5, missing: 5 })
  expect(entries.map(({ remoteAddress, detail }) => [remoteAddress, detail])).toEqual([
    ['10.0.0.1', 'the token is not valid'],
    ['10.0.0.1', 'the token is expired'],
    ['10.0.0.2', 'the token is not valid'],
  ])
  expect(entries[0]).toMatchObject({
    callerKind: 'unknown',
    action: 'loadTable',
    outcome: 'denied',
    status: 401,
    atMs: 1_000,
  })
  advance(60_000)
  note('invalid')
  expect(entries.at(-1)?.detail).toBe('the token is not valid; 4 more since the last entry')
})

it('cannot be made to fill the log from many addresses', () => {
  const { note, entries, counted, advance } = openRefusals()
  const flood = () => {
    for (let address = 0; address < 5_000; address += 1) note('invalid', `10.1.${address}`)
  }
  flood()
  expect(entries).toHaveLength(20)
  advance(59_999)
  flood()
  expect(entries).toHaveLength(20)
  advance(1)
  flood()
  expect(entries).toHaveLength(40)
  expect(counted).toEqual({ invalid: 15_000 })
})

it('is told to whoever reads the log and the metrics, without the token', async () => {
  const catalog = await openTestCatalog({ config: { token: 'operator-token' } })
  const ask = (authorization?: string) =>
    catalog.call('GET', '/v1/main/namespaces', {
      headers: authorization === undefined ? {} : { authorization },
    })
  for (let time = 0; time < 3; time += 1) {
    expect((await ask('Bearer guessed-token')).status).toBe(401)
    expect((await ask()).status).toBe(401)
  }
  const headers = { authorization: 'Bearer operator-token' }
  const denied = async () => {
    const { json } = await catalog.call('GET', '/admin/v1/audit', { headers })
    const entries = member(json, 'entries') as readonly JsonValue[] // `as`: a list
    return entries.filter((entry) => textAt(entry, 'outcome') === 'denied')
  }
  await expect.poll(async () => (await denied()).length).toBe(1)
  const [entry] = await denied()
  expect(entry).toMatchObject({ action: 'listNamespaces', detail: 'the token is not valid' })
  expect(entry).toHaveProperty('remote-address')
  const metrics = await catalog.call('GET', '/metrics', { headers })
  expect(metrics.text).toContain('timelake_tokens_refused_total{reason="invalid"} 3')
  expect(metrics.text).toContain('timelake_tokens_refused_total{reason="missing"} 3')
  expect(catalog.log.join('\n')).not.toContain('guessed-token')
  await catalog.stop()
})
