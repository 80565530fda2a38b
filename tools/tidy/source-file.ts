import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** An import or re-export of one module. */
export interface ImportedModule {
  readonly specifier: string
  readonly line: number
}

/** One TypeScript file as the rules see it; `path` is relative to the repository, with slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  readonly tree: ts.SourceFile
  readonly imports: readonly ImportedModule[]
}

const FOLDERS_SKIPPED = new Set(['node_modules', '.git', '.cache', 'data', 'coverage'])

/**
 * Every file of the repository by relative path, without installed packages, caches and the data directory of a
 * server. `data` is skipped at the top only: packages have folders of that name.
 */
export function repositoryFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const isSkipped = FOLDERS_SKIPPED.has(entry.name) && (entry.name !== 'data' || folder === '')
    if (isSkipped) return []
    return entry.isDirectory() ? repositoryFiles(root, path) : [path]
  })
}

/** The parsed file. Types are not resolved, so this costs milliseconds. */
export function readSourceFile(root: string, path: string): SourceFile {
  return parseSourceFile(path, readFileSync(join(root, path), 'utf8'))
}

/** The same for text that is not on disk, as the negative examples need it. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS)
  return { path, text, tree, imports: importedModules(tree) }
}

/** Calls the visitor for every node of the tree, parents first. */
export function visit(node: ts.Node, visitor: (node: ts.Node) => void): void {
  visitor(node)
  ts.forEachChild(node, (child) => visit(child, visitor))
}

/** The 1-based line on which the node's own text begins. */
export function lineOf(node: ts.Node): number {
  const tree = node.getSourceFile()
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1
}

/** `path:line: sentence`, which editors and terminals can open. */
export function finding(file: SourceFile, line: number, sentence: string): string {
  return `${file.path}:${line}: ${sentence}`
}

/**
 * Whether the rules for production code do not apply: tests, what only tests import (its name begins with `test-`), and
 * suites that several tests share, which give themselves away by what they import.
 */
export function isTestFile({ path, imports }: SourceFile): boolean {
  if (/\.test\.ts$|\/(open-)?test-[^/]+\.ts$|^packages\/testing\//.test(path)) return true
  return imports.some(({ specifier }) =>
    /^(vitest|fast-check|@timelake\/testing\/.*)$/.test(specifier),
  )
}

function importedModules(tree: ts.SourceFile): ImportedModule[] {
  const found: ImportedModule[] = []
  visit(tree, (node) => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) found.push({ specifier: specifier.text, line: lineOf(node) })
  })
  return found
}

function specifierOf(node: ts.Node): ts.StringLiteralLike | undefined {
  const isStatement = ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
  const candidate = isStatement ? node.moduleSpecifier : dynamicImportArgument(node)
  return candidate !== undefined && ts.isStringLiteralLike(candidate) ? candidate : undefined
}

function dynamicImportArgument(node: ts.Node): ts.Node | undefined {
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined
  const isImportCall =
    ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
  return isImportCall ? node.arguments[0] : undefined
}
