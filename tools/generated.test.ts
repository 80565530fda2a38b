import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { adminTypes } from '../openapi/admin-types.ts'
import { supportedMatrix } from '../openapi/supported.ts'
import { currentReadme } from './docs/readme.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

// `npm run generate` makes these current.
it.each([
  ['openapi/admin.generated.ts', adminTypes],
  ['openapi/SUPPORTED.md', async () => supportedMatrix()],
  ['README.md', async () => currentReadme(read('README.md'))],
])('%s is what its sources say', async (path, generate) => {
  expect(read(path)).toBe(await generate())
})
