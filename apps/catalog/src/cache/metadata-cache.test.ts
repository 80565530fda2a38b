import { openMemoryObjectStore } from '@timelake/storage/memory-object-store'
import { expect, it } from 'vitest'
import { MetadataCache } from './metadata-cache.ts'

interface TextDocument {
  readonly location: string
  readonly text: string
  readonly known: string | undefined
}

const store = openMemoryObjectStore()
const warehouse = { id: 'w', store }

function openCache(): MetadataCache<TextDocument> {
  return new MetadataCache({
    bytesMax: 1_000_000,
    metadataBytesMax: 1_000,
    decode: (location, bytes, known) => ({
      location,
      text: new TextDecoder().decode(bytes),
      known: known?.location,
    }),
  })
}

async function write(location: string): Promise<string> {
  await store.putIfAbsent(location, new TextEncoder().encode(location))
  return location
}

it('reads a file beside what came last from its folder', async () => {
  const cache = openCache()
  const first = await write('s3://lake/t/metadata/1.json')
  const second = await write('s3://lake/t/metadata/2.json')
  const other = await write('s3://lake/u/metadata/1.json')
  expect((await cache.get(warehouse, first)).known).toBeUndefined()
  expect((await cache.get(warehouse, second)).known).toBe(first)
  expect((await cache.get(warehouse, other)).known).toBeUndefined()
  expect((await cache.get({ id: 'another', store }, second)).known).toBeUndefined()
})

it('does not read beside what it has forgotten', async () => {
  const cache = openCache()
  const first = await write('s3://lake/v/metadata/1.json')
  const second = await write('s3://lake/v/metadata/2.json')
  await cache.get(warehouse, first)
  cache.delete(warehouse, first)
  expect((await cache.get(warehouse, second)).known).toBeUndefined()
})

it('reads once what several ask for at one time', async () => {
  const cache = openCache()
  const location = await write('s3://lake/x/metadata/1.json')
  const [one, other] = await Promise.all([
    cache.get(warehouse, location),
    cache.get(warehouse, location),
  ])
  expect(one).toBe(other)
  expect(cache.peek(warehouse, location)).toBe(one)
})
