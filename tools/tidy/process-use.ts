import ts from 'typescript'
import { finding, isTestFile, lineOf, visit, type SourceFile } from './source-file.ts'

// A program, or a child process, which has signals of its own.
const PROCESS_ENTRY = /\/(main|[a-z]+-child)\.ts$/

/** Reads of `process.env` outside a file called `config.ts`. */
export function environmentOnlyInConfig(file: SourceFile): string[] {
  if (isTestFile(file) || !isWorkspaceFile(file.path) || file.path.endsWith('/config.ts')) return []
  return members(file, (name) => name === 'process.env').map((line) =>
    finding(file, line, 'process.env may be read only in config.ts'),
  )
}

/** Signal handlers and `process.exit` outside the entry file of a process. */
export function signalsOnlyInMain(file: SourceFile): string[] {
  if (isTestFile(file) || !isWorkspaceFile(file.path) || PROCESS_ENTRY.test(file.path)) return []
  const found: string[] = []
  visit(file.tree, (node) => {
    if (!ts.isCallExpression(node)) return
    const name = node.expression.getText()
    const [first] = node.arguments
    const isHandler =
      /^process\.(on|once|addListener)$/.test(name) &&
      first !== undefined &&
      /['"`]SIG/.test(first.getText())
    if (isHandler || name === 'process.exit') {
      found.push(
        finding(file, lineOf(node), `${name} may be used only in main.ts or <name>-child.ts`),
      )
    }
  })
  return found
}

function isWorkspaceFile(path: string): boolean {
  return path.startsWith('apps/') || path.startsWith('packages/')
}

function members(file: SourceFile, isWanted: (name: string) => boolean): number[] {
  const lines: number[] = []
  visit(file.tree, (node) => {
    if (ts.isPropertyAccessExpression(node) && isWanted(node.getText())) lines.push(lineOf(node))
  })
  return lines
}
