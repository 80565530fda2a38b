import ts from 'typescript'
import { finding, isTestFile, lineOf, visit, type SourceFile } from './source-file.ts'

const PURE = /^packages\/(iceberg\/src\/(?!io\/)|timelake\/src\/(contract|footer)\/)/

// Synchronous functions of these modules compute; everything else in Node reaches outside.
const PURE_NODE_MODULES = new Set(['node:zlib', 'node:buffer', 'node:crypto'])
const PURE_CRYPTO_NAMES = new Set(['createHash', 'hash'])

const IMPURE_NAMES = new Set([
  ...['Promise', 'process', 'fetch', 'console', 'performance'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
])

const IMPURE_MEMBERS = new Set([
  'Date.now',
  'Math.random',
  'crypto.randomUUID',
  'crypto.getRandomValues',
])

/** What makes a pure folder impure: promises, clocks, randomness, environment, network, file system. */
export function purity(file: SourceFile): string[] {
  if (!PURE.test(file.path) || isTestFile(file)) return []
  const found: string[] = []
  visit(file.tree, (node) => {
    const what = impurity(node)
    if (what !== undefined)
      found.push(finding(file, lineOf(node), `a pure folder must not use ${what}`))
  })
  return found
}

function impurity(node: ts.Node): string | undefined {
  if (node.kind === ts.SyntaxKind.AsyncKeyword || ts.isAwaitExpression(node))
    return 'async and await'
  if (ts.isImportDeclaration(node)) return impureImport(node)
  if (ts.isNewExpression(node))
    return isClockReading(node) ? 'new Date() without arguments' : undefined
  if (ts.isPropertyAccessExpression(node)) {
    const name = node.getText()
    return IMPURE_MEMBERS.has(name) ? name : undefined
  }
  return ts.isIdentifier(node) && IMPURE_NAMES.has(node.text) && !isMemberName(node)
    ? node.text
    : undefined
}

function impureImport(node: ts.ImportDeclaration): string | undefined {
  const specifier = ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : ''
  if (!specifier.startsWith('node:')) return undefined
  if (!PURE_NODE_MODULES.has(specifier)) return specifier
  if (specifier !== 'node:crypto') return undefined
  const bindings = node.importClause?.namedBindings
  const names = bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements : []
  const isPure = names.length > 0 && names.every(({ name }) => PURE_CRYPTO_NAMES.has(name.text))
  return isPure ? undefined : `${specifier} beyond hashing`
}

function isClockReading(node: ts.NewExpression): boolean {
  return node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0
}

// `x.process`, `{ process: 1 }` and `interface { fetch(): void }` name a member, not the global.
function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  const isNamed =
    ts.isPropertyAssignment(parent) ||
    ts.isPropertySignature(parent) ||
    ts.isMethodSignature(parent) ||
    ts.isMethodDeclaration(parent) ||
    ts.isPropertyDeclaration(parent)
  return isNamed && parent.name === node
}
