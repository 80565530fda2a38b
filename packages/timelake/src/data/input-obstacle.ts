import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import { canBeMissing } from './default-value.ts'
import type { ParquetAnnotation, ParquetElement, ParquetFooter } from './parquet-footer.ts'

const READABLE_CODECS = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD', 'LZ4_RAW']

/**
 * Why one file cannot be merged exactly, or undefined. Columns are matched by field id only: a file without ids reads
 * as nulls in the engine, silently, so it is refused here. `spec` is the spec of the file's manifest.
 */
export function inputObstacle(
  footer: ParquetFooter,
  schema: Schema,
  spec: PartitionSpec | undefined,
): string | undefined {
  const anyId = footer.columns.some(({ fieldId }) => fieldId !== undefined)
  if (!anyId) return 'stores no field ids'
  const duplicate = duplicateId(footer.columns)
  if (duplicate !== undefined) return `stores field id ${duplicate} twice`
  const codec = footer.rowGroups
    .flatMap(({ columns }) => columns)
    .find((chunk) => !READABLE_CODECS.includes(chunk.codec))?.codec
  if (codec !== undefined) return `is compressed with ${codec}`
  for (const column of schema.fields) {
    const reason = columnObstacle(footer, column, spec)
    if (reason !== undefined) return reason
  }
  return undefined
}

function duplicateId(columns: readonly ParquetElement[]): number | undefined {
  const seen = new Set<number>()
  for (const { fieldId } of columns) {
    if (fieldId === undefined) continue
    if (seen.has(fieldId)) return fieldId
    seen.add(fieldId)
  }
  return undefined
}

function columnObstacle(
  footer: ParquetFooter,
  column: NestedField,
  spec: PartitionSpec | undefined,
): string | undefined {
  const element = footer.columns.find(({ fieldId }) => fieldId === column.id)
  const name = JSON.stringify(column.name)
  if (element !== undefined) {
    if (isCarried(element, column.type)) return undefined
    return `stores column ${name} (${column.type.kind}) as ${describeElement(element)}`
  }
  const unnamed = footer.columns.find(({ fieldId }) => fieldId === undefined)
  if (unnamed !== undefined) return `has no field id on column ${JSON.stringify(unnamed.name)}`
  const isIdentitySource = spec?.fields.some(
    ({ transform, sourceIds }) => transform.kind === 'identity' && sourceIds.includes(column.id),
  )
  if (isIdentitySource) return `leaves column ${name} to its partition value`
  return canBeMissing(column) ? undefined : `lacks required column ${name}`
}

/** Whether the stored form is one that the engine reads as the column's type without changing a value. */
function isCarried(element: ParquetElement, type: IcebergType): boolean {
  const { physicalType: stored, annotation, children, repetition } = element
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
      return stored === 'INT64' && annotation?.kind === 'time' && annotation.unit === 'micros'
    case 'timestamp':
    case 'timestamptz':
      return stored === 'INT64' && annotation?.kind === 'timestamp' && annotation.unit === 'micros'
    case 'string':
      return stored === 'BYTE_ARRAY' && annotation?.kind === 'string'
    case 'binary':
      return stored === 'BYTE_ARRAY' && annotation === undefined
    case 'uuid':
      return stored === 'FIXED_LEN_BYTE_ARRAY' && annotation?.kind === 'uuid'
    case 'decimal':
      return isNarrowerDecimal(annotation, type.precision, type.scale)
    default:
      return false
  }
}

function isSignedInteger(annotation: ParquetAnnotation | undefined): boolean {
  return annotation === undefined || (annotation.kind === 'integer' && annotation.signed)
}

function isNarrowerDecimal(
  annotation: ParquetAnnotation | undefined,
  precision: number,
  scale: number,
): boolean {
  if (annotation?.kind !== 'decimal') return false
  return annotation.scale === scale && annotation.precision <= precision
}

function describeElement({ physicalType, annotation, repetition }: ParquetElement): string {
  if (physicalType === undefined) return 'a group'
  const unit = annotation !== undefined && 'unit' in annotation ? ` ${annotation.unit}` : ''
  const note = annotation === undefined ? 'unannotated' : `${annotation.kind}${unit}`
  return `${repetition} ${physicalType} (${note})`
}
