import type { Schema } from '@timelake/iceberg/spec/schema'
import type { IcebergType } from '@timelake/iceberg/spec/type'

/**
 * Why a schema cannot be merged without altering a value or its stored form, naming the column; undefined when it can.
 * The list is what the merge engine carries exactly: anything else is left alone rather than altered (DESIGN §4.11).
 */
export function unmergeableColumnReason(schema: Schema): string | undefined {
  const seen = new Map<string, string>()
  for (const { name, type } of schema.fields) {
    const reason = unmergeableTypeReason(type)
    if (reason !== undefined) return `column ${JSON.stringify(name)} ${reason}`
    if (name === '') return 'a column has an empty name'
    const twin = seen.get(name.toLowerCase())
    if (twin !== undefined) return `columns ${twin} and ${name} differ only by letter case`
    seen.set(name.toLowerCase(), name)
  }
  return schema.fields.length === 0 ? 'the schema has no columns' : undefined
}

/** Decimals of these precisions would be stored wider than the minimal length that the format demands. */
const DECIMAL_PRECISION_INTEGER_MAX = 18
const DECIMAL_PRECISION_FULL_WIDTH_MIN = 37

function unmergeableTypeReason(type: IcebergType): string | undefined {
  switch (type.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'string':
    case 'uuid':
    case 'binary':
      return undefined
    case 'decimal': {
      const { precision, scale } = type
      const isExact =
        precision <= DECIMAL_PRECISION_INTEGER_MAX || precision >= DECIMAL_PRECISION_FULL_WIDTH_MIN
      if (isExact) return undefined
      return `is decimal(${precision}, ${scale}), which would not be stored in its minimal length`
    }
    case 'fixed':
      return 'is of type fixed, which would be stored as binary'
    case 'struct':
    case 'list':
    case 'map':
      return `is nested (${type.kind})`
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'unknown':
    case 'variant':
    case 'geometry':
    case 'geography':
      return `is of type ${type.kind}, which is not merged yet`
  }
}
