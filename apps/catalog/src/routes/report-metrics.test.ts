import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
})
afterAll(() => catalog.stop())

const REPORT = {
  'report-type': 'scan-report',
  'table-name': 't',
  'snapshot-id': 9151314442816847871n,
}

it.each([
  ['a table that is not there yet', '/v1/main/namespaces/ns/tables/none/metrics', REPORT],
  [
    'a report of an unknown type',
    '/v1/main/namespaces/ns/tables/none/metrics',
    { 'report-type': 'x' },
  ],
  ['no body', '/v1/main/namespaces/nope/tables/none/metrics', ''],
])('answers 204 for %s', async (_what, path, body) => {
  expect((await catalog.call('POST', path, { body })).status).toBe(204)
})
