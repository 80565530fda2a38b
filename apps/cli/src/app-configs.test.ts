import { expect, it } from 'vitest'
import { affordableMetadataBytes } from './app-configs.ts'

const MIB = 1_048_576

it('takes metadata as large as the settings allow while the heap can hold it', () => {
  const settings = { metadataBytesMax: 256 * MIB }
  expect(affordableMetadataBytes(settings, 4_096 * MIB)).toBe(256 * MIB)
})

it('takes less in a small heap, so that one table never exhausts it (B093)', () => {
  const settings = { metadataBytesMax: 256 * MIB }
  expect(affordableMetadataBytes(settings, 600 * MIB)).toBe(100 * MIB)
})
