// Writes every file that is made from other files: npm run generate. The tests fail while one is out of date.
import { readFileSync, writeFileSync } from 'node:fs'
import { adminTypes } from '../openapi/admin-types.ts'
import { supportedMatrix } from '../openapi/supported.ts'
import { currentReadme } from './docs/readme.ts'

const at = (path: string): URL => new URL(`../${path}`, import.meta.url)

writeFileSync(at('openapi/admin.generated.ts'), await adminTypes())
writeFileSync(at('openapi/SUPPORTED.md'), supportedMatrix())
writeFileSync(at('README.md'), currentReadme(readFileSync(at('README.md'), 'utf8')))
