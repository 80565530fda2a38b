import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { errorOf, textAt } from '../test-json.ts'
import { makeNamespace } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

it('sets, removes and names what was missing', async () => {
  const path = await makeNamespace(catalog, ['a'], { keep: '1', gone: '2' })
  const body = { updates: { new: 'x', keep: '3' }, removals: ['gone', 'never', 'never'] }
  const answer = await catalog.call('POST', `${path}/properties`, { body })
  expect(answer.status).toBe(200)
  expect(answer.json).toEqual({ updated: ['new', 'keep'], removed: ['gone'], missing: ['never'] })
  const { json } = await catalog.call('GET', path)
  expect(json).toMatchObject({ properties: { keep: '3', new: 'x' } })
})

it('takes an empty request', async () => {
  const path = await makeNamespace(catalog, ['b'])
  const answer = await catalog.call('POST', `${path}/properties`, { body: {} })
  expect(answer.json).toEqual({ updated: [], removed: [], missing: [] })
})

it('refuses to set and remove one key', async () => {
  const body = { updates: { a: 'b' }, removals: ['a'] }
  const answer = await catalog.call('POST', '/v1/main/namespaces/a/properties', { body })
  expect(answer.status).toBe(422)
  expect(errorOf(answer)).toEqual({
    type: 'UnprocessableEntityException',
    code: 422,
    message: 'Invalid namespace update, cannot simultaneously set and remove keys: [a]',
  })
})

it('answers 404 for a namespace that is missing and 400 for a bad body', async () => {
  const missing = '/v1/main/namespaces/nope/properties'
  expect((await catalog.call('POST', missing, { body: { updates: { a: 'b' } } })).status).toBe(404)
  for (const body of [{ updates: ['a'] }, { removals: 'a' }, { updates: { a: 1n } }, '{']) {
    const answer = await catalog.call('POST', '/v1/main/namespaces/a/properties', { body })
    expect(answer.status).toBe(400)
  }
})

it('B193: refuses to move the location outside, and computes it again when it is removed', async () => {
  const path = await makeNamespace(catalog, ['c'])
  const change = (body: JsonObject) => catalog.call('POST', `${path}/properties`, { body })
  const before = textAt((await catalog.call('GET', path)).json, 'properties', 'location')
  expect((await change({ updates: { location: 's3://other/x' } })).status).toBe(400)
  const inside = `${catalog.warehouse.location}/moved`
  expect((await change({ updates: { location: inside } })).status).toBe(200)
  expect((await change({ removals: ['location'] })).json).toMatchObject({ removed: ['location'] })
  expect((await catalog.call('GET', path)).json).toMatchObject({ properties: { location: before } })
})
