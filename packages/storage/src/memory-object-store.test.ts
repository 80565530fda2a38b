import { expect, it } from 'vitest'
import { describeObjectStoreContract } from './conformance.ts'
import { openMemoryObjectStore } from './memory-object-store.ts'

describeObjectStoreContract('memory', async () => ({
  store: openMemoryObjectStore(),
  location: 'memory://lake/warehouse',
}))

it('stamps objects with the time it is given', async () => {
  const store = openMemoryObjectStore({ nowMs: () => 1234 })
  await store.putIfAbsent('memory://lake/a', new Uint8Array(1))
  expect((await store.stat('memory://lake/a'))?.lastModifiedMs).toBe(1234)
})
