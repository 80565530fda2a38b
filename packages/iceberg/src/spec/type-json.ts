import { bool, extraMembers, int, list, object, optional, text } from './decode.ts'
import type { Filled } from './decode.ts'
import { InvalidInputError } from './errors.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type {
  IcebergType,
  ListType,
  MapType,
  NestedField,
  PrimitiveType,
  SimpleTypeKind,
} from './type.ts'

export const DECIMAL_PRECISION_MAX = 38
/** The coordinate system of geometry and geography types that name none. */
export const DEFAULT_CRS = 'OGC:CRS84'

const SIMPLE_KINDS: ReadonlySet<string> = new Set<SimpleTypeKind>([
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'uuid',
  'binary',
  'timestamp_ns',
  'timestamptz_ns',
  'unknown',
  'variant',
])
const EDGE_ALGORITHMS: ReadonlySet<string> = new Set([
  'spherical',
  'vincenty',
  'thomas',
  'andoyer',
  'karney',
])

const STRUCT_MEMBERS = new Set(['type', 'fields'])
const LIST_MEMBERS = new Set(['type', 'element-id', 'element-required', 'element'])
const MAP_MEMBERS = new Set(['type', 'key-id', 'key', 'value-id', 'value-required', 'value'])
const FIELD_MEMBERS = new Set([
  'id',
  'name',
  'required',
  'type',
  'doc',
  'initial-default',
  'write-default',
])

/** Reads any Iceberg type. Throws InvalidInputError naming the member. Spec: Appendix C, Schemas. */
export function decodeType(json: JsonValue | undefined, path: string): IcebergType {
  if (typeof json === 'string') return parsePrimitiveType(json, path)
  const raw = object(json, path)
  const kind = text(raw['type'], `${path}.type`).toLowerCase()
  switch (kind) {
    case 'struct':
      return {
        kind,
        fields: list(raw['fields'], `${path}.fields`, decodeField),
        ...extraOf(raw, STRUCT_MEMBERS),
      }
    case 'list':
      return decodeListType(raw, path)
    case 'map':
      return decodeMapType(raw, path)
    default:
      throw new InvalidInputError(`unknown type "${kind}"`, `${path}.type`)
  }
}

/** The JSON form of a type: a string for primitive types, else an object. */
export function encodeType(type: IcebergType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return { ...type.extra, type: 'struct', fields: type.fields.map(encodeField) }
    case 'list':
      return {
        ...type.extra,
        type: 'list',
        'element-id': BigInt(type.elementId),
        element: encodeType(type.element),
        'element-required': type.elementRequired,
      }
    case 'map':
      return {
        ...type.extra,
        type: 'map',
        'key-id': BigInt(type.keyId),
        key: encodeType(type.key),
        'value-id': BigInt(type.valueId),
        value: encodeType(type.value),
        'value-required': type.valueRequired,
      }
    default:
      return printPrimitiveType(type)
  }
}

/**
 * Reads one field. A float or double default that came without a point becomes a float, because
 * Java readers insist on one; every other default is kept as it came.
 */
export function decodeField(json: JsonValue | undefined, path: string): NestedField {
  const raw = object(json, path)
  const type = decodeType(raw['type'], `${path}.type`)
  const field: Filled<NestedField> = {
    id: int(raw['id'], `${path}.id`),
    name: text(raw['name'], `${path}.name`),
    required: bool(raw['required'], `${path}.required`),
    type,
  }
  const doc = optional(raw['doc'], `${path}.doc`, text)
  if (doc !== undefined) field.doc = doc
  const initialDefault = decodeDefault(raw['initial-default'], type)
  if (initialDefault !== undefined) field.initialDefault = initialDefault
  const writeDefault = decodeDefault(raw['write-default'], type)
  if (writeDefault !== undefined) field.writeDefault = writeDefault
  return Object.assign(field, extraOf(raw, FIELD_MEMBERS))
}

/** The JSON form of a field. Inverse of decodeField. */
export function encodeField(field: NestedField): JsonObject {
  return {
    ...field.extra,
    id: BigInt(field.id),
    name: field.name,
    required: field.required,
    type: encodeType(field.type),
    doc: field.doc,
    'initial-default': field.initialDefault,
    'write-default': field.writeDefault,
  }
}

/** The type that a text such as `decimal(9, 2)` names, in any case and spacing. Throws InvalidInputError. */
export function parsePrimitiveType(typeText: string, path: string): PrimitiveType {
  const lower = typeText.trim().toLowerCase()
  if (SIMPLE_KINDS.has(lower)) return { kind: lower as SimpleTypeKind }
  const decimal = /^decimal\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)$/.exec(lower)
  if (decimal !== null) return decimalType(Number(decimal[1]), Number(decimal[2]), path)
  const fixed = /^fixed\s*\[\s*(\d{1,10})\s*\]$/.exec(lower)
  if (fixed !== null) return fixedType(Number(fixed[1]), path)
  const geo = /^(geometry|geography)\s*(?:\(([^()]*)\))?$/i.exec(typeText.trim())
  if (geo !== null) return geoType(String(geo[1]).toLowerCase(), geo[2], path)
  throw new InvalidInputError(`unknown type "${typeText}"`, path)
}

/** The text of a primitive type as tables store it. Inverse of parsePrimitiveType. */
export function printPrimitiveType(type: PrimitiveType): string {
  switch (type.kind) {
    case 'decimal':
      return `decimal(${type.precision}, ${type.scale})`
    case 'fixed':
      return `fixed[${type.lengthBytes}]`
    case 'geometry':
      return type.crs === undefined ? 'geometry' : `geometry(${type.crs})`
    case 'geography':
      if (type.algorithm !== undefined)
        return `geography(${type.crs ?? DEFAULT_CRS}, ${type.algorithm})`
      return type.crs === undefined ? 'geography' : `geography(${type.crs})`
    default:
      return type.kind
  }
}

function decodeListType(raw: JsonObject, path: string): ListType {
  return {
    kind: 'list',
    elementId: int(raw['element-id'], `${path}.element-id`),
    elementRequired: bool(raw['element-required'], `${path}.element-required`),
    element: decodeType(raw['element'], `${path}.element`),
    ...extraOf(raw, LIST_MEMBERS),
  }
}

function decodeMapType(raw: JsonObject, path: string): MapType {
  return {
    kind: 'map',
    keyId: int(raw['key-id'], `${path}.key-id`),
    key: decodeType(raw['key'], `${path}.key`),
    valueId: int(raw['value-id'], `${path}.value-id`),
    valueRequired: bool(raw['value-required'], `${path}.value-required`),
    value: decodeType(raw['value'], `${path}.value`),
    ...extraOf(raw, MAP_MEMBERS),
  }
}

function decodeDefault(json: JsonValue | undefined, type: IcebergType): JsonValue | undefined {
  const isFloat = type.kind === 'float' || type.kind === 'double'
  return isFloat && typeof json === 'bigint' ? Number(json) : json
}

function decimalType(precision: number, scale: number, path: string): PrimitiveType {
  if (precision < 1 || precision > DECIMAL_PRECISION_MAX) {
    throw new InvalidInputError(
      `decimal precision ${precision} is not from 1 to ${DECIMAL_PRECISION_MAX}`,
      path,
    )
  }
  if (scale > precision)
    throw new InvalidInputError(`decimal scale ${scale} exceeds the precision`, path)
  return { kind: 'decimal', precision, scale }
}

function fixedType(lengthBytes: number, path: string): PrimitiveType {
  if (lengthBytes > 2_147_483_647)
    throw new InvalidInputError(`fixed[${lengthBytes}] is too long`, path)
  return { kind: 'fixed', lengthBytes }
}

function geoType(kind: string, parameters: string | undefined, path: string): PrimitiveType {
  const [crsText = '', algorithm, ...more] = (parameters ?? '')
    .split(',')
    .map((part) => part.trim())
  if (more.length > 0 || (kind === 'geometry' && algorithm !== undefined)) {
    throw new InvalidInputError(`${kind} has too many parameters`, path)
  }
  const crs = crsText === '' || crsText.toUpperCase() === DEFAULT_CRS ? {} : { crs: crsText }
  if (kind === 'geometry') return { kind, ...crs }
  if (algorithm === undefined || algorithm === '') return { kind: 'geography', ...crs }
  const lower = algorithm.toLowerCase()
  if (!EDGE_ALGORITHMS.has(lower))
    throw new InvalidInputError(`unknown edge algorithm "${algorithm}"`, path)
  return { kind: 'geography', ...crs, algorithm: lower }
}

function extraOf(raw: JsonObject, known: ReadonlySet<string>): { extra?: JsonObject } {
  const extra = extraMembers(raw, known)
  return extra === undefined ? {} : { extra }
}
