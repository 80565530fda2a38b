import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import type { ParquetAnnotation, ParquetElement } from './parquet-footer.ts'

/** Whether a file may lack the column: the column is optional or has an initial default. */
export function canBeMissing(column: NestedField): boolean {
  const { initialDefault } = column
  return !column.required || (initialDefault !== undefined && initialDefault !== null)
}

/**
 * Whether the values of a leaf are values of the type to every reader of the format, or can be promoted to it. Of nested
 * types it only says whether the element is a group. Spec: Appendix A, Parquet; Schema Evolution.
 */
export function isStoredAs(element: ParquetElement, type: IcebergType): boolean {
  const { physicalType: stored, annotation, children, repetition } = element
  if (type.kind === 'struct' || type.kind === 'list' || type.kind === 'map') {
    return stored === undefined && children.length > 0
  }
  if (children.length > 0 || repetition === 'repeated' || stored === undefined) return false
  switch (type.kind) {
    case 'boolean':
      return stored === 'BOOLEAN' && annotation === undefined
    case 'int':
      return stored === 'INT32' && isSignedInteger(annotation)
    case 'long':
      return (stored === 'INT64' || stored === 'INT32') && isSignedInteger(annotation)
    case 'float':
      return stored === 'FLOAT' && annotation === undefined
    case 'double':
      return (stored === 'DOUBLE' || stored === 'FLOAT') && annotation === undefined
    case 'date':
      return stored === 'INT32' && annotation?.kind === 'date'
    case 'time':
      return stored === 'INT64' && isUnit(annotation, 'time', 'micros')
    case 'timestamp':
    case 'timestamptz':
      return stored === 'INT64' && isUnit(annotation, 'timestamp', 'micros')
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return stored === 'INT64' && isUnit(annotation, 'timestamp', 'nanos')
    case 'string':
      return stored === 'BYTE_ARRAY' && annotation?.kind === 'string'
    case 'binary':
      return stored === 'BYTE_ARRAY' && annotation === undefined
    case 'fixed':
      return isFixed(element, type.lengthBytes) && annotation === undefined
    case 'uuid':
      return isFixed(element, 16) && annotation?.kind === 'uuid'
    case 'decimal':
      return isNarrowerDecimal(annotation, type.precision, type.scale)
    default:
      return false
  }
}

function isSignedInteger(annotation: ParquetAnnotation | undefined): boolean {
  return annotation === undefined || (annotation.kind === 'integer' && annotation.signed)
}

function isUnit(
  annotation: ParquetAnnotation | undefined,
  kind: 'time' | 'timestamp',
  unit: 'micros' | 'nanos',
): boolean {
  return annotation?.kind === kind && 'unit' in annotation && annotation.unit === unit
}

function isFixed({ physicalType, typeLengthBytes }: ParquetElement, lengthBytes: number): boolean {
  return physicalType === 'FIXED_LEN_BYTE_ARRAY' && typeLengthBytes === lengthBytes
}

function isNarrowerDecimal(
  annotation: ParquetAnnotation | undefined,
  precision: number,
  scale: number,
): boolean {
  if (annotation?.kind !== 'decimal') return false
  return annotation.scale === scale && annotation.precision <= precision
}

/** How a column is stored, for messages. */
export function describeElement({ physicalType, annotation, repetition }: ParquetElement): string {
  if (physicalType === undefined) return 'a group'
  const unit = annotation !== undefined && 'unit' in annotation ? ` ${annotation.unit}` : ''
  const note = annotation === undefined ? 'unannotated' : `${annotation.kind}${unit}`
  return `${repetition} ${physicalType} (${note})`
}
