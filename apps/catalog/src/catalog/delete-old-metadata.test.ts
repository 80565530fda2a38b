import { afterAll, beforeAll, expect, it } from 'vitest'
import { readFileSync, rmSync } from 'node:fs'
import { waitFor } from '@timelake/testing/wait-for'
import { openTestCatalog, type TestCatalog } from '../open-test-catalog.ts'
import { listFiles } from '../test-files.ts'
import { member } from '../test-json.ts'
import { makeNamespace, makeTable } from '../test-tables.ts'

let catalog: TestCatalog
beforeAll(async () => {
  catalog = await openTestCatalog()
  await makeNamespace(catalog, ['ns'])
})
afterAll(() => catalog.stop())

const metadataFiles = (location: string) =>
  listFiles(location.replace('file://', '')).filter((path) => path.endsWith('.metadata.json'))

async function makeCleaned(name: string, properties: Record<string, string>) {
  return makeTable(catalog, { levels: ['ns'], name, more: { properties } })
}

async function commitTimes(path: string, times: number): Promise<void> {
  for (let value = 0; value < times; value += 1) {
    const updates = [{ action: 'set-properties', updates: { value: String(value) } }]
    expect((await catalog.call('POST', path, { body: { updates } })).status).toBe(200)
  }
}

it('keeps every file unless the table asks otherwise', async () => {
  const { path, location } = await makeCleaned('kept', {
    'write.metadata.previous-versions-max': '2',
  })
  await commitTimes(path, 5)
  expect(metadataFiles(location)).toHaveLength(6)
  const { json } = await catalog.call('GET', path)
  expect(member(json, 'metadata', 'metadata-log')).toHaveLength(2)
})

it('deletes what falls out of the log, after the commit', async () => {
  const { path, location } = await makeCleaned('cleaned', {
    'write.metadata.previous-versions-max': '2',
    'write.metadata.delete-after-commit.enabled': 'true',
  })
  await commitTimes(path, 6)
  await waitFor(() => metadataFiles(location).length === 3, { timeoutMs: 5_000 })
  const remaining = metadataFiles(location)
  const { json } = await catalog.call('GET', path)
  const log = member(json, 'metadata', 'metadata-log') as { 'metadata-file': string }[]
  const named = [...log.map((entry) => entry['metadata-file']), member(json, 'metadata-location')]
  expect(remaining.map((file) => `file://${file}`).sort()).toEqual(named.sort())
})

it('deletes what was replaced too long ago, gzipped files too', async () => {
  const { path, location } = await makeCleaned('aged', {
    'timelake.metadata.previous-versions-max-age-ms': '60000',
    'write.metadata.delete-after-commit.enabled': 'true',
    'write.metadata.compression-codec': 'gzip',
  })
  await commitTimes(path, 4)
  expect(metadataFiles(location)).toHaveLength(5)
  catalog.clock.advance(120_000)
  await commitTimes(path, 2)
  await waitFor(() => metadataFiles(location).length === 3, { timeoutMs: 5_000 })
  for (const file of metadataFiles(location)) {
    expect(file).toMatch(/\.gz\.metadata\.json$/)
    expect([...readFileSync(file).subarray(0, 2)]).toEqual([0x1f, 0x8b])
  }
  const { json } = await catalog.call('GET', path)
  expect(member(json, 'metadata', 'metadata-log')).toHaveLength(2)
})

it('does not mind clients that delete first', async () => {
  const { path, location } = await makeCleaned('raced', {
    'write.metadata.previous-versions-max': '1',
    'write.metadata.delete-after-commit.enabled': 'true',
  })
  for (let round = 0; round < 4; round += 1) {
    await commitTimes(path, 1)
    const { json } = await catalog.call('GET', path)
    const current = String(member(json, 'metadata-location')).replace('file://', '')
    for (const file of metadataFiles(location)) if (file !== current) rmSync(file, { force: true })
  }
  expect((await catalog.call('GET', path)).status).toBe(200)
  expect(catalog.log.join('')).not.toContain('background task failed')
})
