import type { PartitionSpec } from '@timelake/iceberg/spec/partition-spec'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import { canBeMissing, describeElement, isStoredAs } from '../footer/stored-column.ts'
import type { ParquetElement, ParquetFooter } from '../footer/parquet-footer.ts'

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

/** Types that the engine reads as something else, whatever their stored form. */
const UNCARRIED_KINDS = new Set<IcebergType['kind']>([
  ...(['struct', 'list', 'map'] as const),
  ...(['fixed', 'timestamp_ns', 'timestamptz_ns'] as const),
])

/** Whether the stored form is one that the engine reads as the column's type without changing a value. */
function isCarried(element: ParquetElement, type: IcebergType): boolean {
  return !UNCARRIED_KINDS.has(type.kind) && isStoredAs(element, type)
}
