import type { DataFile } from '../manifest/data-file.ts'
import { isPartitionValueOf } from '../manifest/partition-type.ts'
import { compareValues, decodeSingleValue } from '../spec/single-value.ts'
import { partitionProblem } from './partition-evidence.ts'
import type { ShapedSpec, TableShape } from './table-shape.ts'

/**
 * Why a data file as it is described cannot be one of the table, or undefined: partition values of another form or against
 * the file's own bounds, nulls in a required column, counts and bounds that contradict each other, a sort order that the
 * table does not have.
 */
export function dataFileProblem(
  file: DataFile,
  spec: ShapedSpec,
  shape: TableShape,
): string | undefined {
  return (
    sizeProblem(file) ??
    sortOrderProblem(file, shape) ??
    partitionForm(file, spec) ??
    countProblem(file, shape) ??
    boundProblem(file, shape) ??
    partitionProblem(spec, shape, file)
  )
}

function sizeProblem({ recordCount, fileSizeBytes }: DataFile): string | undefined {
  if (recordCount < 0n) return `expected a record count from 0, got ${recordCount}`
  return fileSizeBytes > 0n ? undefined : `expected a file size from 1, got ${fileSizeBytes}`
}

function sortOrderProblem({ sortOrderId }: DataFile, shape: TableShape): string | undefined {
  // Order 0 is "unsorted", which a table need not list.
  if (sortOrderId === undefined || sortOrderId === 0) return undefined
  return shape.sortOrderIds.has(sortOrderId) ? undefined : `no sort order ${sortOrderId}`
}

function partitionForm({ partition }: DataFile, { spec, partition: type }: ShapedSpec) {
  const isFitting =
    partition.length === type.fields.length &&
    type.fields.every((field, index) => isPartitionValueOf(field.type, partition[index] ?? null))
  return isFitting ? undefined : `its partition values do not fit spec ${spec.specId}`
}

function countProblem(file: DataFile, { schema }: TableShape): string | undefined {
  const { recordCount, nullValueCounts, valueCounts } = file
  for (const { id, name, required } of schema.fields) {
    const nulls = nullValueCounts?.get(id)
    const values = valueCounts?.get(id)
    if (nulls === undefined) continue
    if (required && nulls > 0n) return `required column ${name} holds ${nulls} nulls`
    if (nulls < 0n || nulls > (values ?? recordCount)) {
      return `column ${name} holds ${nulls} nulls among ${values ?? recordCount} values`
    }
  }
  return undefined
}

function boundProblem(
  { lowerBounds, upperBounds }: DataFile,
  { columns }: TableShape,
): string | undefined {
  for (const [id, bytes] of lowerBounds ?? []) {
    const column = columns.get(id)
    const upper = upperBounds?.get(id)
    if (column === undefined || upper === undefined) continue
    const { type, name } = column
    const order = compareValues(
      type,
      decodeSingleValue(type, bytes),
      decodeSingleValue(type, upper),
    )
    if (order > 0) return `the lower bound of column ${name} is above the upper one`
  }
  return undefined
}
