import ts from 'typescript'
import { finding, isTestFile, lineOf, visit, type SourceFile } from './source-file.ts'

const FILE_LINES_MAX = 500
const FUNCTION_LINES_MAX = 70
const POSITIONAL_PARAMETERS_MAX = 3

// Tools call these by their default export.
const DEFAULT_EXPORT_ALLOWED = new Set(['vitest.config.ts', 'packages/testing/src/global-setup.ts'])

/** Files over the hard limit. Tests and generated files are exempt. */
export function fileBudget(file: SourceFile): string[] {
  const lineCount = file.text.split('\n').length - 1
  if (isTestFile(file) || lineCount <= FILE_LINES_MAX) return []
  return [finding(file, lineCount, `${lineCount} lines, at most ${FILE_LINES_MAX}`)]
}

/** Functions over the hard limit of lines or of positional parameters. Tests are exempt. */
export function functionBudget(file: SourceFile): string[] {
  if (isTestFile(file)) return []
  const found: string[] = []
  visit(file.tree, (node) => {
    if (!isFunctionWithBody(node)) return
    const lineCount = file.text.slice(node.getStart(), node.getEnd()).split('\n').length
    const name = node.name?.getText() ?? 'a function'
    if (lineCount > FUNCTION_LINES_MAX) {
      found.push(
        finding(
          file,
          lineOf(node),
          `${name} has ${lineCount} lines, at most ${FUNCTION_LINES_MAX}`,
        ),
      )
    }
    if (positionalCount(node) > POSITIONAL_PARAMETERS_MAX) {
      const sentence = `${name} has ${positionalCount(node)} parameters, at most ${POSITIONAL_PARAMETERS_MAX}`
      found.push(finding(file, lineOf(node), sentence))
    }
  })
  return found
}

/** Default exports, `export *` and re-exports: a name has one home. */
export function namedExportsOnly(file: SourceFile): string[] {
  const found: string[] = []
  visit(file.tree, (node) => {
    const what = forbiddenExport(node)
    if (what === undefined || DEFAULT_EXPORT_ALLOWED.has(file.path)) return
    found.push(finding(file, lineOf(node), `no ${what}`))
  })
  return found
}

/** Exported functions without a doc comment. Tests are exempt. */
export function documentedFunctions(file: SourceFile): string[] {
  if (isTestFile(file)) return []
  return file.tree.statements
    .filter(ts.isFunctionDeclaration)
    .filter((node) => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
    .filter((node) => node.body !== undefined && ts.getJSDocCommentsAndTags(node).length === 0)
    .map((node) =>
      finding(file, lineOf(node), `${node.name?.text} is exported without a doc comment`),
    )
}

/**
 * Types that are a long or an int: a `long` is always a bigint, an `int` always a number. Unions that hold values of
 * any type (JSON, partition values) have more members and are fine.
 */
export function noLongOrInt(file: SourceFile): string[] {
  const found: string[] = []
  visit(file.tree, (node) => {
    if (ts.isUnionTypeNode(node) && isLongOrInt(node)) {
      found.push(finding(file, lineOf(node), 'no number | bigint'))
    }
  })
  return found
}

/** Tests that replace modules, or that would leave the others out. */
export function honestTests(file: SourceFile): string[] {
  if (!file.path.endsWith('.test.ts')) return []
  const found: string[] = []
  visit(file.tree, (node) => {
    if (!ts.isPropertyAccessExpression(node)) return
    const name = node.getText()
    const isForbidden = name === 'vi.mock' || /^(it|test|describe)(\.each)?\.only$/.test(name)
    if (isForbidden) found.push(finding(file, lineOf(node), `no ${name}`))
  })
  return found
}

function isLongOrInt(node: ts.UnionTypeNode): boolean {
  const present = node.types
    .map((member) => member.getText())
    .filter((name) => !/^(null|undefined)$/.test(name))
  return present.length === 2 && present.includes('number') && present.includes('bigint')
}

type FunctionWithBody = ts.FunctionLikeDeclaration & { readonly body: ts.Node }

function isFunctionWithBody(node: ts.Node): node is FunctionWithBody {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}

function positionalCount(node: FunctionWithBody): number {
  return node.parameters.filter(({ name }) => name.getText() !== 'this').length
}

function forbiddenExport(node: ts.Node): string | undefined {
  if (ts.isExportAssignment(node)) return 'default export'
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) return 're-export'
  const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined
  const isDefault = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false
  return isDefault ? 'default export' : undefined
}
