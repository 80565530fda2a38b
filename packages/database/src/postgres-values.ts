/*
 * Parameters and fields as the driver passes them: texts in PostgreSQL's own form both ways, so a parameter's type is
 * what the statement says it is and no driver guesses.
 */
import { invariant } from './invariant.ts'

/** The text form of a parameter; null for SQL null. Arrays have one dimension. */
export function encodeParameter(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return `{${value.map(encodeElement).join(',')}}`
  return encodeScalar(value)
}

function encodeScalar(value: unknown): string {
  const isScalar =
    typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  invariant(isScalar, `a parameter is text, a number, a boolean or null: found ${typeof value}`)
  return String(value)
}

function encodeElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (typeof value !== 'string') return encodeScalar(value)
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`
}

type ParseField = (text: string) => unknown

const toNumber: ParseField = (text) => Number(text)
const toBigint: ParseField = (text) => BigInt(text)
const toBoolean: ParseField = (text) => text === 't'
const toText: ParseField = (text) => text

/** One row per type: its oid, the oid of its arrays, and how a text becomes a value. All other types stay text. */
const TYPES: readonly (readonly [oid: number, arrayOid: number, parse: ParseField])[] = [
  [16, 1000, toBoolean],
  [20, 1016, toBigint],
  [21, 1005, toNumber],
  [23, 1007, toNumber],
  [25, 1009, toText],
  [26, 1028, toNumber],
  [700, 1021, toNumber],
  [701, 1022, toNumber],
  [1043, 1015, toText],
]

/** Types that the driver would turn into something else: bytea, JSON, dates and times. They stay text. */
const TEXT_OIDS = [17, 114, 3802, 1082, 1114, 1184]

interface FieldType {
  readonly to: number
  readonly from: number[]
  readonly serialize: (value: unknown) => unknown
  readonly parse: ParseField
}

/** The driver's table of types: parameters go as they are, fields come as `TYPES` says. */
export function postgresTypes(): Record<string, FieldType> {
  const type = (oid: number, parse: ParseField): [string, FieldType] => [
    `oid${oid}`,
    { to: oid, from: [oid], serialize: (value) => value, parse },
  ]
  return Object.fromEntries([
    ...TYPES.map(([oid, , parse]) => type(oid, parse)),
    ...TYPES.map(([, arrayOid, parse]) => type(arrayOid, (text) => parseArray(text, parse))),
    ...TEXT_OIDS.map((oid) => type(oid, toText)),
  ])
}

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,{}]+)/gs

/** The elements of an array of one dimension, as the server writes it: `{a,"b,c",NULL}`. */
function parseArray(text: string, parse: ParseField): unknown[] {
  return Array.from(text.matchAll(ELEMENT), ([, quoted, bare]) => {
    if (quoted !== undefined) return parse(quoted.replaceAll(/\\(.)/gs, '$1'))
    return bare === 'NULL' ? null : parse(bare ?? '')
  })
}
