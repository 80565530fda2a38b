import { CorruptFileError } from '../spec/errors.ts'
import { parseJson } from '../spec/json.ts'
import type { JsonObject, JsonValue } from '../spec/json-value.ts'
import { AVRO_BLOCK_BYTES_MAX, AVRO_DEPTH_MAX, AVRO_FIELDS_MAX } from './avro-limits.ts'

export type AvroPrimitiveKind =
  'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string'

export interface AvroPrimitive {
  readonly kind: AvroPrimitiveKind
  readonly logicalType?: string
}

export interface AvroFixed {
  readonly kind: 'fixed'
  readonly name: string
  readonly lengthBytes: number
  readonly logicalType?: string
}

export interface AvroEnum {
  readonly kind: 'enum'
  readonly name: string
  readonly symbols: readonly string[]
}

export interface AvroArray {
  readonly kind: 'array'
  readonly items: AvroType
  readonly elementId?: number
  readonly logicalType?: string
}

export interface AvroMap {
  readonly kind: 'map'
  readonly values: AvroType
  readonly keyId?: number
  readonly valueId?: number
}

export interface AvroUnion {
  readonly kind: 'union'
  readonly branches: readonly AvroType[]
}

export interface AvroField {
  readonly name: string
  readonly aliases: readonly string[]
  /** Iceberg's `field-id`; writers that know nothing of Iceberg leave it out. */
  readonly fieldId?: number
  readonly type: AvroType
}

export interface AvroRecord {
  readonly kind: 'record'
  readonly name: string
  readonly fields: readonly AvroField[]
  /** The fields whose values take bytes; passing over a value visits only these. */
  readonly sizedFields: readonly AvroField[]
}

/** A writer schema as a graph: a named type that is referred to twice is one object. */
export type AvroType =
  AvroPrimitive | AvroFixed | AvroEnum | AvroArray | AvroMap | AvroUnion | AvroRecord

const PRIMITIVES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'bytes',
  'string',
])

interface Names {
  readonly byName: Map<string, AvroType>
  readonly what: string
}

interface Scope {
  readonly namespace: string
  readonly depth: number
}

/**
 * The type graph of an Avro schema text, with Iceberg's field ids. `what` names the file in errors. Throws
 * CorruptFileError for anything that cannot describe bytes: unknown names, a record that directly contains
 * itself, lists of elements that take no bytes (their count could not be checked), too deep nesting.
 */
export function parseAvroSchema(text: string, what: string): AvroType {
  const names: Names = { byName: new Map(), what }
  const type = readType(parseSchemaJson(text, what), names, { namespace: '', depth: 0 })
  checkSizes(type, what)
  return type
}

function parseSchemaJson(text: string, what: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    throw new CorruptFileError(`cannot read the Avro schema of ${what}`, { cause: error })
  }
}

function readType(json: JsonValue | undefined, names: Names, scope: Scope): AvroType {
  if (scope.depth > AVRO_DEPTH_MAX) throw schemaError(names, `nested deeper than ${AVRO_DEPTH_MAX}`)
  if (typeof json === 'string') return namedType(json, names, scope)
  if (isList(json)) return readUnion(json, names, scope)
  if (!isObject(json)) throw schemaError(names, 'expected a type')
  return readComplexType(json, names, scope)
}

function namedType(name: string, names: Names, scope: Scope): AvroType {
  if (PRIMITIVES.has(name)) return { kind: name as AvroPrimitiveKind }
  const found = names.byName.get(fullName(name, scope.namespace)) ?? names.byName.get(name)
  if (found === undefined) throw schemaError(names, `unknown type ${name}`)
  return found
}

function readUnion(json: readonly JsonValue[], names: Names, scope: Scope): AvroUnion {
  if (json.length === 0) throw schemaError(names, 'a union without branches')
  const inner = { ...scope, depth: scope.depth + 1 }
  return { kind: 'union', branches: json.map((branch) => readType(branch, names, inner)) }
}

function readComplexType(json: JsonObject, names: Names, scope: Scope): AvroType {
  const inner = { ...scope, depth: scope.depth + 1 }
  switch (json['type']) {
    case 'record':
    case 'error':
      return readRecord(json, names, scope)
    case 'fixed':
      return readFixed(json, names, scope)
    case 'enum':
      return readEnum(json, names, scope)
    case 'array':
      return {
        kind: 'array',
        items: readType(json['items'], names, inner),
        ...optionalId('elementId', json['element-id'], names),
        ...optionalText('logicalType', json['logicalType']),
      }
    case 'map':
      return {
        kind: 'map',
        values: readType(json['values'], names, inner),
        ...optionalId('keyId', json['key-id'], names),
        ...optionalId('valueId', json['value-id'], names),
      }
    default:
      return withLogicalType(readType(json['type'], names, inner), json)
  }
}

function withLogicalType(type: AvroType, json: JsonObject): AvroType {
  const logicalType = json['logicalType']
  if (typeof logicalType !== 'string' || !PRIMITIVES.has(type.kind)) return type
  return { kind: type.kind as AvroPrimitiveKind, logicalType }
}

function readRecord(json: JsonObject, names: Names, scope: Scope): AvroRecord {
  const { name, namespace } = nameOf(json, names, scope)
  const fields: AvroField[] = []
  const record: AvroRecord = { kind: 'record', name, fields, sizedFields: [] }
  register(record, { json, names, namespace })
  const members = json['fields']
  if (!isList(members)) throw schemaError(names, `record ${name} has no fields`)
  if (members.length > AVRO_FIELDS_MAX)
    throw schemaError(names, `record ${name} has too many fields`)
  for (const member of members) {
    if (!isObject(member) || typeof member['name'] !== 'string') {
      throw schemaError(names, `record ${name} has a field without a name`)
    }
    fields.push({
      name: member['name'],
      aliases: textList(member['aliases']),
      type: readType(member['type'], names, { namespace, depth: scope.depth + 1 }),
      ...optionalId('fieldId', member['field-id'], names),
    })
  }
  return record
}

function readFixed(json: JsonObject, names: Names, scope: Scope): AvroFixed {
  const { name, namespace } = nameOf(json, names, scope)
  const size = json['size']
  if (typeof size !== 'bigint' || size < 0n || size > BigInt(AVRO_BLOCK_BYTES_MAX)) {
    throw schemaError(names, `fixed ${name} has no valid size`)
  }
  const fixed: AvroFixed = {
    kind: 'fixed',
    name,
    lengthBytes: Number(size),
    ...optionalText('logicalType', json['logicalType']),
  }
  register(fixed, { json, names, namespace })
  return fixed
}

function readEnum(json: JsonObject, names: Names, scope: Scope): AvroEnum {
  const { name, namespace } = nameOf(json, names, scope)
  const symbols = textList(json['symbols'])
  if (symbols.length === 0) throw schemaError(names, `enum ${name} has no symbols`)
  const type: AvroEnum = { kind: 'enum', name, symbols }
  register(type, { json, names, namespace })
  return type
}

function nameOf(json: JsonObject, names: Names, scope: Scope): { name: string; namespace: string } {
  const name = json['name']
  if (typeof name !== 'string') throw schemaError(names, 'a named type without a name')
  const lastDot = name.lastIndexOf('.')
  if (lastDot >= 0) return { name: name.slice(lastDot + 1), namespace: name.slice(0, lastDot) }
  const namespace = json['namespace']
  return { name, namespace: typeof namespace === 'string' ? namespace : scope.namespace }
}

function register(type: AvroRecord | AvroFixed | AvroEnum, place: Registration): void {
  const { json, names, namespace } = place
  names.byName.set(fullName(type.name, namespace), type)
  for (const alias of textList(json['aliases'])) names.byName.set(fullName(alias, namespace), type)
}

interface Registration {
  readonly json: JsonObject
  readonly names: Names
  readonly namespace: string
}

function fullName(name: string, namespace: string): string {
  return namespace === '' || name.includes('.') ? name : `${namespace}.${name}`
}

function optionalId<Key extends string>(
  key: Key,
  value: JsonValue | undefined,
  names: Names,
): { [K in Key]?: number } {
  if (value === undefined || value === null) return {}
  // @NOTE some writers print ids as text
  const id = typeof value === 'string' && /^\d{1,10}$/.test(value) ? BigInt(value) : value
  if (typeof id !== 'bigint' || id < -2147483648n || id > 2147483647n) {
    throw schemaError(names, `${key} is not an int`)
  }
  return { [key]: Number(id) } as { [K in Key]?: number }
}

function optionalText<Key extends string>(
  key: Key,
  value: JsonValue | undefined,
): { [K in Key]?: string } {
  return typeof value === 'string' ? ({ [key]: value } as { [K in Key]?: string }) : {}
}

function textList(json: JsonValue | undefined): string[] {
  return isList(json) ? json.filter((item): item is string => typeof item === 'string') : []
}

function isList(json: JsonValue | undefined): json is readonly JsonValue[] {
  return Array.isArray(json)
}

function isObject(json: JsonValue | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

function schemaError(names: Names, problem: string): CorruptFileError {
  return new CorruptFileError(`cannot read the Avro schema of ${names.what}: ${problem}`)
}

/** Visits every type once, so that a schema of shared names costs its length and not its expansion. */
function checkSizes(root: AvroType, what: string): void {
  const check: SizeCheck = { empty: new Map(), open: new Set(), what }
  const pending: AvroType[] = [root]
  const seen = new Set<AvroType>()
  for (let type = pending.pop(); type !== undefined; type = pending.pop()) {
    if (seen.has(type)) continue
    seen.add(type)
    if (type.kind === 'array' && takesNoBytes(type.items, check)) {
      throw new CorruptFileError(`cannot read the Avro schema of ${what}: a list of empty elements`)
    }
    takesNoBytes(type, check)
    pending.push(...children(type))
  }
}

function children(type: AvroType): readonly AvroType[] {
  switch (type.kind) {
    case 'record':
      return type.fields.map((field) => field.type)
    case 'union':
      return type.branches
    case 'array':
      return [type.items]
    case 'map':
      return [type.values]
    default:
      return []
  }
}

interface SizeCheck {
  readonly empty: Map<AvroRecord, boolean>
  readonly open: Set<AvroRecord>
  readonly what: string
}

function takesNoBytes(type: AvroType, check: SizeCheck): boolean {
  if (type.kind === 'null') return true
  if (type.kind === 'fixed') return type.lengthBytes === 0
  if (type.kind !== 'record') return false
  const known = check.empty.get(type)
  if (known !== undefined) return known
  if (check.open.has(type)) {
    throw new CorruptFileError(
      `cannot read the Avro schema of ${check.what}: ${type.name} contains itself`,
    )
  }
  check.open.add(type)
  // The graph is still being built, so the one list that depends on all of it is filled in here.
  const sized = type.sizedFields as AvroField[]
  for (const field of type.fields) if (!takesNoBytes(field.type, check)) sized.push(field)
  check.open.delete(type)
  check.empty.set(type, sized.length === 0)
  return sized.length === 0
}
