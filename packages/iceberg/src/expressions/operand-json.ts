import { int, list, object, optional, refuse, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { isJsonArray } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { parseTransform } from '../spec/transform-text.ts'
import type { Transform } from '../spec/transform.ts'
import { parsePrimitiveType } from '../spec/type-json.ts'
import type { Literal, Term } from './expression.ts'

const IDENTITY: Transform = { kind: 'identity' }

/** The functions of the table format in stored and exchanged expressions. Spec: Expressions, Iceberg functions. */
const TRANSFORM_CATALOG = 'iceberg_functions'
const SHOWN_LENGTH_MAX = 100

/**
 * A column by name or id, or a transform of one. A bare text is a name, as in the older grammar. Throws InvalidInputError.
 * Spec: Expressions, References and Backward compatibility.
 */
export function decodeTerm(json: JsonValue | undefined, path: string): Term {
  if (typeof json === 'string') return { reference: { name: json }, transform: IDENTITY }
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`)
  switch (type) {
    case 'reference':
      return { reference: decodeReference(raw, path), transform: IDENTITY }
    case 'transform': {
      const reference = columnOf(decodeTerm(raw['term'], `${path}.term`), `${path}.term`)
      return { reference, transform: decodeTransform(raw['transform'], `${path}.transform`) }
    }
    case 'apply':
      return decodeApply(raw, path)
    default:
      throw new InvalidInputError(
        `expected a reference, a transform or a function, got "${shown(type)}"`,
        `${path}.type`,
      )
  }
}

/** A column or a function of one, where a bare text would be a literal. */
export function decodeTermOperand(json: JsonValue | undefined, path: string): Term {
  if (isLiteral(json)) return refuse('a reference to a column or a function of one', json, path)
  return decodeTerm(json, path)
}

function decodeReference(raw: JsonObject, path: string): Term['reference'] {
  if (raw['id'] !== undefined) return { id: int(raw['id'], `${path}.id`) }
  const member = raw['name'] === undefined ? 'term' : 'name'
  return { name: text(raw[member], `${path}.${member}`) }
}

function columnOf({ reference, transform }: Term, path: string): Term['reference'] {
  if (transform.kind === 'identity') return reference
  throw new InvalidInputError('expected a column, got a function of one', path)
}

function decodeTransform(json: JsonValue | undefined, path: string): Transform {
  return knownTransform(text(json, path), path)
}

function knownTransform(name: string, path: string): Transform {
  const transform = parseTransform(name)
  if (transform.kind !== 'unknown-transform') return transform
  throw new InvalidInputError(`"${shown(name)}" is not a known transform`, path)
}

/** Transforms written as functions: `year(x)`, `bucket(16, x)`, `truncate(4, x)` and so on. */
function decodeApply(raw: JsonObject, path: string): Term {
  const at = `${path}.function`
  const name = decodeFunctionName(raw['function'], at)
  const places = `${path}.arguments`
  const operands = list(raw['arguments'], places, (item) => item ?? null)
  const hasParameter = name === 'bucket' || name === 'truncate'
  const expected = hasParameter ? 2 : 1
  if (operands.length !== expected) {
    throw new InvalidInputError(
      `expected ${expected} for ${shown(name)}, got ${operands.length}`,
      places,
    )
  }
  const columnPath = `${places}[${expected - 1}]`
  const reference = columnOf(decodeTermOperand(operands[expected - 1], columnPath), columnPath)
  if (!hasParameter) return { reference, transform: knownTransform(name, at) }
  const parameter = int(decodeLiteral(operands[0], `${places}[0]`).json, `${places}[0]`)
  if (parameter < 1) {
    throw new InvalidInputError(`expected a number from 1, got ${parameter}`, `${places}[0]`)
  }
  return { reference, transform: knownTransform(`${name}[${parameter}]`, at) }
}

function decodeFunctionName(json: JsonValue | undefined, path: string): string {
  if (typeof json === 'string') return json.toLowerCase()
  if (isJsonArray(json)) return onlyPart(json, path)
  const raw = object(json, path)
  const catalog = optional(raw['catalog'], `${path}.catalog`, text)
  if (catalog !== undefined && catalog !== TRANSFORM_CATALOG) {
    throw new InvalidInputError(
      `expected ${TRANSFORM_CATALOG}, got "${shown(catalog)}"`,
      `${path}.catalog`,
    )
  }
  return onlyPart(raw['identifier'], `${path}.identifier`)
}

function onlyPart(json: JsonValue | undefined, path: string): string {
  const [name, ...others] = list(json, path, text)
  if (name !== undefined && others.length === 0) return name.toLowerCase()
  throw new InvalidInputError('expected the name of a transform in one part', path)
}

function shown(name: string): string {
  return name.slice(0, SHOWN_LENGTH_MAX)
}

/** Whether an operand of the newer grammar is a literal and no column. A bare text is a literal there. */
export function isLiteral(json: JsonValue | undefined): boolean {
  if (typeof json !== 'object' || json === null || isJsonArray(json)) return true
  return json['type'] === 'literal'
}

/** A literal, bare or with a type of its own. Throws InvalidInputError. Spec: Expressions, literals. */
export function decodeLiteral(json: JsonValue | undefined, path: string): Literal {
  if (json === undefined) throw new InvalidInputError('expected a value, got nothing', path)
  if (typeof json !== 'object' || json === null) return { json }
  const raw = object(json, path)
  const type = text(raw['type'], `${path}.type`)
  if (type !== 'literal')
    throw new InvalidInputError(`expected a literal, got "${shown(type)}"`, path)
  return { json: raw['value'] ?? null, ...decodeDataType(raw, path) }
}

/** The type that the sender gave a literal, or all literals of a set; nothing when it gave none. */
export function decodeDataType(raw: JsonObject, path: string): Pick<Literal, 'type'> {
  const at = `${path}.data-type`
  const name = optional(raw['data-type'], at, text)
  return name === undefined ? {} : { type: parsePrimitiveType(name, at) }
}
