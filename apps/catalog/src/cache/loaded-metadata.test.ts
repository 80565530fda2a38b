import { gunzipSync, inflateRawSync } from 'node:zlib'
import { decodeTableMetadata } from '@timelake/iceberg/spec/table-metadata-json'
import { newTableMetadata } from '@timelake/iceberg/commit/new-table-metadata'
import { expect, it } from 'vitest'
import { LoadedMetadata, loadETag } from './loaded-metadata.ts'

const metadata = newTableMetadata(
  {
    schema: { schemaId: 0, fields: [], identifierFieldIds: [] },
    properties: { comment: 'é "metadata": \u{1F986}', filler: 'x'.repeat(2_000) },
  },
  { tableUuid: '00000000-0000-4000-8000-000000000000', location: 'file:///t', nowMs: 1 },
)

const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString()

it('holds the file inside the answer, byte for byte, whatever the location says', () => {
  const loaded = new LoadedMetadata('file:///odd "metadata": é/x.metadata.json', metadata)
  expect(decodeTableMetadata(Buffer.concat(loaded.fileBytes()))).toEqual(metadata)
  const answer = JSON.parse(textOf(loaded.body('all'))) as Record<string, unknown>
  expect(answer['metadata-location']).toBe('file:///odd "metadata": é/x.metadata.json')
  expect(answer['metadata']).toEqual(JSON.parse(textOf(loaded.fileBytes())))
})

it('encodes and compresses once', async () => {
  const loaded = new LoadedMetadata('file:///t/1', metadata)
  expect(loaded.body('all')).toBe(loaded.body('all'))
  const zipped = loaded.gzippedBody('all')
  expect(loaded.gzippedBody('all')).toBe(zipped)
  expect(gunzipSync((await zipped) ?? '')).toEqual(Buffer.concat(loaded.body('all')))
})

const access = {
  config: { 's3.session-token': 'é \u{1F986}' },
  storageCredentials: [{ prefix: 's3://b/t/', config: { 's3.session-token': 'é' } }],
}

it('puts an access behind the shared part, plain and gzipped as one member', async () => {
  const loaded = new LoadedMetadata('file:///t/2', metadata)
  const body = Buffer.concat(loaded.body('all', access))
  const answer = JSON.parse(body.toString()) as Record<string, unknown>
  expect(answer['config']).toEqual(access.config)
  expect(answer['storage-credentials']).toEqual(access.storageCredentials)
  expect(answer['metadata']).toEqual(JSON.parse(textOf(loaded.fileBytes())))
  const zipped = (await loaded.gzippedBody('all', access)) ?? Buffer.alloc(0)
  // A reader of one member stops at its trailer: nothing may be left.
  expect(inflateRawSync(zipped.subarray(10, -8))).toEqual(body)
  expect(gunzipSync(zipped)).toEqual(body)
  // The access of one caller is in nobody else's answer.
  expect(textOf(loaded.body('all'))).not.toContain('session-token')
  expect(gunzipSync((await loaded.gzippedBody('all')) ?? '')).toEqual(
    Buffer.concat(loaded.body('all')),
  )
})

it('shares what a long history has in common with the next version', () => {
  const snapshots = Array.from({ length: 400 }, (_, index) => ({
    snapshotId: BigInt(index + 1),
    sequenceNumber: BigInt(index + 1),
    timestampMs: index,
    manifestList: `file:///t/metadata/${index}.avro`,
    summary: { operation: 'append', note: 'x'.repeat(200) },
  }))
  const [last] = snapshots.slice(-1)
  const before = new LoadedMetadata('file:///t/3', {
    ...metadata,
    snapshots: snapshots.slice(0, -1),
  })
  const after = new LoadedMetadata('file:///t/4', { ...metadata, snapshots })
  const pieces = before.body('all')
  const shared = after.body('all').filter((piece) => pieces.includes(piece))
  expect(shared).toHaveLength(3)
  expect(textOf(after.body('all'))).toContain(`"snapshot-id":${last?.snapshotId}`)
})

it('tags what was given apart', () => {
  const other = { ...access, config: { 's3.session-token': 'f' } }
  const tags = [undefined, access, other].map((one) => loadETag('a', 'all', one))
  expect(new Set(tags).size).toBe(3)
  expect(loadETag('a', 'all', { ...access })).toBe(tags[1])
})

it('tags views and locations apart', () => {
  const tags = [loadETag('a', 'all'), loadETag('a', 'refs'), loadETag('b', 'all')]
  expect(new Set(tags).size).toBe(3)
  for (const tag of tags) expect(tag).toMatch(/^W\/"[\w-]{22}"$/)
})
