/** Joins the levels of a namespace in the database; no level may hold it. */
const LEVEL_SEPARATOR = '\u001f'

const SLUG_CHARACTERS_MAX = 40

/**
 * True for the names of tables and the levels of namespaces that the database keeps exactly: not empty, no NUL, no
 * U+001F, no lone surrogate. Refuse others with a 400; looking them up finds nothing.
 */
export function isStorableName(name: string): boolean {
  return name !== '' && !/[\u0000\u001f]|\p{Surrogate}/u.test(name)
}

/** True for a non-empty list of storable levels. */
export function areStorableLevels(levels: readonly string[]): boolean {
  return levels.length > 0 && levels.every(isStorableName)
}

/** The one text that stands for these levels; exact, because no level holds the separator. */
export function joinLevels(levels: readonly string[]): string {
  return levels.join(LEVEL_SEPARATOR)
}

/** The levels that `joinLevels` joined. */
export function splitLevels(joined: string): string[] {
  return joined.split(LEVEL_SEPARATOR)
}

/** The first key of a page: everything after this one. A page token is hostile input and may hold a NUL. */
export function keysetStart(after: string | undefined): string {
  return after?.split('\u0000', 1)[0] ?? ''
}

/** A name cut to what is safe in every path: `[A-Za-z0-9_-]`, at most 40 characters. Not unique: add an id. */
export function slugOf(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, SLUG_CHARACTERS_MAX)
}

/** The last part of a namespace's default location: `<slug of the levels>-<first 8 hex digits of the id>`. */
export function namespaceDirectoryName(levels: readonly string[], namespaceId: string): string {
  return `${slugOf(levels.join('-'))}-${namespaceId.replaceAll('-', '').slice(0, 8)}`
}
