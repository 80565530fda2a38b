import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { forbiddenWords, isSearched } from './tidy/forbidden-words.ts'
import * as imports from './tidy/import-law.ts'
import { fileNames } from './tidy/naming.ts'
import { definedInvariants, invariantNumbers } from './tidy/invariant-numbers.ts'
import * as processUse from './tidy/process-use.ts'
import { purity } from './tidy/purity.ts'
import * as shape from './tidy/shape.ts'
import {
  isTestFile,
  parseSourceFile,
  readSourceFile,
  repositoryFiles,
  type SourceFile,
} from './tidy/source-file.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const paths = repositoryFiles(root)
const sources = paths
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.generated.ts'))
  .map((path) => readSourceFile(root, path))

const testPaths = new Set(sources.filter(isTestFile).map(({ path }) => path))

const declared = (workspace: string): ReadonlySet<string> => {
  const text = readFileSync(join(root, workspace, 'package.json'), 'utf8')
  // `as`: npm itself insists on this shape.
  const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> }
  return new Set(Object.keys(dependencies))
}

interface Rule {
  readonly sentence: string
  readonly check: (file: SourceFile) => string[]
  /** What the rule must refuse: file path and text. */
  readonly refused: readonly (readonly [path: string, text: string])[]
  /** What looks similar and must pass. */
  readonly accepted: readonly (readonly [path: string, text: string])[]
}

const longFunction = `function f() {\n${'  call()\n'.repeat(70)}}\n`

const RULES: readonly Rule[] = [
  {
    sentence: 'arrows between workspaces only point down',
    check: imports.importLaw,
    refused: [
      ['packages/iceberg/src/io/x.ts', `import { a } from '@timelake/storage/object-store'`],
      ['packages/storage/src/x.ts', `import { a } from '@timelake/database/tables'`],
      ['packages/timelake/src/contract/x.ts', `import type { a } from '@timelake/worker/a'`],
      ['apps/catalog/src/x.ts', `import { a } from '@timelake/worker/run-job'`],
      ['apps/worker/src/x.ts', `await import('@timelake/catalog/start-catalog')`],
      ['apps/catalog/src/x.ts', `import { a } from '@timelake/timelake/data/merge'`],
    ],
    accepted: [
      ['apps/cli/src/x.ts', `import { a } from '@timelake/catalog/start-catalog'`],
      ['apps/catalog/src/x.ts', `import { a } from '@timelake/timelake/contract/settings'`],
      ['apps/worker/src/x.test.ts', `import { a } from '@timelake/catalog/start-catalog'`],
    ],
  },
  {
    sentence: 'imports are spelled by relative path inside a package and by its exports outside',
    check: imports.importSpelling,
    refused: [
      ['packages/iceberg/src/io/x.ts', `import { a } from '../../../storage/src/a.ts'`],
      ['packages/iceberg/src/io/x.ts', `import { a } from './a'`],
      ['apps/cli/src/x.ts', `import { a } from '@timelake/catalog/a.ts'`],
      ['apps/cli/src/x.ts', `import { a } from '@timelake/cli/a'`],
    ],
    accepted: [['packages/iceberg/src/io/x.ts', `import { a } from '../spec/a.ts'`]],
  },
  {
    sentence: 'production code does not lean on test code',
    check: (file) => imports.testsStayOutside(file, testPaths),
    refused: [
      ['apps/cli/src/x.ts', `import { a } from './serve.test.ts'`],
      ['apps/cli/src/x.ts', `import { a } from '@timelake/storage/conformance'`],
    ],
    accepted: [
      ['apps/cli/src/x.test.ts', `import { a } from '@timelake/storage/conformance'`],
      ['apps/cli/src/x.ts', `import { a } from '@timelake/storage/object-store'`],
    ],
  },
  {
    sentence: 'one place knows each vendor',
    check: imports.vendorPerFile,
    refused: [
      ['apps/cli/src/x.ts', `import { PGlite } from '@electric-sql/pglite'`],
      ['apps/worker/src/run-job.ts', `import { Queue } from 'bullmq'`],
      ['packages/timelake/src/data/merge.ts', `import d from '@duckdb/node-api'`],
      ['apps/worker/src/x.ts', `import { Hono } from 'hono'`],
      ['packages/storage/src/local.ts', `import { S3 } from '@aws-sdk/client-s3'`],
    ],
    accepted: [
      ['apps/worker/src/queue/bullmq-queue.ts', `import { Queue } from 'bullmq'`],
      ['packages/database/src/open.ts', `import { PGlite } from '@electric-sql/pglite'`],
      ['tools/bench/x.ts', `import { PGlite } from '@electric-sql/pglite'`],
    ],
  },
  {
    sentence: 'every imported package is declared where it is used',
    check: (file) => imports.declaredDependencies(file, declared),
    refused: [['packages/iceberg/src/x.ts', `import { z } from 'zod'`]],
    accepted: [['apps/cli/src/x.ts', `import { pino } from 'pino'\nimport 'node:fs'`]],
  },
  {
    sentence: 'pure folders do not know the impure ones beside them',
    check: imports.innerLayers,
    refused: [
      ['packages/iceberg/src/commit/x.ts', `import { a } from '../io/a.ts'`],
      ['packages/timelake/src/contract/x.ts', `import { a } from '../data/a.ts'`],
      ['packages/timelake/src/contract/x.ts', `import { a } from '@timelake/iceberg/io/a'`],
    ],
    accepted: [['packages/iceberg/src/io/x.ts', `import { a } from '../commit/a.ts'`]],
  },
  {
    sentence: 'pure folders use no promise, clock, randomness, environment or I/O',
    check: purity,
    refused: [
      ['packages/iceberg/src/spec/x.ts', 'export async function f() {}'],
      ['packages/iceberg/src/spec/x.ts', 'export type A = Promise<string>'],
      ['packages/iceberg/src/spec/x.ts', 'const now = Date.now()'],
      ['packages/iceberg/src/spec/x.ts', 'const now = new Date()'],
      ['packages/iceberg/src/spec/x.ts', 'const id = Math.random()'],
      ['packages/iceberg/src/spec/x.ts', `import { readFileSync } from 'node:fs'`],
      ['packages/iceberg/src/spec/x.ts', `import { randomUUID } from 'node:crypto'`],
      ['packages/timelake/src/contract/x.ts', 'const host = process.env.HOST'],
      ['packages/timelake/src/contract/x.ts', 'setTimeout(f, 1)'],
    ],
    accepted: [
      ['packages/iceberg/src/io/x.ts', 'export async function f() {}'],
      ['packages/iceberg/src/spec/x.ts', 'const day = new Date(0)'],
      ['packages/iceberg/src/spec/x.ts', `import { createHash } from 'node:crypto'`],
      ['packages/iceberg/src/spec/x.ts', 'interface A { readonly process: string }'],
    ],
  },
  {
    sentence: 'the environment is read only in config.ts',
    check: processUse.environmentOnlyInConfig,
    refused: [['apps/worker/src/x.ts', 'const a = process.env.A']],
    accepted: [
      ['apps/cli/src/config.ts', 'const a = process.env'],
      ['tools/bench/x.ts', 'const a = process.env.A'],
    ],
  },
  {
    sentence: 'signals and exits belong to main.ts',
    check: processUse.signalsOnlyInMain,
    refused: [
      ['apps/cli/src/serve.ts', `process.on('SIGTERM', stop)`],
      ['apps/cli/src/serve.ts', 'process.exit(1)'],
    ],
    accepted: [
      ['apps/cli/src/main.ts', `process.on('SIGTERM', stop)`],
      ['packages/timelake/src/data/merge-child.ts', `process.on('SIGTERM', stop)`],
      ['apps/worker/src/x.ts', `process.on('message', take)`],
    ],
  },
  {
    sentence: 'exports are named and have one home',
    check: shape.namedExportsOnly,
    refused: [
      ['apps/cli/src/x.ts', 'export default function f() {}'],
      ['apps/cli/src/x.ts', 'export default 1'],
      ['apps/cli/src/x.ts', `export * from './a.ts'`],
      ['apps/cli/src/x.ts', `export { a } from './a.ts'`],
    ],
    accepted: [['apps/cli/src/x.ts', 'export const a = 1\nconst b = 2\nexport { b }']],
  },
  {
    sentence: 'files have at most 500 lines',
    check: shape.fileBudget,
    refused: [['apps/cli/src/x.ts', 'call()\n'.repeat(501)]],
    accepted: [
      ['apps/cli/src/x.ts', 'call()\n'.repeat(500)],
      ['apps/cli/src/x.test.ts', 'call()\n'.repeat(501)],
    ],
  },
  {
    sentence: 'functions have at most 70 lines and three positional parameters',
    check: shape.functionBudget,
    refused: [
      ['apps/cli/src/x.ts', longFunction],
      ['apps/cli/src/x.ts', 'const f = (a: A, b: B, c: C, d: D) => a'],
    ],
    accepted: [
      ['apps/cli/src/x.test.ts', longFunction],
      ['apps/cli/src/x.ts', 'type F = (a: A, b: B, c: C, d: D) => void'],
    ],
  },
  {
    sentence: 'exported functions have a doc comment',
    check: shape.documentedFunctions,
    refused: [['apps/cli/src/x.ts', 'export function f() {}']],
    accepted: [
      ['apps/cli/src/x.ts', '/** The answer. */\nexport function f() {}\nfunction g() {}'],
    ],
  },
  {
    sentence: 'a number is a long or an int, never either',
    check: shape.noLongOrInt,
    refused: [['apps/cli/src/x.ts', 'type A = number | bigint | undefined']],
    accepted: [['apps/cli/src/x.ts', 'type A = string | number | bigint']],
  },
  {
    sentence: 'tests replace no module and leave no other test out',
    check: shape.honestTests,
    refused: [
      ['apps/cli/src/x.test.ts', `vi.mock('./a.ts')`],
      ['apps/cli/src/x.test.ts', `it.only('a', f)`],
    ],
    accepted: [['apps/cli/src/x.test.ts', `it('a', f)`]],
  },
]

describe.each(RULES)('$sentence', ({ check, refused, accepted }) => {
  it('holds everywhere', () => {
    expect(sources.flatMap(check)).toEqual([])
  })

  it.each(refused)('refuses %s: %j', (path, text) => {
    expect(check(parseSourceFile(path, text))).not.toEqual([])
  })

  it.each(accepted)('accepts %s: %j', (path, text) => {
    expect(check(parseSourceFile(path, text))).toEqual([])
  })
})

describe('files are named in kebab-case for what they define', () => {
  it('holds everywhere', () => {
    expect(paths.flatMap(fileNames)).toEqual([])
  })

  it.each([
    'apps/cli/src/loadTable.ts',
    'apps/cli/src/json-utils.ts',
    'packages/iceberg/src/spec/types.ts',
    'packages/iceberg/src/helpers/a.ts',
    'apps/worker/src/job_runner.ts',
  ])('refuses %s', (path) => {
    expect(fileNames(path)).not.toEqual([])
  })

  it.each([
    'packages/iceberg/src/spec/type.ts',
    'apps/cli/src/x.soak.test.ts',
    'openapi/a.generated.ts',
  ])('accepts %s', (path) => {
    expect(fileNames(path)).toEqual([])
  })
})

describe('no file ties the repository to one machine or network', () => {
  it('holds everywhere', () => {
    const found = paths
      .filter(isSearched)
      .flatMap((path) => forbiddenWords(path, readFileSync(join(root, path), 'utf8')))
    expect(found).toEqual([])
  })

  it.each([
    ['see ', '/work', '/main/README.md'],
    ['/root', '/.npmrc'],
    ['https://registry', '.npmjs', '.org/zod'],
    ['read .', './shared/notes'],
  ])('refuses %s%s', (...parts) => {
    expect(forbiddenWords('README.md', parts.join(''))).not.toEqual([])
  })

  it('accepts a path inside the repository', () => {
    expect(forbiddenWords('README.md', 'tools/work/list')).toEqual([])
  })
})

describe('every invariant has a test with its number, and every number is an invariant', () => {
  const text = readFileSync(join(root, 'docs/invariants.md'), 'utf8')
  const sample = (name: string) => parseSourceFile('apps/cli/src/x.test.ts', name)

  it('holds everywhere', () => {
    const defined = definedInvariants(text)
    expect(defined.toSorted()).toEqual(defined.map((_, index) => `I${index + 1}`).toSorted())
    expect(invariantNumbers(defined, sources.filter(isTestFile))).toEqual([])
  })

  it.each(["it('a I1 b', f)", "describe('I1: a', f)", "it.each(rows)('I1 %s', f)"])(
    'counts %s',
    (name) => {
      expect(invariantNumbers(['I1'], [sample(name)])).toEqual([])
    },
  )

  it.each(["it('I2 a', f)", "check('I1 a', f)", '// I1', "it('a', () => f('I1'))"])(
    'does not count %s',
    (name) => {
      expect(invariantNumbers(['I1'], [sample(name)])).not.toEqual([])
    },
  )
})
