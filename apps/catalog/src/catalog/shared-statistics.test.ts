import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { appendBody } from '../test-bodies.ts'
import { member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

it('keeps a statistics file that two snapshots name when one of them goes (B071)', async () => {
  const { path, location } = await makeTable(catalog, { levels: ['ns'], name: 't' })
  const commit = async (body: JsonObject) => {
    const answer = await catalog.call('POST', path, { body })
    expect(answer.status, answer.text).toBe(200)
    return member(answer.json, 'metadata', 'statistics')
  }
  await commit(appendBody({ id: 1n, sequenceNumber: 1n, location }))
  await commit(appendBody({ id: 2n, parent: 1n, sequenceNumber: 2n, location }))
  const file = `${location}/metadata/shared.puffin`
  writeFileSync(fileURLToPath(file), 'statistics')
  const statisticsOf = (snapshotId: bigint, sizeBytes = 10n): JsonObject => ({
    'snapshot-id': snapshotId,
    'statistics-path': file,
    'file-size-in-bytes': sizeBytes,
    'file-footer-size-in-bytes': 4n,
    'blob-metadata': [],
  })
  const set = (statistics: JsonObject) => ({ updates: [{ action: 'set-statistics', statistics }] })
  await commit(set(statisticsOf(1n)))
  await commit(set(statisticsOf(2n, 9n)))
  // A second one for a snapshot replaces its first.
  expect(await commit(set(statisticsOf(2n)))).toEqual([statisticsOf(1n), statisticsOf(2n)])
  const expiry = { updates: [{ action: 'remove-snapshots', 'snapshot-ids': [1n] }] }
  expect(await commit(expiry)).toEqual([statisticsOf(2n)])
  expect(existsSync(fileURLToPath(file))).toBe(true)
})
