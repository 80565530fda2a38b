import type { NestedField } from '@timelake/iceberg/spec/type'

/**
 * The column's initial default as text that the engine casts to the column type, or undefined for null.
 * The table's JSON single values (Appendix D) are such texts already, except for binary. Never the write default:
 * that is for new rows only.
 */
export function defaultValueText(column: NestedField): string | undefined {
  const value = column.initialDefault
  if (value === undefined || value === null) return undefined
  const text = String(value)
  if (column.type.kind !== 'binary') return text
  return (text.match(/../g) ?? []).map((byte) => `\\x${byte}`).join('')
}
