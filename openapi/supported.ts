import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { structureOf, type ApiStructure } from './structure.ts'

/** The text of `SUPPORTED.md`: every operation of the protocol and of this server, and whether it is served. */
export function supportedMatrix(): string {
  const ours = structureOf(parse(read('timelake-catalog.yaml')))
  // `as`: our own machine-made file.
  const upstream = JSON.parse(read('upstream-structure.json')) as ApiStructure
  const own = Object.keys(ours.operations).filter((key) => !(key in upstream.operations))
  return [
    '# Supported operations',
    '',
    'Made by `npm run generate` from the two descriptions in this folder. Do not edit.',
    '',
    '## Iceberg REST catalog protocol',
    '',
    ...table(Object.keys(upstream.operations), { described: upstream, served: ours }),
    '',
    'Operations that are not served are answered 406, and `GET /v1/config` announces none of them.',
    '',
    '## Beyond the protocol',
    '',
    ...table(own, { described: ours, served: ours }),
    '',
  ].join('\n')
}

function table(
  keys: readonly string[],
  { described, served }: { readonly described: ApiStructure; readonly served: ApiStructure },
): string[] {
  const rows = keys.map((key) => {
    const [method = '', path = ''] = key.split(' ')
    const isServed = key in served.operations
    const id = described.operations[key]?.operationId ?? ''
    return `| ${id} | ${method} | \`${path}\` | ${isServed ? 'yes' : 'no'} |`
  })
  return ['| operation | method | path | served |', '|---|---|---|---|', ...rows]
}

function read(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
