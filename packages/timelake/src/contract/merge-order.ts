import type { Schema } from '@timelake/iceberg/spec/schema'
import type { SortOrder } from '@timelake/iceberg/spec/sort-order'
import type { Transform } from '@timelake/iceberg/spec/transform'
import type { IcebergType } from '@timelake/iceberg/spec/type'

/** One sort key of a merge. */
export interface MergeOrderTerm {
  readonly columnId: number
  readonly type: IcebergType
  readonly transform: Transform
  readonly direction: 'asc' | 'desc'
  readonly nullOrder: 'nulls-first' | 'nulls-last'
}

/**
 * The order in which merged rows are written. `orderId` is stamped on the output only when the rows really have
 * that order; otherwise it is 0 and `unsortedReason` says why a table that has a sort order is merged without it.
 */
export interface MergeOrder {
  readonly orderId: number
  readonly terms: readonly MergeOrderTerm[]
  readonly unsortedReason?: string
}

/**
 * The merge order that a table's sort order asks for. All terms or none: a partly sorted file has no Iceberg name.
 * Spec: Sorting.
 */
export function mergeOrderOf(schema: Schema, sortOrder: SortOrder): MergeOrder {
  const terms: MergeOrderTerm[] = []
  for (const field of sortOrder.fields) {
    const [columnId, ...others] = field.sourceIds
    const column = schema.fields.find(({ id }) => id === columnId)
    if (column === undefined || others.length > 0) {
      return unsorted(`sort order ${sortOrder.orderId} sorts by something else than one column`)
    }
    const { id, type } = column
    if (!canExpress(field.transform, type)) {
      const name = transformName(field.transform)
      return unsorted(`sort order ${sortOrder.orderId} uses ${name} of column ${column.name}`)
    }
    const { transform, direction, nullOrder } = field
    terms.push({ columnId: id, type, transform, direction, nullOrder })
  }
  return { orderId: terms.length === 0 ? 0 : sortOrder.orderId, terms }
}

function unsorted(unsortedReason: string): MergeOrder {
  return { orderId: 0, terms: [], unsortedReason }
}

/** Whether the merge engine can order by the transform exactly. Hash buckets it cannot. */
function canExpress(transform: Transform, type: IcebergType): boolean {
  switch (transform.kind) {
    case 'identity':
    case 'void':
      return true
    case 'year':
    case 'month':
    case 'day':
      return ['date', 'timestamp', 'timestamptz'].includes(type.kind)
    case 'hour':
      return ['timestamp', 'timestamptz'].includes(type.kind)
    case 'truncate':
      return ['int', 'long', 'string'].includes(type.kind)
    case 'bucket':
    case 'unknown-transform':
      return false
  }
}

function transformName(transform: Transform): string {
  if (transform.kind === 'bucket') return `bucket[${transform.bucketCount}]`
  if (transform.kind === 'truncate') return `truncate[${transform.width}]`
  return transform.kind === 'unknown-transform' ? transform.text : transform.kind
}
