// Makes upstream-structure.json from the OpenAPI file of the Iceberg project:
//   npx tsx openapi/extract-structure.ts <rest-catalog-open-api.yaml> <commit>
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'
import { structureOf } from './structure.ts'

const [, , file, commit] = process.argv
if (file === undefined || commit === undefined) {
  throw new Error('usage: extract-structure.ts <rest-catalog-open-api.yaml> <commit>')
}

const source = {
  repository: 'apache/iceberg',
  path: 'open-api/rest-catalog-open-api.yaml',
  commit,
  licence: 'Apache-2.0',
  content: 'names, types, required members, enumerations and status codes only; machine-made',
}
const structure = structureOf(parse(readFileSync(file, 'utf8')))
const target = new URL('upstream-structure.json', import.meta.url)
writeFileSync(target, `${JSON.stringify({ source, ...structure }, null, 1)}\n`)
