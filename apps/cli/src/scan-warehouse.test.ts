import { gzipSync } from 'node:zlib'
import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import type { NameRecord } from '@timelake/storage/name-records'
import { LocationError } from '@timelake/storage/object-store'
import { describe, expect, it } from 'vitest'
import { scanWarehouse } from './scan-warehouse.ts'

const WAREHOUSE = 'file:///lake'

interface Sketch {
  readonly uuid?: string
  readonly updatedMs?: number
  readonly manifestList?: string
}

const metadataText = (location: string, sketch: Sketch): string => {
  const { uuid = '9c12d441-03fe-4693-9a96-a0705ddf69c1', updatedMs = 1, manifestList } = sketch
  const snapshot = {
    'snapshot-id': 5,
    'sequence-number': 1,
    'timestamp-ms': 1,
    'manifest-list': manifestList,
    summary: { operation: 'append' },
  }
  return JSON.stringify({
    'format-version': 2,
    'table-uuid': uuid,
    location,
    'last-sequence-number': 1,
    'last-updated-ms': updatedMs,
    'last-column-id': 1,
    'current-schema-id': 0,
    schemas: [
      {
        type: 'struct',
        'schema-id': 0,
        fields: [{ id: 1, name: 'a', required: false, type: 'int' }],
      },
    ],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    ...(manifestList === undefined ? {} : { 'current-snapshot-id': 5, snapshots: [snapshot] }),
  })
}

const warehouse = () => {
  const store = openMemoryObjectStore()
  const put = (path: string, content: string | Uint8Array) =>
    store.putIfAbsent(
      path.startsWith('file:') ? path : `${WAREHOUSE}/${path}`,
      typeof content === 'string' ? new TextEncoder().encode(content) : content,
    )
  const scan = (records: NameRecord[] = []) =>
    scanWarehouse({ store, warehouseLocation: WAREHOUSE, records, metadataBytesMax: 1_000_000 })
  return { put, scan }
}

describe('scanWarehouse', () => {
  it('finds the newest metadata of each folder by number, not by text, gzipped or not', async () => {
    const { put, scan } = warehouse()
    await put('t/metadata/v9.metadata.json', metadataText('file:///lake/t', {}))
    await put('t/metadata/00010-a.gz.metadata.json', gzipSync(metadataText('file:/lake/t/', {})))
    await put('t/data/00011-a.parquet', 'no metadata')
    const { found, problems } = await scan()
    expect(problems).toEqual([])
    expect(found).toMatchObject([
      {
        metadataLocation: 'file:///lake/t/metadata/00010-a.gz.metadata.json',
        location: 'file:///lake/t',
      },
    ])
  })

  it('falls back to an older file when the newest is torn or its manifest list is missing', async () => {
    const { put, scan } = warehouse()
    const location = 'file:///lake/t'
    await put('t/metadata/00001-a.metadata.json', metadataText(location, {}))
    const manifestList = `${location}/metadata/snap-1.avro`
    await put('t/metadata/00002-b.metadata.json', metadataText(location, { manifestList }))
    await put('t/metadata/00003-c.metadata.json', '{"format-version":2,')
    const { found, problems } = await scan()
    expect(found[0]?.metadataLocation).toBe('file:///lake/t/metadata/00001-a.metadata.json')
    expect(problems).toEqual([
      expect.stringContaining('00003-c.metadata.json: cannot be read'),
      expect.stringContaining(`its manifest list ${manifestList} is missing`),
    ])
  })

  it('takes the later of two files of one version and says so', async () => {
    const { put, scan } = warehouse()
    await put('t/metadata/00001-a.metadata.json', metadataText('file:///lake/t', { updatedMs: 9 }))
    await put('t/metadata/00001-b.metadata.json', metadataText('file:///lake/t', { updatedMs: 4 }))
    const { found, problems } = await scan()
    expect(found[0]?.metadataLocation).toContain('00001-a')
    expect(problems).toEqual([expect.stringContaining('00001-b.metadata.json: passed over for')])
  })

  it('finds views, which have no manifest list', async () => {
    const { put, scan } = warehouse()
    const metadata = {
      'view-uuid': 'v1',
      'format-version': 1,
      location: 'file:///lake/v/',
      schemas: [{ type: 'struct', 'schema-id': 0, fields: [] }],
      'current-version-id': 1,
      versions: [
        {
          'version-id': 1,
          'schema-id': 0,
          'timestamp-ms': 7,
          summary: {},
          'default-namespace': [],
          representations: [{ type: 'sql', sql: 'select 1', dialect: 'spark' }],
        },
      ],
      'version-log': [{ 'timestamp-ms': 7, 'version-id': 1 }],
    }
    await put('v/metadata/00000-a.gz.metadata.json', gzipSync(JSON.stringify(metadata)))
    const { found, problems } = await scan()
    expect(problems).toEqual([])
    expect(found).toMatchObject([
      { kind: 'view', tableUuid: 'v1', location: 'file:///lake/v', lastUpdatedMs: 7 },
    ])
  })

  it('goes on when one file is larger than it may be, also once it is unpacked', async () => {
    const { put, scan } = warehouse()
    await put('t/metadata/00001-a.metadata.json', metadataText('file:///lake/t', {}))
    await put('t/metadata/00002-b.metadata.json', new Uint8Array(1_000_001))
    await put('t/metadata/00003-c.gz.metadata.json', gzipSync(Buffer.alloc(2_000_000, 32)))
    const { found, problems } = await scan()
    expect(found).toMatchObject([
      { metadataLocation: expect.stringContaining('00001-a') as string },
    ])
    expect(problems).toHaveLength(2)
  })

  it('reports a folder that the settings do not allow', async () => {
    const store = openMemoryObjectStore()
    const guarded: typeof store = {
      ...store,
      list: (prefix) => {
        if (!prefix.startsWith(WAREHOUSE)) throw new LocationError('outside')
        return store.list(prefix)
      },
    }
    const record: NameRecord = {
      ...{ kind: 'table', id: 't', tableUuid: 'u', levels: ['a'], name: 't' },
      ...{
        location: 'file:///other/t',
        metadataLocation: 'file:///other/t/metadata/1.metadata.json',
      },
    }
    const options = { warehouseLocation: WAREHOUSE, metadataBytesMax: 1_000_000 }
    const { problems } = await scanWarehouse({ ...options, store: guarded, records: [record] })
    expect(problems).toEqual([expect.stringContaining('TIMELAKE_EXTRA_ALLOWED_LOCATIONS')])
  })

  it('looks into folders outside the warehouse only when a record names them', async () => {
    const { put, scan } = warehouse()
    const location = 'file:///elsewhere/t'
    const metadataLocation = `${location}/metadata/v1.metadata.json`
    await put(metadataLocation, metadataText(location, {}))
    expect((await scan()).found).toEqual([])
    const record: NameRecord = {
      ...{ kind: 'table', id: 't', tableUuid: 'u', levels: ['a'], name: 't' },
      ...{ location, metadataLocation },
    }
    expect((await scan([record])).found).toMatchObject([{ metadataLocation }])
  })
})
