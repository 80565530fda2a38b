import { readFileSync } from 'node:fs'

/** The version in this workspace's package.json. */
export function programVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  // `as`: our own file.
  return (JSON.parse(text) as { version: string }).version
}
