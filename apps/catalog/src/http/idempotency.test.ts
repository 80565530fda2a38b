import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { reserveIdempotencyKey } from '@timelake/database/idempotency'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody, SCHEMA } from '../test-bodies.ts'
import { errorOf, textAt } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog({ config: { isOnlyWriter: true } })
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

let keyCount = 0
const newKey = (): string => `aaaaaaaa-0000-4000-8000-${String((keyCount += 1)).padStart(12, '0')}`
const keyed = (key: string, method: string, path: string, body?: JsonObject | string) =>
  catalog.call(method, path, {
    headers: { 'idempotency-key': key },
    ...(body === undefined ? {} : { body }),
  })
const eventCount = async (): Promise<unknown> =>
  (await catalog.database.query('select count(*) as n from outbox_event'))[0]

/** Sends a call twice under one key and proves that the second changed nothing. */
async function twice(method: string, path: string, body?: JsonObject) {
  const key = newKey()
  const first = await keyed(key, method, path, body)
  const events = await eventCount()
  const second = await keyed(key, method, path, body)
  expect(await eventCount()).toEqual(events)
  return { first, second }
}

it('replays every mutation', async () => {
  const ns = '/v1/main/namespaces'
  const calls: readonly (readonly [string, string, JsonObject?])[] = [
    ['POST', ns, { namespace: ['k'], properties: { a: 'b' } }],
    ['POST', `${ns}/k/properties`, { updates: { c: 'd' }, removals: ['a', 'x'] }],
    ['POST', `${ns}/k/tables`, { name: 't', schema: SCHEMA }],
    ['POST', `${ns}/k/tables`, { name: 's', schema: SCHEMA, 'stage-create': true }],
    ['POST', `${ns}/k/tables/t`, { updates: [{ action: 'set-properties', updates: { e: 'f' } }] }],
    ['POST', `${ns}/k/tables/t`, { updates: [] }],
    [
      'POST',
      '/v1/main/tables/rename',
      {
        source: { namespace: ['k'], name: 't' },
        destination: { namespace: ['k'], name: 'u' },
      },
    ],
    ['DELETE', `${ns}/k/tables/u?purgeRequested=false`],
    ['DELETE', `${ns}/k`],
  ]
  for (const [method, path, body] of calls) {
    const { first, second } = await twice(method, path, body)
    expect(first.status, first.text).toBeLessThan(300)
    expect(second.status).toBe(first.status)
    // The namespace gained properties meanwhile, which an equivalent answer may show.
    if (path !== ns) expect(second.text).toBe(first.text)
  }
})

it('replays a registration', async () => {
  const table = await makeTable(catalog, { levels: ['ns'], name: 'r' })
  await catalog.call('DELETE', table.path)
  const body = { name: 'r', 'metadata-location': table.metadataLocation }
  const { first, second } = await twice('POST', '/v1/main/namespaces/ns/register', body)
  expect([first.status, second.status]).toEqual([200, 200])
  expect(second.text).toBe(first.text)
})

it('replays refusals, so that the same call never has two outcomes', async () => {
  const key = newKey()
  const body = { name: 'later', schema: SCHEMA }
  const path = '/v1/main/namespaces/soon/tables'
  const refused = await keyed(key, 'POST', path, body)
  expect(refused.status).toBe(404)
  await makeNamespace(catalog, ['soon'])
  const again = await keyed(key, 'POST', path, body)
  expect([again.status, again.text]).toEqual([404, refused.text])
  expect((await keyed(newKey(), 'POST', path, body)).status).toBe(200)
})

it('answers the repetition of a delete with 204, though the table is gone', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'gone' })
  const { first, second } = await twice('DELETE', path)
  expect([first.status, second.status]).toEqual([204, 204])
})

it('refuses a key that was used for another body, path or operation', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'used' })
  const change = (value: string) => ({
    updates: [{ action: 'set-properties', updates: { value } }],
  })
  const key = newKey()
  await keyed(key, 'POST', path, change('1'))
  const others = [
    await keyed(key, 'POST', path, change('2')),
    await keyed(key, 'POST', `${path}x`, change('1')),
    await keyed(key, 'DELETE', path),
  ]
  for (const answer of others) {
    expect(answer.status).toBe(409)
    expect(errorOf(answer).message).toContain('was used for another request')
  }
})

it.each(['x', '', '123', 'aaaaaaaa-0000-4000-8000-00000000000g'])(
  'refuses the key "%s"',
  async (key) => {
    const answer = await keyed(key, 'POST', '/v1/main/namespaces', { namespace: ['refused'] })
    expect(answer.status).toBe(400)
  },
)

it.each(['018f0000-0000-7000-8000-000000000001', 'AAAAAAAA-BBBB-1CCC-8DDD-EEEEEEEEEEEE'])(
  'takes a UUID of any version and case: %s',
  async (key) => {
    const answer = await keyed(key, 'POST', '/v1/main/namespaces', { namespace: [key] })
    expect(answer.status).toBe(200)
  },
)

it('lets a repetition wait for the call that runs', async () => {
  const { path, location } = await makeTable(catalog, { levels: ['ns'], name: 'together' })
  const key = newKey()
  const body = appendBody({ id: 5n, sequenceNumber: 1n, location })
  const answers = await Promise.all(Array.from({ length: 5 }, () => keyed(key, 'POST', path, body)))
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(answers[0]?.status).toBe(200)
})

it('takes over a key whose owner died before it did anything', async () => {
  const key = newKey()
  const path = '/v1/main/namespaces'
  const body = printJson({ namespace: ['dead'] })
  const requestHash = createHash('sha256')
  for (const part of [path, '', body]) requestHash.update(part).update('\u0000')
  await reserveIdempotencyKey(catalog.database, {
    warehouseId: catalog.warehouse.id,
    key,
    operation: 'createNamespace',
    requestHash: requestHash.digest('hex'),
    nowMs: catalog.clock.nowMs(),
    leaseMs: 60_000,
    lifetimeMs: 100_000,
  })
  expect((await keyed(key, 'POST', path, body)).status).toBe(200)
})

it('tells a repetition to wait while the call may run in another process', async () => {
  const shared = await openTestCatalog({ config: { isOnlyWriter: false } })
  const key = newKey()
  const path = '/v1/main/namespaces'
  const body = printJson({ namespace: ['elsewhere'] })
  const requestHash = createHash('sha256')
  for (const part of [path, '', body]) requestHash.update(part).update('\u0000')
  await reserveIdempotencyKey(shared.database, {
    warehouseId: shared.warehouse.id,
    key,
    operation: 'createNamespace',
    requestHash: requestHash.digest('hex'),
    nowMs: shared.clock.nowMs(),
    leaseMs: 60_000,
    lifetimeMs: 100_000,
  })
  const headers = { 'idempotency-key': key }
  const waiting = await shared.call('POST', path, { body, headers })
  expect(waiting.status).toBe(409)
  expect(waiting.headers['retry-after']).toBe('60')
  shared.clock.advance(60_001)
  expect((await shared.call('POST', path, { body, headers })).status).toBe(200)
  await shared.stop()
})

it('answers from the newest metadata when the file of the outcome was deleted', async () => {
  const { path } = await makeTable(catalog, { levels: ['ns'], name: 'cleaned' })
  const change = (value: string) => ({
    updates: [{ action: 'set-properties', updates: { value } }],
  })
  const key = newKey()
  const first = await keyed(key, 'POST', path, change('1'))
  const newest = await catalog.call('POST', path, { body: change('2') })
  rmSync(textAt(first.json, 'metadata-location').replace('file://', ''))
  const again = await keyed(key, 'POST', path, change('1'))
  expect([again.status, again.text]).toEqual([200, newest.text])
  await catalog.call('DELETE', path)
  rmSync(textAt(newest.json, 'metadata-location').replace('file://', ''))
  const unknown = await keyed(key, 'POST', path, change('1'))
  expect(unknown.status).toBe(500)
  expect(errorOf(unknown).type).toBe('CommitStateUnknownException')
})
