import { readFileSync } from 'node:fs'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { parse } from 'yaml'

const HEADER = '// Made by `npm run generate` from timelake-catalog.yaml. Do not edit.\n\n'

/**
 * The text of `admin.generated.ts`: types of the admin routes and of the schemas that they use. Every integer is a bigint,
 * because that is what our lossless JSON parser makes of one.
 */
export async function adminTypes(): Promise<string> {
  const text = readFileSync(new URL('timelake-catalog.yaml', import.meta.url), 'utf8')
  // `as`: the description is tested on its own.
  const document = parse(text) as Document
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/admin/'))
  const schemas = usedSchemas(paths, document)
  const reduced = {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...document.components, schemas },
  }
  const nodes = await openapiTS(reduced as unknown as OpenAPI3, { transform: bigintForIntegers })
  return HEADER + astToString(nodes)
}

interface Document {
  readonly paths: Readonly<Record<string, unknown>>
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>
    readonly parameters: unknown
    readonly responses: unknown
  }
}

function usedSchemas(paths: unknown, document: Document): Record<string, unknown> {
  const { parameters, responses } = document.components
  const waiting = referencedSchemas([paths, parameters, responses])
  const used = new Set<string>()
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (used.has(name)) continue
    used.add(name)
    waiting.push(...referencedSchemas(document.components.schemas[name]))
  }
  const all = Object.entries(document.components.schemas)
  return Object.fromEntries(all.filter(([name]) => used.has(name)))
}

function referencedSchemas(value: unknown): string[] {
  const references = JSON.stringify(value).matchAll(/#\/components\/schemas\/([A-Za-z]+)/g)
  return [...references].map(([, name = '']) => name)
}

function bigintForIntegers({ type }: { readonly type?: unknown }): ts.TypeNode | undefined {
  const types = Array.isArray(type) ? type : [type]
  if (!types.includes('integer')) return undefined
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  if (!types.includes('null')) return bigint
  return ts.factory.createUnionTypeNode([
    bigint,
    ts.factory.createLiteralTypeNode(ts.factory.createNull()),
  ])
}
