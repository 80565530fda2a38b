import { partitionType } from '@timelake/iceberg/manifest/partition-type'
import { decodeScanManifest } from '@timelake/iceberg/scan/scan-manifest'
import { added, sampleManifest, scanTable } from '@timelake/iceberg/scan/sample-scan'
import { encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import { expect, it } from 'vitest'
import { ScanManifests, type TableScanManifest } from './scan-manifests.ts'

const LONG = { kind: 'long' } as const
const table = scanTable(
  [1, 2].map((id) => ({ id, name: `c${id}`, required: false, type: LONG })),
  [{ fields: [] }],
)

/** Manifests of so many files in a store that counts how often it is read. */
async function openManifests({ bytesMax = 1_000_000, count = 1, fileCount = 2 } = {}) {
  const store = openMemoryObjectStore()
  const bounds = (value: bigint) =>
    new Map([1, 2].map((id) => [id, encodeSingleValue(LONG, value + BigInt(id))]))
  const manifests = Array.from({ length: count }, (_, index) =>
    sampleManifest(
      table,
      Array.from({ length: fileCount }, () =>
        added({ lowerBounds: bounds(BigInt(index)), upperBounds: bounds(BigInt(index)) }),
      ),
    ),
  )
  for (const { manifest, bytes } of manifests) {
    await store.putIfAbsent(manifest.manifestPath, bytes)
  }
  const world = { reads: 0 }
  const counting = {
    ...store,
    get: (...call: Parameters<typeof store.get>) => {
      world.reads += 1
      return store.get(...call)
    },
  }
  const cache = new ScanManifests({ bytesMax })
  const get = (index: number, more: Partial<TableScanManifest> = {}) => {
    const manifest = manifests[index]?.manifest
    if (manifest === undefined) throw new Error(`no manifest ${index}`)
    return cache.get(
      { id: 'w', store: counting },
      {
        manifest,
        partition: partitionType({ specId: 0, fields: [] }, table.schemas),
        schemaId: 0,
        roots: tableRoots(table),
        fieldIds: [],
        isPassing: false,
        ...more,
      },
    )
  }
  return { world, cache, manifests, get }
}

it('reads a file again for a column that nobody has asked for, and never else', async () => {
  const { world, get } = await openManifests()
  const scan = await get(0, { fieldIds: [1] })
  expect(scan.bounds(1, LONG)?.lower(0)).toBe(1n)
  expect(() => scan.bounds(2, LONG)).toThrow('metrics')
  expect(await get(0)).toBe(scan)
  expect(world.reads).toBe(1)
  expect(await get(0, { fieldIds: [1, 2] })).toBe(scan)
  expect(scan.bounds(2, LONG)?.lower(0)).toBe(2n)
  expect(world.reads).toBe(2)
})

it('keeps nothing of the file', async () => {
  const { cache, manifests, get } = await openManifests({ fileCount: 1_000 })
  const scan = await get(0)
  const { bytes, manifest } = manifests[0] ?? sampleManifest(table, [])
  const whole = decodeScanManifest(bytes, { manifest, partition: { fields: [] } })
  expect(scan.sizeBytes).toBe(whole.sizeBytes - bytes.length)
  expect(cache.sizeBytes).toBeLessThan(scan.sizeBytes + 1_000)
  const before = cache.sizeBytes
  cache.weigh(await get(0, { fieldIds: [1] }))
  expect(cache.sizeBytes).toBeGreaterThan(before)
})

it('reads once for callers at the same time, and once more for who needs another column', async () => {
  const { world, get } = await openManifests()
  const asked = [[1], [1], [1, 2], [2]].map((fieldIds) => get(0, { fieldIds }))
  const [first, ...others] = await Promise.all(asked)
  expect(others.every((each) => each === first)).toBe(true)
  expect(first?.hasColumns([1, 2])).toBe(true)
  expect(world.reads).toBe(2)
})

it('keeps what selective scans use when whole tables pass', async () => {
  const { world, cache, get } = await openManifests({ bytesMax: 16_000, count: 30, fileCount: 100 })
  const used = await get(0)
  for (let index = 1; index < 30; index += 1) await get(index, { isPassing: true })
  expect(cache.entryCount).toBeLessThan(20)
  expect(world.reads).toBe(30)
  expect(await get(0)).toBe(used)
  // The last ones are here still, page after page, and stay once another scan has used them.
  const passed = await get(29, { isPassing: true })
  expect(await get(29)).toBe(passed)
  for (let index = 1; index < 29; index += 1) await get(index, { isPassing: true })
  const before = world.reads
  expect(await get(29)).toBe(passed)
  expect(await get(0)).toBe(used)
  expect(world.reads).toBe(before)
})

it('reads a file that is longer than its list tells', async () => {
  const { get, manifests } = await openManifests()
  const manifest = manifests[0]?.manifest
  if (manifest === undefined) throw new Error('no manifest')
  const scan = await get(0, { manifest: { ...manifest, manifestLengthBytes: 3n } })
  expect(scan.rowCount).toBe(2)
})

it('refuses before it reads what lies outside the table or is too large', async () => {
  const { world, cache, manifests } = await openManifests()
  const manifest = manifests[0]?.manifest
  if (manifest === undefined) throw new Error('no manifest')
  const roots = tableRoots(table)
  expect(() => cache.check({ manifest, roots })).not.toThrow()
  expect(() => cache.check({ manifest, roots: ['s3://elsewhere'] })).toThrow('outside')
  const large = { ...manifest, manifestLengthBytes: 2n ** 40n }
  expect(() => cache.check({ manifest: large, roots })).toThrow('at most')
  expect(world.reads).toBe(0)
})
