import { existsSync, readdirSync } from 'node:fs'

/** How many files are below a directory. */
export function countFiles(directory: string): number {
  return listFiles(directory).length
}

/** The paths of all files below a directory. */
export function listFiles(directory: string): string[] {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
}
