import { InvalidInputError } from './errors.ts'
import { flatText } from './flat-text.ts'
import { invariant } from './invariant.ts'
import type { JsonObject, JsonValue } from './json-value.ts'

/** How deep arrays and objects may nest; deeper text is refused instead of exhausting the stack. */
export const JSON_DEPTH_MAX = 1000

/** How many characters one number may have; longer ones are refused because converting them is slow. */
export const JSON_NUMBER_LENGTH_MAX = 1000

/** Text that is not JSON. `position` is the index of the offending UTF-16 unit. */
export class JsonSyntaxError extends InvalidInputError {
  readonly position: number
  constructor(message: string, position: number) {
    super(`invalid JSON at position ${position}: ${message}`)
    this.position = position
  }
}

/**
 * The value of a JSON text without losing digits: integers become `bigint`, numbers with a point or an
 * exponent become `number`. Of repeated members the last one wins. Throws JsonSyntaxError for text that is not
 * JSON, nests deeper than JSON_DEPTH_MAX, or holds a number beyond the range of a double.
 */
export function parseJson(text: string): JsonValue {
  const reader = new JsonReader(text)
  const value = reader.readValue(0)
  reader.expectEnd()
  return value
}

/**
 * Compact JSON text of a value; `bigint` prints as digits and `number` always with a point, as Java readers of
 * float and double members insist. Members that are `undefined` are left out.
 */
export function printJson(value: JsonValue): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'bigint':
      return value.toString()
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      return printFloat(value)
    default:
      if (value === null) return 'null'
      return isJsonArray(value) ? printArray(value) : `{${printMembers(value)}}`
  }
}

/** Sets a member even when its name is `__proto__`, which a plain assignment would turn into a prototype. */
export function setMember<T>(target: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') target[name] = value
  else
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
}

/** The member of a record, never something inherited such as `constructor`. */
export function ownMember<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Whether a JSON value is a list (narrows readonly arrays, which `Array.isArray` does not). */
export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function printArray(values: readonly JsonValue[]): string {
  let text = '['
  for (let index = 0; index < values.length; index++) {
    if (index > 0) text += ','
    text += printJson(values[index] as JsonValue)
  }
  return text + ']'
}

/** The members of an object as text, without braces: empty, or `"a":1,"b":2`. */
export function printMembers(object: JsonObject): string {
  let text = ''
  for (const name of Object.keys(object)) {
    const value = object[name]
    if (value === undefined) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${printJson(value)}`
  }
  return text
}

function printFloat(value: number): string {
  invariant(Number.isFinite(value), `JSON cannot hold the number ${value}`)
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  if (text.includes('.')) return text
  const exponentAt = text.indexOf('e')
  return exponentAt < 0 ? `${text}.0` : `${text.slice(0, exponentAt)}.0${text.slice(exponentAt)}`
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
/** Integers of up to this many characters are exact as a double, which converts faster. */
const EXACT_DOUBLE_LENGTH_MAX = 15
// @NOTE V8 copies shorter pieces of a text; longer ones are views that keep all of it alive
const SLICE_LENGTH_MIN = 13
// @NOTE JSON strings must not hold control characters
const SPECIAL = /[\u0000-\u001f\\]/g
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y

/** Whether a member name stands in JSON text as it is and may be assigned as it is. */
function isSimpleName(name: string): boolean {
  return name !== '__proto__' && !/[\u0000-\u001f\\"]/.test(name)
}

class JsonReader {
  private readonly text: string
  private position = 0
  /** Where the next backslash or control character is; behind the position when not known. */
  private nextSpecial = -1
  private readonly namesByDepth: string[][] = []

  constructor(text: string) {
    this.text = text
  }

  expectEnd(): void {
    this.skipSpace()
    if (this.position < this.text.length) this.fail('unexpected text after the value')
  }

  readValue(depth: number): JsonValue {
    this.skipSpace()
    const code = this.text.charCodeAt(this.position)
    if (code === QUOTE) return this.readString()
    if (code === MINUS || (code >= ZERO && code <= NINE)) return this.readNumber(code)
    if (code === OPEN_BRACE) return this.readObject(depth + 1)
    if (code === OPEN_BRACKET) return this.readArray(depth + 1)
    return this.readWord()
  }

  private readObject(depth: number): JsonObject {
    this.enter(depth)
    const object: Record<string, JsonValue> = {}
    if (this.skipIf(CLOSE_BRACE)) return object
    const expectedNames = (this.namesByDepth[depth] ??= [])
    for (let index = 0; ; index++) {
      this.skipSpace()
      const expected = expectedNames[index]
      const name = this.readName(expected)
      if (!this.skipIf(COLON)) this.fail('expected ":"')
      if (name === expected) {
        object[name] = this.readValue(depth)
      } else {
        expectedNames[index] = isSimpleName(name) ? name : ''
        setMember(object, name, this.readValue(depth))
      }
      if (this.skipIf(COMMA)) continue
      if (this.skipIf(CLOSE_BRACE)) return object
      this.fail('expected "," or "}"')
    }
  }

  /** Objects of one list mostly repeat their names in order; finding the expected one saves making it again. */
  private readName(expected: string | undefined): string {
    const text = this.text
    if (text.charCodeAt(this.position) !== QUOTE) this.fail('expected a member name')
    if (expected === undefined) return this.readString()
    const end = this.position + 1 + expected.length
    if (text.charCodeAt(end) !== QUOTE || !text.startsWith(expected, this.position + 1)) {
      return this.readString()
    }
    this.position = end + 1
    return expected
  }

  private readArray(depth: number): JsonValue[] {
    this.enter(depth)
    const values: JsonValue[] = []
    if (this.skipIf(CLOSE_BRACKET)) return values
    for (;;) {
      values.push(this.readValue(depth))
      if (this.skipIf(COMMA)) continue
      if (this.skipIf(CLOSE_BRACKET)) return values
      this.fail('expected "," or "]"')
    }
  }

  private enter(depth: number): void {
    if (depth > JSON_DEPTH_MAX) this.fail(`nested deeper than ${JSON_DEPTH_MAX} levels`)
    this.position++
  }

  private readString(): string {
    const start = this.position + 1
    const end = this.text.indexOf('"', start)
    if (end < 0) this.failString('unterminated string', this.text.length)
    if (this.nextSpecial < start) this.findSpecial(start)
    if (this.nextSpecial > end) {
      this.position = end + 1
      const text = this.text.slice(start, end)
      return text.length < SLICE_LENGTH_MIN ? text : flatText(text)
    }
    return this.readEscapedString(start)
  }

  /** Notes where the next backslash or control character is; most texts hold few, so this runs seldom. */
  private findSpecial(from: number): void {
    SPECIAL.lastIndex = from
    this.nextSpecial = SPECIAL.exec(this.text)?.index ?? this.text.length
  }

  private readEscapedString(start: number): string {
    const text = this.text
    let end = start
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) {
      if (code === BACKSLASH) end++
      else if (!(code >= 0x20)) {
        const message = end >= text.length ? 'unterminated string' : 'control character in a string'
        this.failString(message, Math.min(end, text.length))
      }
      end++
    }
    this.position = end + 1
    return this.unescape(start, end)
  }

  private failString(message: string, position: number): never {
    this.position = position
    this.fail(message)
  }

  private unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.text.slice(start - 1, end + 1)) as string
    } catch {
      this.position = start
      return this.fail('invalid escape in a string')
    }
  }

  private readNumber(first: number): JsonValue {
    const start = this.position
    const text = this.text
    let end = start + 1
    let value = first - ZERO
    let code = text.charCodeAt(end)
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO)
      code = text.charCodeAt(++end)
    }
    const isPlainInteger = first !== MINUS && (first !== ZERO || end === start + 1)
    // 0x2e ".", 0x45 "E", 0x65 "e"
    if (!isPlainInteger || code === 0x2e || code === 0x45 || code === 0x65)
      return this.readAnyNumber(start)
    this.checkNumberLength(end - start)
    this.position = end
    return BigInt(end - start <= EXACT_DOUBLE_LENGTH_MAX ? value : text.slice(start, end))
  }

  private readAnyNumber(start: number): JsonValue {
    NUMBER.lastIndex = start
    const match = NUMBER.exec(this.text)
    if (match === null) return this.fail('invalid number')
    this.checkNumberLength(match[0].length)
    const isFloat = match[1] !== undefined || match[2] !== undefined
    const value = isFloat ? Number(match[0]) : BigInt(match[0])
    if (typeof value === 'number' && !Number.isFinite(value)) this.fail('number out of range')
    this.position = start + match[0].length
    const next = this.text.charCodeAt(this.position)
    if (next >= ZERO && next <= NINE) this.fail('number with a leading zero')
    return value
  }

  private checkNumberLength(length: number): void {
    if (length > JSON_NUMBER_LENGTH_MAX)
      this.fail(`number longer than ${JSON_NUMBER_LENGTH_MAX} characters`)
  }

  private readWord(): null | boolean {
    if (this.skipWord('null')) return null
    if (this.skipWord('true')) return true
    if (this.skipWord('false')) return false
    return this.fail(this.position >= this.text.length ? 'unexpected end' : 'unexpected character')
  }

  private skipWord(word: string): boolean {
    if (!this.text.startsWith(word, this.position)) return false
    this.position += word.length
    return true
  }

  private skipIf(code: number): boolean {
    this.skipSpace()
    if (this.text.charCodeAt(this.position) !== code) return false
    this.position++
    return true
  }

  private skipSpace(): void {
    let code = this.text.charCodeAt(this.position)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      code = this.text.charCodeAt(++this.position)
    }
  }

  private fail(message: string): never {
    throw new JsonSyntaxError(message, this.position)
  }
}
