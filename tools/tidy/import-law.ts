import { posix } from 'node:path'
import { finding, isTestFile, type ImportedModule, type SourceFile } from './source-file.ts'

// What each workspace may import of the others; `packages/x/y` allows one folder of it. DESIGN: arrows point down.
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'packages/iceberg': [],
  'packages/storage': [],
  'packages/database': [],
  'packages/timelake': ['packages/iceberg'],
  'apps/catalog': [
    'packages/iceberg',
    'packages/timelake/contract',
    'packages/timelake/footer',
    'packages/storage',
    'packages/database',
  ],
  'apps/worker': ['packages/iceberg', 'packages/timelake', 'packages/storage', 'packages/database'],
  'apps/cli': [
    'apps',
    'packages/iceberg',
    'packages/timelake',
    'packages/storage',
    'packages/database',
  ],
}

const APPS = new Set(['catalog', 'worker', 'cli', 'console'])

// One place per vendor: the rest of the house does not know the library's name.
const VENDORS: readonly { readonly library: RegExp; readonly place: RegExp }[] = [
  { library: /^(@electric-sql\/|drizzle-orm|postgres$|pg$)/, place: /^packages\/database\// },
  { library: /^(bullmq|ioredis)/, place: /^apps\/worker\/src\/queue\/bullmq-[a-z-]+\.ts$/ },
  { library: /^jose$/, place: /^apps\/catalog\/src\/access\// },
  { library: /^@(aws-sdk|smithy)\//, place: /^packages\/storage\/src\/s3-[a-z0-9-]+\.ts$/ },
  { library: /^parquet-wasm/, place: /^packages\/timelake\/src\/data\/parquet-file\.ts$/ },
  { library: /^@duckdb\//, place: /^packages\/timelake\/src\/data\/duckdb(-[a-z-]+)?\.ts$/ },
  { library: /^(@hono\/|hono)/, place: /^apps\/catalog\// },
  { library: /^(fzstd|hysnappy)/, place: /^packages\/iceberg\/src\/(avro|manifest)\// },
]

/** Imports of a workspace that the layers do not allow, and apps that import apps. Tests may look anywhere. */
export function importLaw(file: SourceFile): string[] {
  const home = workspaceOf(file.path)
  const allowed = home === undefined ? undefined : ALLOWED[home]
  if (home === undefined || allowed === undefined || isTestFile(file)) return []
  return file.imports.flatMap((imported) => {
    const target = workspaceTarget(imported.specifier)
    const isAllowed =
      target === undefined ||
      target.startsWith(`${home}/`) ||
      allowed.some((prefix) => target.startsWith(`${prefix}/`))
    return isAllowed ? [] : [finding(file, imported.line, `${home} must not import ${target}`)]
  })
}

/** Imports that reach into another folder than their own package's, or spell the path the wrong way. */
export function importSpelling(file: SourceFile): string[] {
  const home = workspaceOf(file.path)
  if (home === undefined) return []
  return file.imports.flatMap((imported) => {
    const sentence = spellingMistake(file.path, home, imported)
    return sentence === undefined ? [] : [finding(file, imported.line, sentence)]
  })
}

/** Vendor libraries outside the one place that may know them. */
export function vendorPerFile(file: SourceFile): string[] {
  if (isTestFile(file) || workspaceOf(file.path) === undefined) return []
  return file.imports.flatMap(({ specifier, line }) =>
    VENDORS.filter(({ library, place }) => library.test(specifier) && !place.test(file.path)).map(
      ({ place }) => finding(file, line, `${specifier} may be imported only in ${place.source}`),
    ),
  )
}

/** Imports of packages that the workspace's package.json does not declare. */
export function declaredDependencies(
  file: SourceFile,
  declared: (workspace: string) => ReadonlySet<string>,
): string[] {
  const home = workspaceOf(file.path)
  if (home === undefined || isTestFile(file)) return []
  return file.imports.flatMap(({ specifier, line }) => {
    const name = packageName(specifier)
    const isFine = name === undefined || name === ownName(home) || declared(home).has(name)
    return isFine
      ? []
      : [finding(file, line, `${name} is not a dependency in ${home}/package.json`)]
  })
}

/** Imports of an impure folder by a pure one, which the package boundaries alone would allow. */
export function innerLayers(file: SourceFile): string[] {
  const rules = [
    { from: /^packages\/iceberg\/src\/(?!io\/)/, to: 'packages/iceberg/io/' },
    { from: /^packages\/timelake\/src\/(contract|footer)\//, to: 'packages/timelake/data/' },
    { from: /^packages\/timelake\/src\/(contract|footer)\//, to: 'packages/iceberg/io/' },
  ]
  if (isTestFile(file)) return []
  return file.imports.flatMap(({ specifier, line }) => {
    const target = specifier.startsWith('.')
      ? posix.join(posix.dirname(file.path), specifier).replace('/src/', '/')
      : workspaceTarget(specifier)
    const isBroken = rules.some(
      ({ from, to }) => from.test(file.path) && target !== undefined && target.startsWith(to),
    )
    return isBroken ? [finding(file, line, `a pure folder must not import ${target}`)] : []
  })
}

/** Production files that import what only tests may. */
export function testsStayOutside(file: SourceFile, testPaths: ReadonlySet<string>): string[] {
  if (isTestFile(file)) return []
  return file.imports.flatMap(({ specifier, line }) => {
    const target = specifier.startsWith('.')
      ? posix.join(posix.dirname(file.path), specifier)
      : workspaceTarget(specifier)?.replace(/^((apps|packages)\/[^/]+)\/(.*)$/, '$1/src/$3.ts')
    const isTest = target !== undefined && testPaths.has(target)
    return isTest ? [finding(file, line, `${target} is for tests only`)] : []
  })
}

/** `packages/iceberg` of `packages/iceberg/src/spec/type.ts`; undefined outside the workspaces. */
export function workspaceOf(path: string): string | undefined {
  return /^(apps|packages)\/[^/]+/.exec(path)?.[0]
}

// `@timelake/iceberg/spec/type` → `packages/iceberg/spec/type`; other packages → undefined.
function workspaceTarget(specifier: string): string | undefined {
  const match = /^@timelake\/([^/]+)(\/.*)?$/.exec(specifier)
  if (match === null) return undefined
  const [, name = '', rest = ''] = match
  return `${APPS.has(name) ? 'apps' : 'packages'}/${name}${rest}`
}

function spellingMistake(
  path: string,
  home: string,
  { specifier }: ImportedModule,
): string | undefined {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier)
    // Types made from the API description, which belongs to no package.
    if (/^openapi\/[a-z-]+\.generated\.ts$/.test(target)) return undefined
    if (!target.startsWith(`${home}/`)) return `${specifier} leaves the package: use its exports`
    return /\.(ts|json|mjs)$/.test(specifier) ? undefined : `${specifier} must end in .ts`
  }
  if (specifier.startsWith('@timelake/') && specifier.endsWith('.ts')) {
    return `${specifier} must not end in .ts: the package's exports add it`
  }
  return workspaceTarget(specifier)?.startsWith(`${home}/`) === true
    ? `${specifier} is this package: import the file by its relative path`
    : undefined
}

function packageName(specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined
  return /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
}

function ownName(workspace: string): string {
  return `@timelake/${workspace.split('/')[1]}`
}
