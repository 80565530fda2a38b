import { InvalidInputError } from '../spec/errors.ts'
import type { ViewVersion } from './view-metadata.ts'

const DROP_DIALECT_ALLOWED = 'replace.drop-dialect.allowed'

/**
 * Throws InvalidInputError unless the version can be asked: it needs a representation, and at most one query for each
 * dialect, whatever the case of its name.
 */
export function checkRepresentations({ representations }: ViewVersion): void {
  if (representations.length === 0)
    throw new InvalidInputError('Invalid view version: it has no representation')
  const dialects = new Set<string>()
  for (const representation of representations) {
    if (representation.kind !== 'sql') continue
    const dialect = representation.dialect.toLowerCase()
    if (dialects.has(dialect)) {
      throw new InvalidInputError(
        `Invalid view version: Cannot add multiple queries for dialect ${dialect}`,
      )
    }
    dialects.add(dialect)
  }
}

/**
 * Throws InvalidInputError when `after` lacks a dialect of `before`: engines that speak it alone would lose the view. The
 * property `replace.drop-dialect.allowed` permits that.
 */
export function checkDialectsKept(
  before: ViewVersion,
  after: ViewVersion,
  properties: Readonly<Record<string, string>>,
): void {
  if (properties[DROP_DIALECT_ALLOWED]?.toLowerCase() === 'true') return
  const previous = dialectsOf(before)
  const next = dialectsOf(after)
  if (previous.every((dialect) => next.includes(dialect))) return
  throw new InvalidInputError(
    `Cannot replace view due to loss of view dialects (${DROP_DIALECT_ALLOWED}=false):\n` +
      `Previous dialects: [${previous.join(', ')}]\nNew dialects: [${next.join(', ')}]`,
  )
}

function dialectsOf({ representations }: ViewVersion): string[] {
  return representations.flatMap((representation) =>
    representation.kind === 'sql' ? [representation.dialect.toLowerCase()] : [],
  )
}
