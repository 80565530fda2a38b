import type { DataFile, EntryStatus, ManifestEntry } from '@timelake/iceberg/manifest/data-file'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { writeManifest } from '@timelake/iceberg/manifest/write-manifest'
import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import type { ObjectStore } from '@timelake/storage/object-store'
import { beforeEach, describe, expect, it } from 'vitest'
import { LivePaths, type ManifestSource } from './live-paths.ts'
import { UnusableManifestsError } from './manifest-lists.ts'
import { pathHash } from './path-hash.ts'

const MIB = 1_048_576
const schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [{ id: 1, name: 'a', required: false, type: { kind: 'long' } as const }],
}

function entry(filePath: string, status: EntryStatus = 'added'): ManifestEntry {
  const dataFile: DataFile = {
    content: 'data',
    filePath,
    fileFormat: 'PARQUET',
    partition: [],
    recordCount: 1n,
    fileSizeBytes: 1n,
  }
  return { status, snapshotId: 1n, sequenceNumber: 1n, fileSequenceNumber: 1n, dataFile }
}

const bytesOf = (entries: readonly ManifestEntry[]): Uint8Array =>
  writeManifest({
    formatVersion: 2,
    schema,
    spec: { specId: 0, fields: [] },
    content: 'data',
    entries,
  })

function manifestAt(manifestPath: string, more: Partial<ManifestFile> = {}): ManifestFile {
  return {
    manifestPath,
    manifestLengthBytes: 1n,
    partitionSpecId: 0,
    content: 'data',
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 1n,
    ...more,
  }
}

let reads: string[] = []
let store: ObjectStore
beforeEach(() => {
  const memory = openMemoryObjectStore()
  reads = []
  store = {
    ...memory,
    get: (location, options) => {
      reads.push(location)
      return memory.get(location, options)
    },
  }
})

const sourceOf = (
  manifests: readonly ManifestFile[],
  drafted: ManifestSource['drafted'] = new Map(),
): ManifestSource => ({ warehouse: { id: 'w', store }, manifests, drafted })

const asked = new Set(['s3://b/t/live', 's3://b/t/deleted', 's3://b/t/new'])

describe('LivePaths', () => {
  it('finds the files that are live, however they are spelled in the manifest', async () => {
    await store.putIfAbsent(
      's3://b/t/m0.avro',
      bytesOf([
        entry('s3a://b/t/live', 'existing'),
        entry('s3://b/t/deleted', 'deleted'),
        entry('s3://b/t/other'),
      ]),
    )
    const paths = new LivePaths({ bytesMax: MIB })
    const source = sourceOf([manifestAt('s3a://b/t/m0.avro')])
    expect(await paths.findLive(source, asked)).toEqual(new Set(['s3://b/t/live']))
  })

  it('reads a manifest once, and again only to make sure of a hit', async () => {
    await store.putIfAbsent('s3://b/t/m0.avro', bytesOf([entry('s3://b/t/live')]))
    const paths = new LivePaths({ bytesMax: MIB })
    const source = sourceOf([manifestAt('s3://b/t/m0.avro')])
    await Promise.all([paths.warm(source), paths.warm(source)])
    expect(reads).toHaveLength(1)
    expect(await paths.findLive(source, new Set(['s3://b/t/new']))).toEqual(new Set())
    expect(reads).toHaveLength(1)
    expect((await paths.findLive(source, asked)).size).toBe(1)
    expect(reads).toHaveLength(2)
  })

  it('believes what it reads and not a hash', async () => {
    await store.putIfAbsent('s3://b/t/m0.avro', bytesOf([entry('s3://b/t/other')]))
    const paths = new LivePaths({ bytesMax: MIB })
    const manifest = manifestAt('s3://b/t/m0.avro')
    const source = sourceOf([manifest])
    paths.put(source.warehouse, manifest, [entry('s3://b/t/live')])
    expect(await paths.findLive(source, asked)).toEqual(new Set())
    expect(reads).toHaveLength(1)
  })

  it('reads manifests that are not stored yet where they are', async () => {
    const paths = new LivePaths({ bytesMax: MIB })
    const drafted = new Map([['s3://b/t/m1.avro', bytesOf([entry('s3://b/t/live')])]])
    const source = sourceOf([manifestAt('s3://b/t/m1.avro')], drafted)
    expect(await paths.findLive(source, asked)).toEqual(new Set(['s3://b/t/live']))
    expect(reads).toEqual([])
  })

  it('reads everything again when there is no memory for it', async () => {
    await store.putIfAbsent('s3://b/t/m0.avro', bytesOf([entry('s3://b/t/live')]))
    const paths = new LivePaths({ bytesMax: 1 })
    const source = sourceOf([manifestAt('s3://b/t/m0.avro')])
    for (const _ of [1, 2]) expect((await paths.findLive(source, asked)).size).toBe(1)
    expect(reads).toHaveLength(4)
  })

  it('opens no manifest of deletes, nor one without live files', async () => {
    const paths = new LivePaths({ bytesMax: MIB })
    const source = sourceOf([
      manifestAt('s3://b/t/d0.avro', { content: 'deletes' }),
      manifestAt('s3://b/t/m0.avro', { addedFilesCount: 0, existingFilesCount: 0 }),
    ])
    expect(await paths.findLive(source, asked)).toEqual(new Set())
    expect(reads).toEqual([])
  })

  it('refuses an encrypted manifest', async () => {
    const paths = new LivePaths({ bytesMax: MIB })
    const source = sourceOf([manifestAt('s3://b/t/m0.avro', { keyMetadata: Uint8Array.of(1) })])
    await expect(paths.findLive(source, asked)).rejects.toThrow(UnusableManifestsError)
  })
})

describe('pathHash', () => {
  it('is the same for the same text and spreads over all bits', () => {
    const hashes = Array.from({ length: 10_000 }, (_, index) => pathHash(`s3://b/t/data/${index}`))
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true)
    const high = hashes.filter((hash) => hash >= 2 ** 52).length
    expect(high).toBeGreaterThan(4_500)
    expect(high).toBeLessThan(5_500)
    expect(pathHash('a')).toBe(pathHash('a'))
  })
})
