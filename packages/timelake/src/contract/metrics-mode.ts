import type { Schema } from '@timelake/iceberg/spec/schema'
import type { SortOrder } from '@timelake/iceberg/spec/sort-order'

/** What a manifest says about one column. `truncate` keeps that many code points (or bytes, of binary) of a bound. */
export type MetricsMode =
  | { readonly kind: 'none' | 'counts' | 'full' }
  | { readonly kind: 'truncate'; readonly length: number }

const DEFAULT_MODE: MetricsMode = { kind: 'truncate', length: 16 }
const DEFAULT_PROPERTY = 'write.metadata.metrics.default'
const COLUMN_PREFIX = 'write.metadata.metrics.column.'
const INFERRED_MAX_PROPERTY = 'write.metadata.metrics.max-inferred-column-defaults'
const INFERRED_MAX_DEFAULT = 100

/**
 * The metrics mode of every column, by field id, as the table's properties ask for. Without a default of its own a
 * table keeps metrics of its first 100 columns only; columns of the sort order keep at least truncated bounds. An
 * unreadable mode counts as the default, as other writers treat it.
 */
export function metricsModes(
  schema: Schema,
  sortOrder: SortOrder | undefined,
  properties: Readonly<Record<string, string>>,
): ReadonlyMap<number, MetricsMode> {
  const explicit = properties[DEFAULT_PROPERTY]
  const tableMode = parseMode(explicit) ?? DEFAULT_MODE
  const inferredMax = Number(properties[INFERRED_MAX_PROPERTY] ?? INFERRED_MAX_DEFAULT)
  const sorted = new Set(sortOrder?.fields.flatMap(({ sourceIds }) => sourceIds) ?? [])
  const modes = new Map<number, MetricsMode>()
  for (const [index, { id, name }] of schema.fields.entries()) {
    const isInferred = explicit === undefined && index >= inferredMax
    const inherited: MetricsMode = isInferred ? { kind: 'none' } : tableMode
    const atLeast = sorted.has(id) && isBoundless(inherited) ? DEFAULT_MODE : inherited
    modes.set(id, parseMode(properties[COLUMN_PREFIX + name]) ?? atLeast)
  }
  return modes
}

function isBoundless(mode: MetricsMode): boolean {
  return mode.kind === 'none' || mode.kind === 'counts'
}

function parseMode(text: string | undefined): MetricsMode | undefined {
  const lower = text?.trim().toLowerCase()
  if (lower === 'none' || lower === 'counts' || lower === 'full') return { kind: lower }
  const length = Number(/^truncate\((\d+)\)$/.exec(lower ?? '')?.[1])
  return length > 0 ? { kind: 'truncate', length } : undefined
}
