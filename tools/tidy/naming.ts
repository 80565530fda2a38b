import { posix } from 'node:path'

const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|soak\.test|generated|config))?\.(ts|mjs|js)$/

// A name that could hold anything says nothing.
const EMPTY_WORDS = new Set([
  'util',
  'utils',
  'helper',
  'helpers',
  'common',
  'misc',
  'manager',
  'managers',
])
const EMPTY_NAMES = new Set(['service', 'services', 'base', 'interfaces', 'types', 'index'])

/** File and folder names that are not kebab-case or that could hold anything. */
export function fileNames(path: string): string[] {
  if (!/^(apps|packages|tools|openapi|scripts)\//.test(path) || !/\.(ts|mjs|js)$/.test(path))
    return []
  const name = posix.basename(path)
  const stem = name.replace(/\..*$/, '')
  const found = KEBAB_CASE.test(name) ? [] : [`${path}: ${name} is not kebab-case`]
  const parts = [...posix.dirname(path).split('/').slice(2), stem]
  const empty = parts.filter(
    (part) => EMPTY_NAMES.has(part) || part.split('-').some((word) => EMPTY_WORDS.has(word)),
  )
  return [...found, ...empty.map((part) => `${path}: ${part} is a name that could hold anything`)]
}
