import { expect, it } from 'vitest'
import { printCount, printSize, printTime } from './print-quantities.ts'

it.each([
  [0n, '0 B'],
  [1_023n, '1023 B'],
  [1_500n, '1.5 KiB'],
  [200n * 1_024n * 1_024n, '200 MiB'],
])('prints %s bytes as %s', (sizeBytes, text) => {
  expect(printSize(sizeBytes)).toBe(text)
})

it.each([
  [1n, '1 file'],
  [1_204n, '1,204 files'],
])('prints the count %s as %s', (count, text) => {
  expect(printCount(count, 'file')).toBe(text)
})

it.each([
  [1_000n, '1970-01-01T00:00:01Z (3 min ago)'],
  [241_000n, '1970-01-01T00:04:01Z (in 1 min)'],
])('prints the time %s with its distance from now', (timeMs, text) => {
  expect(printTime(timeMs, 181_000)).toBe(text)
})
