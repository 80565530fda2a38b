import { InvalidInputError } from './errors.ts'
import { checkJsonValue } from './json-single-value.ts'
import { visitFields } from './schema-index.ts'
import type { VisitedField } from './schema-index.ts'
import type { Schema } from './schema.ts'
import type { FormatVersion } from './table-metadata.ts'
import type { IcebergType } from './type.ts'

/** Higher ids are reserved for metadata columns. Spec: Reserved Field IDs. */
export const FIELD_ID_MAX = 2_147_483_447

const V3_KINDS = new Set<IcebergType['kind']>([
  'unknown',
  'variant',
  'geometry',
  'geography',
  'timestamp_ns',
  'timestamptz_ns',
])
/** Types whose default can only be null. */
const NULL_DEFAULT_KINDS = new Set<IcebergType['kind']>([
  'unknown',
  'variant',
  'geometry',
  'geography',
])
const NOT_IDENTIFIER_KINDS = new Set<IcebergType['kind']>([
  'float',
  'double',
  'struct',
  'list',
  'map',
  'variant',
  'unknown',
])

/**
 * Throws InvalidInputError when a schema breaks a rule of the format: repeated or reserved field ids, repeated full
 * names, types or defaults that the format version does not have, defaults of another type, impossible
 * identifier fields. Spec: Schemas and Data Types, Default values, Identifier Field IDs.
 */
export function validateSchema(schema: Schema, formatVersion: FormatVersion): void {
  const visited = visitFields(schema)
  checkIds(visited)
  checkNames(visited)
  for (const field of visited) {
    checkVersion(field, formatVersion)
    checkDefaults(field, formatVersion)
  }
  for (const id of schema.identifierFieldIds) checkIdentifierField(id, visited)
}

function checkIds(visited: readonly VisitedField[]): void {
  const namesById = new Map<number, string>()
  for (const { field, fullName } of visited) {
    const other = namesById.get(field.id)
    if (other !== undefined) fail(`multiple fields have id ${field.id}: ${other} and ${fullName}`)
    if (field.id < 0) fail(`field ${fullName} has the negative id ${field.id}`)
    if (field.id > FIELD_ID_MAX) fail(`field ${fullName} has the reserved id ${field.id}`)
    namesById.set(field.id, fullName)
  }
}

function checkNames(visited: readonly VisitedField[]): void {
  const idsByName = new Map<string, number>()
  for (const { field, fullName } of visited) {
    const other = idsByName.get(fullName)
    if (other !== undefined) fail(`multiple fields for name ${fullName}: ${other} and ${field.id}`)
    idsByName.set(fullName, field.id)
  }
}

function checkVersion({ field, fullName }: VisitedField, formatVersion: FormatVersion): void {
  const kind = field.type.kind
  if (formatVersion < 3 && V3_KINDS.has(kind)) {
    fail(`invalid type for ${fullName}: ${kind} is not supported until v3`)
  }
  if (kind === 'unknown' && field.required)
    fail(`field ${fullName} of type unknown must be optional`)
}

function checkDefaults({ field, fullName }: VisitedField, formatVersion: FormatVersion): void {
  const defaults = [
    ['initial default', field.initialDefault],
    ['write default', field.writeDefault],
  ] as const
  for (const [what, value] of defaults) {
    if (value === undefined || value === null) continue
    if (formatVersion < 3)
      fail(`invalid ${what} for ${fullName}: non-null default is not supported until v3`)
    if (NULL_DEFAULT_KINDS.has(field.type.kind)) {
      fail(`invalid ${what} for ${fullName}: the default of ${field.type.kind} can only be null`)
    }
    const isEmptyStruct = typeof value === 'object' && Object.keys(value).length === 0
    if (field.type.kind === 'struct' && !isEmptyStruct) {
      fail(`invalid ${what} for ${fullName}: the default of a struct can only be null or {}`)
    }
    checkJsonValue(field.type, value, `${what} of ${fullName}`)
  }
}

function checkIdentifierField(id: number, visited: readonly VisitedField[]): void {
  const byId = new Map(visited.map((entry) => [entry.field.id, entry]))
  const identifier = byId.get(id)
  if (identifier === undefined) return fail(`identifier field ${id} does not exist`)
  const name = identifier.fullName
  const kind = identifier.field.type.kind
  if (NOT_IDENTIFIER_KINDS.has(kind))
    fail(`field ${name} of type ${kind} cannot be an identifier field`)
  if (!identifier.field.required)
    fail(`field ${name} is optional and cannot be an identifier field`)
  for (let parentId = identifier.parentId; parentId !== undefined;) {
    const parent = byId.get(parentId)
    if (parent === undefined) return
    if (parent.field.type.kind !== 'struct')
      fail(`field ${name} is inside a ${parent.field.type.kind} and cannot be an identifier field`)
    if (!parent.field.required)
      fail(`field ${name} is inside an optional struct and cannot be an identifier field`)
    parentId = parent.parentId
  }
}

function fail(message: string): never {
  throw new InvalidInputError(`Invalid schema: ${message}`)
}
