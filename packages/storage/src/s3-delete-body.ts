import { MalformedRequestError } from './access-broker.ts'

export const DELETE_BODY_CHARACTERS_MAX = 2_097_152
const DELETE_KEYS_MAX = 1_000

const ENTITIES: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

/**
 * The keys in the body of DeleteObjects. Reads the XML that clients write and no other: no comments, sections, processing
 * instructions, attributes, prefixes or unknown elements, which another reader might read in another way.
 * Throws MalformedRequestError.
 */
export function keysOfDeleteBody(body: string): readonly string[] {
  if (body.length > DELETE_BODY_CHARACTERS_MAX) {
    throw malformed(`at most ${DELETE_BODY_CHARACTERS_MAX} characters`)
  }
  const reader = openReader(body)
  reader.take(
    /<\?xml version=(["'])1\.[01]\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])yes\3)? ?\?>/iy,
  )
  reader.take(SPACE)
  reader.need(
    /<Delete(?: xmlns=(["'])http:\/\/s3\.amazonaws\.com\/doc\/2006-03-01\/\1)? ?>/y,
    '<Delete>',
  )
  const keys: string[] = []
  let isQuietRead = false
  for (;;) {
    reader.take(SPACE)
    if (reader.take(/<\/Delete\s*>/y) !== undefined) break
    if (!isQuietRead && reader.take(/<Quiet>(true|false)<\/Quiet>/y) !== undefined) {
      isQuietRead = true
      continue
    }
    keys.push(readObject(reader))
    if (keys.length > DELETE_KEYS_MAX) throw malformed(`at most ${DELETE_KEYS_MAX} objects`)
  }
  reader.take(SPACE)
  if (!reader.isAtEnd()) throw malformed('nothing behind </Delete>')
  if (keys.length === 0) throw malformed('an object')
  return keys
}

const SPACE = /[ \t\r\n]*/y

interface Reader {
  /** What matches here, which is passed over. */
  take(pattern: RegExp): RegExpExecArray | undefined
  need(pattern: RegExp, expected: string): RegExpExecArray
  isAtEnd(): boolean
}

function openReader(text: string): Reader {
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text) ?? undefined
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  return {
    take,
    need(pattern, expected) {
      const found = take(pattern)
      if (found === undefined) throw malformed(expected)
      return found
    },
    isAtEnd: () => at === text.length,
  }
}

function readObject(reader: Reader): string {
  reader.need(/<Object>/y, '<Object>')
  reader.take(SPACE)
  const [, written = ''] = reader.need(/<Key>([^<>]+)<\/Key>/y, '<Key> and nothing else')
  reader.take(SPACE)
  reader.need(/<\/Object>/y, '</Object> behind the key')
  return textOf(written)
}

function textOf(written: string): string {
  return written.replace(/&([^;&]{0,10});?/g, (reference: string, name: string) => {
    const isWhole = reference.endsWith(';')
    const known = isWhole ? ENTITIES[name] : undefined
    if (known !== undefined) return known
    const [, hex, decimal] = /^#(?:x([0-9A-Fa-f]{1,6})|([0-9]{1,7}))$/.exec(name) ?? []
    const code = hex === undefined ? Number(decimal ?? NaN) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff)
    if (!isWhole || !isCharacter) throw malformed('only references to characters')
    return String.fromCodePoint(code)
  })
}

function malformed(expected: string): MalformedRequestError {
  return new MalformedRequestError(`body: expected ${expected} in a Delete document`)
}
