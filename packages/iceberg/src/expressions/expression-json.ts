import { list, object, refuse, text } from '../spec/decode.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { assertNever, invariant } from '../spec/invariant.ts'
import { isJsonArray } from '../spec/json.ts'
import { encodeJsonValue } from '../spec/json-single-value.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import type { SingleValue } from '../spec/single-value.ts'
import { printTransform } from '../spec/transform-text.ts'
import type {
  BoundTerm,
  CompareOperator,
  Expression,
  Literal,
  Predicate,
  SetOperator,
  Term,
  UnaryOperator,
} from './expression.ts'
import {
  decodeDataType,
  decodeLiteral,
  decodeTerm,
  decodeTermOperand,
  isLiteral,
} from './operand-json.ts'

/** How deep `not`, `and` within `or`, and so on may be nested; chains of one kind count once. */
export const EXPRESSION_DEPTH_MAX = 200
/** Predicates and connectives of one filter. */
export const EXPRESSION_NODES_MAX = 100_000
/** Literals of one filter. */
export const EXPRESSION_LITERALS_MAX = 1_000_000

const UNARY: ReadonlySet<string> = new Set<UnaryOperator>([
  'is-null',
  'not-null',
  'is-nan',
  'not-nan',
])
const SETS: ReadonlySet<string> = new Set<SetOperator>(['in', 'not-in'])
/** Each comparison and what it is with its sides exchanged; a prefix cannot change sides. */
const COMPARISONS: Readonly<Record<CompareOperator, CompareOperator | undefined>> = {
  lt: 'gt',
  'lt-eq': 'gt-eq',
  gt: 'lt',
  'gt-eq': 'lt-eq',
  eq: 'eq',
  'not-eq': 'not-eq',
  'starts-with': undefined,
  'not-starts-with': undefined,
}

interface Reading {
  nodeCount: number
  literalCount: number
}

/**
 * A filter in JSON, in the grammar of today or in the one before it, which engines still send. Throws InvalidInputError that
 * names the member, also for a filter beyond EXPRESSION_DEPTH_MAX, EXPRESSION_NODES_MAX or EXPRESSION_LITERALS_MAX.
 * Spec: Expressions; REST catalog, Expression.
 */
export function decodeExpression(json: JsonValue | undefined, path: string): Expression {
  return decodeNode(json, path, { depth: 0, reading: { nodeCount: 0, literalCount: 0 } })
}

interface Place {
  readonly depth: number
  readonly reading: Reading
}

function decodeNode(json: JsonValue | undefined, path: string, place: Place): Expression {
  if (place.depth > EXPRESSION_DEPTH_MAX) {
    throw new InvalidInputError(`expected at most ${EXPRESSION_DEPTH_MAX} levels`, path)
  }
  countNode(path, place.reading)
  if (typeof json === 'boolean') return { kind: json ? 'true' : 'false' }
  const raw = object(json, path)
  const type = typeOf(raw, path)
  const inner = { ...place, depth: place.depth + 1 }
  switch (type) {
    case 'true':
    case 'false':
      return { kind: type }
    case 'literal':
      if (typeof raw['value'] === 'boolean') return { kind: raw['value'] ? 'true' : 'false' }
      return refuse('true or false', raw['value'], `${path}.value`)
    case 'not':
      return { kind: 'not', child: decodeNode(raw['child'], `${path}.child`, inner) }
    case 'and':
    case 'or':
      return { kind: type, children: decodeChain(raw, path, inner) }
    default:
      return decodePredicate(raw, { type, path, reading: place.reading })
  }
}

function typeOf(raw: JsonObject, path: string): string {
  const type = text(raw['type'], `${path}.type`).toLowerCase()
  // @NOTE Java reads names of operators in any case and with underscores.
  return type.replaceAll('_', '-')
}

function countNode(path: string, reading: Reading): void {
  reading.nodeCount += 1
  if (reading.nodeCount <= EXPRESSION_NODES_MAX) return
  throw new InvalidInputError(`expected a filter of at most ${EXPRESSION_NODES_MAX} parts`, path)
}

/** The members of a chain such as `a and b and c`, whichever way it leans, without one call for each link. */
function decodeChain(chain: JsonObject, path: string, place: Place): readonly Expression[] {
  const kind = typeOf(chain, path)
  const children: Expression[] = []
  const waiting: { readonly json: JsonValue | undefined; readonly path: string }[] = []
  const open = (node: JsonObject, at: string): void => {
    waiting.push(
      { json: node['right'], path: `${at}.right` },
      { json: node['left'], path: `${at}.left` },
    )
  }
  open(chain, path)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { json } = next
    const isObject = typeof json === 'object' && json !== null && !isJsonArray(json)
    if (isObject && typeof json['type'] === 'string' && typeOf(json, next.path) === kind) {
      countNode(path, place.reading)
      // The path of a long chain would be longer than the filter.
      open(json, path)
    } else children.push(decodeNode(json, next.path, place))
  }
  return children
}

interface Leaf {
  readonly type: string
  readonly path: string
  readonly reading: Reading
}

function decodePredicate(raw: JsonObject, { type, path, reading }: Leaf): Expression {
  if (isOneOf<UnaryOperator>(UNARY, type)) {
    return { kind: 'unary', operator: type, term: decodeTested(raw, path) }
  }
  if (isOneOf<SetOperator>(SETS, type)) return decodeSet(raw, { type, path, reading })
  if (Object.hasOwn(COMPARISONS, type)) {
    return decodeCompare(raw, type as CompareOperator, path) // `as`: reason: it is a key of the table
  }
  throw new InvalidInputError(`"${type.slice(0, 100)}" is not a kind of expression`, `${path}.type`)
}

/** What a unary operator or a set tests: `term` in the older grammar, `child` in the newer one. */
function decodeTested(raw: JsonObject, path: string): Term {
  return raw['term'] === undefined
    ? decodeTermOperand(raw['child'], `${path}.child`)
    : decodeTerm(raw['term'], `${path}.term`)
}

function isOneOf<Operator extends string>(
  known: ReadonlySet<string>,
  type: string,
): type is Operator {
  return known.has(type)
}

function decodeCompare(raw: JsonObject, operator: CompareOperator, path: string): Expression {
  if (raw['term'] !== undefined) {
    const term = decodeTerm(raw['term'], `${path}.term`)
    const literal = decodeLiteral(raw['value'], `${path}.value`)
    return { kind: 'compare', operator, term, literal }
  }
  const exchanged = COMPARISONS[operator]
  const isExchanged = exchanged !== undefined && isLiteral(raw['left']) && !isLiteral(raw['right'])
  const [column, value] = isExchanged ? ['right', 'left'] : ['left', 'right']
  return {
    kind: 'compare',
    operator: isExchanged ? exchanged : operator,
    term: decodeTermOperand(raw[column], `${path}.${column}`),
    literal: decodeLiteral(raw[value], `${path}.${value}`),
  }
}

function decodeSet(
  raw: JsonObject,
  { type, path, reading }: Leaf & { readonly type: SetOperator },
): Expression {
  const term = decodeTested(raw, path)
  const at = `${path}.values`
  const decodeItem = (item: JsonValue | undefined, itemPath: string): Literal => {
    reading.literalCount += 1
    if (reading.literalCount <= EXPRESSION_LITERALS_MAX) return decodeLiteral(item, itemPath)
    throw new InvalidInputError(`expected at most ${EXPRESSION_LITERALS_MAX} literals`, at)
  }
  const values = raw['values']
  if (isJsonArray(values)) {
    return { kind: 'set', operator: type, term, literals: list(values, at, decodeItem) }
  }
  const shared = object(values, at)
  const kind = text(shared['type'], `${at}.type`)
  if (kind !== 'literals') {
    throw new InvalidInputError(`expected literals, got "${kind.slice(0, 100)}"`, `${at}.type`)
  }
  const dataType = decodeDataType(shared, at)
  const literals = list(shared['values'], `${at}.values`, decodeItem)
  return {
    kind: 'set',
    operator: type,
    term,
    literals: literals.map((literal) => ({ ...literal, ...dataType })),
  }
}

/** Longer chains of `and` or `or` are written as balanced trees, which no reader must go deep for. */
const NESTED_CHAIN_LENGTH_MAX = 64

/**
 * The JSON of a filter in the older grammar, the only one that released clients read: `and` and `or` with two sides each, bare
 * `true` and `false`, columns by their full names, literals in the single-value form. decodeExpression reads it back.
 * Spec: Expressions, Backward compatibility.
 */
export function encodePredicate(predicate: Predicate): JsonValue {
  switch (predicate.kind) {
    case 'true':
      return true
    case 'false':
      return false
    case 'and':
    case 'or':
      return encodeChain(predicate.kind, predicate.children)
    case 'unary':
      return { type: predicate.operator, term: encodeTerm(predicate.term) }
    case 'compare': {
      const { operator, term, literal } = predicate
      return { type: operator, term: encodeTerm(term), value: encodeLiteral(term, literal) }
    }
    case 'set': {
      const { operator, term, literals } = predicate
      const values = literals.map((literal) => encodeLiteral(term, literal))
      return { type: operator, term: encodeTerm(term), values }
    }
    default:
      return assertNever(predicate, 'predicate')
  }
}

function encodeChain(type: 'and' | 'or', children: readonly Predicate[]): JsonValue {
  const last = children.at(-1)
  invariant(last !== undefined, `a chain of ${type} has no members`)
  if (children.length === 1) return encodePredicate(last)
  // Engines nest to the left; the same tree is told to be the same filter.
  const isNested = children.length <= NESTED_CHAIN_LENGTH_MAX
  const leftCount = isNested ? children.length - 1 : children.length >> 1
  return {
    type,
    left: encodeChain(type, children.slice(0, leftCount)),
    right: encodeChain(type, children.slice(leftCount)),
  }
}

function encodeTerm({ name, transform }: BoundTerm): JsonValue {
  if (transform.kind === 'identity') return name
  return { type: 'transform', transform: printTransform(transform), term: name }
}

const FOUR_DIGIT_YEAR = /^(?!0000)\d{4}-/

/** Dates of years that not every reader takes as text are written as numbers, which all take. */
function encodeLiteral({ resultType }: BoundTerm, literal: SingleValue): JsonValue {
  const json = encodeJsonValue(resultType, literal)
  switch (resultType.kind) {
    case 'date':
    case 'timestamp':
    case 'timestamptz':
      return FOUR_DIGIT_YEAR.test(String(json)) ? json : BigInt(String(literal))
    default:
      return json
  }
}
