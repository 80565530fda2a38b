// Split so that this file does not contain what it looks for.
const FORBIDDEN: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  {
    pattern: new RegExp(`(^|[\\s"'\`(=:])${['', 'work', ''].join('/')}`, 'm'),
    what: 'a path of a build machine',
  },
  { pattern: new RegExp(['', 'root', ''].join('/')), what: 'a path of a build machine' },
  {
    pattern: new RegExp(['\\.\\.', 'shared', ''].join('/')),
    what: 'a folder outside the repository',
  },
  { pattern: new RegExp(['registry', 'npmjs', 'org'].join('\\.')), what: 'a registry host' },
  { pattern: new RegExp(['pypi', 'org'].join('\\.')), what: 'a registry host' },
  { pattern: new RegExp(['repo1?', 'maven', '(org|apache)'].join('\\.')), what: 'a registry host' },
]

const TEXT_FILE =
  /\.(ts|mjs|js|json|md|sh|py|java|xml|yaml|yml|sql|toml)$|(^|\/)(LICENSE|run|\.npmrc)$/

/** Whether a file is text that people read, and is therefore searched. */
export function isSearched(path: string): boolean {
  return TEXT_FILE.test(path)
}

/** Words that tie the repository to one machine or one network. */
export function forbiddenWords(path: string, text: string): string[] {
  return FORBIDDEN.filter(({ pattern }) => pattern.test(text)).map(
    ({ pattern, what }) => `${path}: mentions ${what}: ${pattern.exec(text)?.[0].trim()}`,
  )
}
