import { expect } from 'vitest'
import { decodeLoadTableResult } from '@timelake/iceberg/rest/load-table-json'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TestCatalog } from './open-test-catalog.ts'
import { appendBody } from './test-bodies.ts'
import { makeTable } from './test-tables.ts'

/** Snapshots that a table of this test keeps, so that the size of its metadata does not grow with the test. */
const SNAPSHOTS_MAX = 20

/**
 * Appends through one catalog after the other; after each commit the other one must load exactly what was answered, and
 * answer 304 only to who has that. Each append requires the one before it, so a lost update would be refused.
 */
export async function alternateCommits(
  [first, second]: readonly [TestCatalog, TestCatalog],
  { levels, name, commits }: { levels: readonly string[]; name: string; commits: number },
): Promise<void> {
  const { path, location } = await makeTable(first, { levels, name })
  let staleTag = ''
  for (let id = 1n; id <= BigInt(commits); id += 1n) {
    const [writer, reader] = id % 2n === 0n ? [first, second] : [second, first]
    const append = appendBody({
      id,
      sequenceNumber: id,
      location,
      ...(id === 1n ? {} : { parent: id - 1n }),
    })
    const committed = await writer.call('POST', path, { body: withExpiry(append, id) })
    expect(committed.status, committed.text).toBe(200)
    const loaded = await reader.call('GET', path, { headers: { 'if-none-match': staleTag } })
    expect(loaded.status).toBe(200)
    expect(loaded.text).toBe(committed.text)
    expect(loaded.headers.etag).toBe(committed.headers.etag)
    staleTag = String(loaded.headers.etag)
  }
  const { text } = await first.call('GET', path)
  const { metadata } = decodeLoadTableResult(text)
  expect(metadata.currentSnapshotId).toBe(BigInt(commits))
  expect(metadata.lastSequenceNumber).toBe(BigInt(commits))
}

function withExpiry(append: JsonObject, id: bigint): JsonObject {
  const old = id - BigInt(SNAPSHOTS_MAX)
  if (old < 1n) return append
  const expire = { action: 'remove-snapshots', 'snapshot-ids': [old] }
  return { ...append, updates: [...(append['updates'] as JsonObject[]), expire] }
}
