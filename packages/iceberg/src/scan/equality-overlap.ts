import { schemasNewestFirst } from '../snapshot/new-snapshot.ts'
import { indexSchema } from '../spec/schema-index.ts'
import type { Schema } from '../spec/schema.ts'
import { compareValues, type SingleValue } from '../spec/single-value.ts'
import type { TableMetadata } from '../spec/table-metadata.ts'
import type { IcebergType, PrimitiveType } from '../spec/type.ts'
import type { ScanManifest } from './scan-manifest.ts'

/** For a data file: whether a row of it may equal a row of an equality delete file. */
export type EqualityOverlap = (
  data: ScanManifest,
  row: number,
) => (deletes: ScanManifest, deleteRow: number) => boolean

interface Side {
  readonly manifest: ScanManifest
  readonly row: number
}

interface EqualityField {
  readonly fieldId: number
  readonly type: PrimitiveType
  /** Neither the column nor what is around it can be null. */
  readonly isRequired: boolean
}

/**
 * Compares nulls and bounds of the equality columns as the Java library does, on the safe side where it is not: NaN, which is
 * in no bounds, zeros of both signs, and required columns of structs that may be null.
 */
export function equalityOverlap(metadata: TableMetadata): EqualityOverlap {
  const schemas = schemasNewestFirst(metadata)
  const fields = new Map<number, EqualityField | undefined>()
  const fieldOf = (fieldId: number): EqualityField | undefined => {
    if (!fields.has(fieldId)) fields.set(fieldId, findField(schemas, fieldId))
    return fields.get(fieldId)
  }
  return (data, row) => (deletes, deleteRow) => {
    const fieldIds = deletes.equalityIds(deleteRow) ?? []
    data.readColumns(fieldIds)
    deletes.readColumns(fieldIds)
    return fieldIds.every((fieldId) => {
      const field = fieldOf(fieldId)
      if (field === undefined) return true
      return mayBeEqual(field, { manifest: data, row }, { manifest: deletes, row: deleteRow })
    })
  }
}

function findField(schemas: readonly Schema[], fieldId: number): EqualityField | undefined {
  for (const schema of schemas) {
    const { fieldsById, parentsById } = indexSchema(schema)
    const field = fieldsById.get(fieldId)
    if (field === undefined) continue
    if (!isPrimitive(field.type)) return undefined
    let isRequired = field.required
    for (let id = parentsById.get(fieldId); id !== undefined; id = parentsById.get(id)) {
      isRequired &&= fieldsById.get(id)?.required === true
    }
    return { fieldId, type: field.type, isRequired }
  }
  return undefined
}

function isPrimitive(type: IcebergType): type is PrimitiveType {
  return type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map'
}

function mayBeEqual(field: EqualityField, data: Side, deletes: Side): boolean {
  if (mayHaveNull(field, data) && mayHaveNull(field, deletes)) return true
  if (isAllNull(field, data) && !mayHaveNull(field, deletes)) return false
  if (isAllNull(field, deletes) && !mayHaveNull(field, data)) return false
  if (mayHaveNan(field, data) && mayHaveNan(field, deletes)) return true
  return mayOverlap(field, data, deletes)
}

function mayHaveNull({ fieldId, isRequired }: EqualityField, { manifest, row }: Side): boolean {
  return !isRequired && manifest.counts(fieldId)?.nullCount(row) !== 0
}

function isAllNull({ fieldId, isRequired }: EqualityField, { manifest, row }: Side): boolean {
  const counts = manifest.counts(fieldId)
  if (isRequired || counts === undefined) return false
  const nullCount = counts.nullCount(row)
  return nullCount >= 0 && nullCount === counts.valueCount(row)
}

function mayHaveNan({ fieldId, type }: EqualityField, { manifest, row }: Side): boolean {
  if (type.kind !== 'float' && type.kind !== 'double') return false
  return manifest.counts(fieldId)?.nanCount(row) !== 0
}

function mayOverlap({ fieldId, type }: EqualityField, data: Side, deletes: Side): boolean {
  const dataBounds = data.manifest.bounds(fieldId, type)
  const deleteBounds = deletes.manifest.bounds(fieldId, type)
  const lower = dataBounds?.lower(data.row)
  const upper = dataBounds?.upper(data.row)
  const deleteLower = deleteBounds?.lower(deletes.row)
  const deleteUpper = deleteBounds?.upper(deletes.row)
  if (lower === undefined || upper === undefined) return true
  if (deleteLower === undefined || deleteUpper === undefined) return true
  return (
    compareValues(type, withoutSignOfZero(deleteLower), withoutSignOfZero(upper)) <= 0 &&
    compareValues(type, withoutSignOfZero(lower), withoutSignOfZero(deleteUpper)) <= 0
  )
}

function withoutSignOfZero(value: SingleValue): SingleValue {
  return value === 0 ? 0 : value
}
