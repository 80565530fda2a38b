import ts from 'typescript'
import { finding, lineOf, visit, type SourceFile } from './source-file.ts'

const INVARIANTS_FILE = 'docs/invariants.md'
const NUMBER = /\bI(\d+)\b/g

/** The numbers that the list of invariants defines, in its order. */
export function definedInvariants(text: string): string[] {
  return [...text.matchAll(/^- \*\*(I\d+)\*\* /gm)].map(([, number]) => number ?? '')
}

/** Invariants without a test that has their number in its name, and numbers in test names that the list does not define. */
export function invariantNumbers(
  defined: readonly string[],
  tests: readonly SourceFile[],
): string[] {
  const names = tests.flatMap(testNames)
  const pinned = new Set(names.flatMap(({ numbers }) => numbers))
  const missing = defined.filter((number) => !pinned.has(number))
  const unknown = names.flatMap(({ file, line, numbers }) =>
    numbers
      .filter((number) => !defined.includes(number))
      .map((number) => finding(file, line, `${number} is not in ${INVARIANTS_FILE}`)),
  )
  return [...missing.map((number) => `${INVARIANTS_FILE}: no test name has ${number}`), ...unknown]
}

/** One name of a test with the invariants that it claims to pin. */
interface TestName {
  readonly file: SourceFile
  readonly line: number
  readonly numbers: readonly string[]
}

/** What `it`, `test` and `describe` are given as names, through `.each` and the like too. */
function testNames(file: SourceFile): TestName[] {
  const names: TestName[] = []
  visit(file.tree, (node) => {
    if (!ts.isCallExpression(node) || !isTestFunction(node.expression)) return
    const [first] = node.arguments
    if (first === undefined) return
    const isName = ts.isStringLiteralLike(first) || ts.isTemplateExpression(first)
    const numbers = isName ? (first.getText(file.tree).match(NUMBER) ?? []) : []
    names.push({ file, line: lineOf(first), numbers })
  })
  return names
}

function isTestFunction(node: ts.Expression): boolean {
  if (ts.isIdentifier(node)) return ['it', 'test', 'describe'].includes(node.text)
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node))
    return isTestFunction(node.expression)
  return false
}
