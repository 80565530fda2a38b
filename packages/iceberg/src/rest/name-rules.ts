import { InvalidInputError } from '../spec/errors.ts'

/** Longest name of a table or of one namespace level, in UTF-8 bytes: it must fit a database index. */
export const NAME_BYTES_MAX = 512
/** Longest namespace, all levels together, in UTF-8 bytes. */
export const NAMESPACE_BYTES_MAX = 1024
export const NAMESPACE_LEVELS_MAX = 32

/**
 * Throws InvalidInputError unless the text can name a table or a namespace level: not empty, storable text, no
 * U+001F (it separates levels in URLs), at most NAME_BYTES_MAX bytes. Dots, slashes, spaces and any script are allowed.
 */
export function checkName(name: string, path: string): void {
  if (name === '') throw new InvalidInputError('a name must not be empty', path)
  if (name.includes('\u001f')) throw new InvalidInputError('a name must not hold U+001F', path)
  checkStorableText(name, path)
  const byteCount = Buffer.byteLength(name)
  if (byteCount > NAME_BYTES_MAX) {
    throw new InvalidInputError(
      `a name of ${byteCount} bytes is longer than ${NAME_BYTES_MAX}`,
      path,
    )
  }
}

/** Throws InvalidInputError unless the levels can name a namespace: at least one, each a valid name. */
export function checkNamespace(levels: readonly string[], path: string): void {
  if (levels.length === 0) throw new InvalidInputError('a namespace needs at least one level', path)
  if (levels.length > NAMESPACE_LEVELS_MAX) {
    throw new InvalidInputError(
      `${levels.length} levels are more than ${NAMESPACE_LEVELS_MAX}`,
      path,
    )
  }
  levels.forEach((level, index) => checkName(level, `${path}[${index}]`))
  const byteCount = levels.reduce((sum, level) => sum + Buffer.byteLength(level), 0)
  if (byteCount > NAMESPACE_BYTES_MAX) {
    throw new InvalidInputError(
      `a namespace of ${byteCount} bytes is longer than ${NAMESPACE_BYTES_MAX}`,
      path,
    )
  }
}

/** Throws InvalidInputError for U+0000 and lone surrogates, which databases and UTF-8 cannot hold. */
export function checkStorableText(text: string, path: string): void {
  if (text.includes('\u0000')) throw new InvalidInputError('text must not hold U+0000', path)
  if (/\p{Surrogate}/u.test(text))
    throw new InvalidInputError('text is not well-formed Unicode', path)
}
