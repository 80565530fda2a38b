import { derivePartition, type FileEvidence } from '@timelake/iceberg/append/partition-evidence'
import type { ShapedSpec, TableShape } from '@timelake/iceberg/append/table-shape'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import type { PartitionValue } from '@timelake/iceberg/spec/partition-spec'
import { decodeSingleValue, encodeSingleValue } from '@timelake/iceberg/spec/single-value'
import type { IcebergType, NestedField } from '@timelake/iceberg/spec/type'
import type { MetricsMode } from '../contract/metrics-mode.ts'
import { chunksOf, extremeStatistic, type StoredType } from './chunk-statistics.ts'
import { columnMetrics, type KnownFacts, splitOffsets } from './column-metrics.ts'
import type { ParquetColumnChunk, ParquetElement, ParquetFooter } from './parquet-footer.ts'
import { canBeMissing, describeElement, isStoredAs } from './stored-column.ts'

/** The table that a file is to be added to. */
export interface DescribedTable {
  readonly shape: TableShape
  readonly spec: ShapedSpec
  readonly modes: ReadonlyMap<number, MetricsMode>
  /** Ids of top-level columns by the names in files without field ids. */
  readonly nameMapping: ReadonlyMap<string, number> | undefined
}

export interface FoundFile {
  readonly footer: ParquetFooter
  readonly fileSizeBytes: bigint
  /** What the writer says; otherwise the bounds of the file must prove one. */
  readonly partition: readonly PartitionValue[] | undefined
}

/** A data file but for its location; or why the file cannot be one of the table, as the end of a sentence. */
export type ParquetDescription =
  | { readonly outcome: 'described'; readonly file: Omit<DataFile, 'filePath'> }
  | { readonly outcome: 'refused'; readonly reason: string }

/**
 * Describes a Parquet file by its footer alone: counts and bounds of top-level columns with the metrics that the table asks
 * for, and its partition. Bounds that a footer does not have are left out, NaNs are not counted. Refused are files without
 * field ids and a name mapping, with columns stored as another type, without a required column, or of no provable partition.
 */
export function describeParquetFile(found: FoundFile, table: DescribedTable): ParquetDescription {
  const { footer, fileSizeBytes } = found
  const { schema } = table.shape
  const elements = elementsById(footer, table)
  if (typeof elements === 'string') return { outcome: 'refused', reason: elements }
  for (const column of schema.fields) {
    const reason = columnObstacle(column, elements.get(column.id), table.spec)
    if (reason !== undefined) return { outcome: 'refused', reason }
  }
  const facts = knownFacts(footer, schema.fields, elements)
  const partition = found.partition ?? provenPartition(footer, facts, table)
  if (typeof partition === 'string') return { outcome: 'refused', reason: partition }
  return {
    outcome: 'described',
    file: {
      content: 'data',
      fileFormat: 'PARQUET',
      partition,
      recordCount: footer.rowCount,
      fileSizeBytes,
      ...columnMetrics(facts, schema, table.modes),
      splitOffsets: splitOffsets(footer),
    },
  }
}

type Elements = ReadonlyMap<number, ParquetElement>

function elementsById(
  { columns }: ParquetFooter,
  { nameMapping }: DescribedTable,
): Elements | string {
  const hasIds = columns.some(({ fieldId }) => fieldId !== undefined)
  if (!hasIds && nameMapping === undefined) {
    return 'stores no field ids, and the table has no name mapping'
  }
  const elements = new Map<number, ParquetElement>()
  for (const element of columns) {
    const id = hasIds ? element.fieldId : nameMapping?.get(element.name)
    if (id === undefined) continue
    if (elements.has(id)) return `stores field id ${id} twice`
    elements.set(id, element)
  }
  return elements
}

function columnObstacle(
  column: NestedField,
  element: ParquetElement | undefined,
  { spec }: ShapedSpec,
): string | undefined {
  const name = JSON.stringify(column.name)
  if (element !== undefined) {
    if (isStoredAs(element, column.type)) return undefined
    return `stores column ${name} (${column.type.kind}) as ${describeElement(element)}`
  }
  const isIdentitySource = spec.fields.some(
    ({ transform, sourceIds }) => transform.kind === 'identity' && sourceIds.includes(column.id),
  )
  return isIdentitySource || canBeMissing(column) ? undefined : `lacks required column ${name}`
}

function knownFacts(
  footer: ParquetFooter,
  columns: readonly NestedField[],
  elements: Elements,
): ReadonlyMap<number, KnownFacts> {
  const facts = new Map<number, KnownFacts>()
  for (const { id, type } of columns) {
    const element = elements.get(id)
    const { physicalType } = element ?? {}
    if (element === undefined || physicalType === undefined) continue
    const chunks = chunksOf(footer, element.name)
    facts.set(id, {
      ...countsOf(chunks, element),
      ...boundsOf(chunks, { type, physicalType }),
    })
  }
  return facts
}

function countsOf(chunks: readonly ParquetColumnChunk[], { repetition }: ParquetElement) {
  let storedSizeBytes = 0n
  let valueCount = 0n
  let nullCount: bigint | undefined = 0n
  for (const chunk of chunks) {
    storedSizeBytes += chunk.compressedSizeBytes
    valueCount += chunk.valueCount
    const nulls = chunk.nullCount ?? (repetition === 'required' ? 0n : undefined)
    nullCount = nulls === undefined || nullCount === undefined ? undefined : nullCount + nulls
  }
  return { storedSizeBytes, valueCount, ...(nullCount === undefined ? {} : { nullCount }) }
}

function boundsOf(chunks: readonly ParquetColumnChunk[], stored: StoredType) {
  const lower = usableBound(readableStatistic(chunks, stored, -1), stored.type, -0)
  const upper = usableBound(readableStatistic(chunks, stored, 1), stored.type, 0)
  return { ...(lower === undefined ? {} : { lower }), ...(upper === undefined ? {} : { upper }) }
}

/** Some writers cut a text in the middle of a character; such a statistic tells nothing. */
function readableStatistic(
  chunks: readonly ParquetColumnChunk[],
  stored: StoredType,
  sign: -1 | 1,
): Uint8Array | undefined {
  try {
    return extremeStatistic(chunks, stored, sign)
  } catch (error) {
    if (error instanceof CorruptFileError) return undefined
    throw error
  }
}

/** NaN bounds nothing, and a zero covers zeros of both signs, which statistics do not tell apart. */
function usableBound(
  bound: Uint8Array | undefined,
  type: IcebergType,
  zero: number,
): Uint8Array | undefined {
  if (bound === undefined || (type.kind !== 'float' && type.kind !== 'double')) return bound
  const value = Number(decodeSingleValue(type, bound))
  if (Number.isNaN(value)) return undefined
  return value === 0 ? encodeSingleValue(type, zero) : bound
}

function provenPartition(
  { rowCount }: ParquetFooter,
  facts: ReadonlyMap<number, KnownFacts>,
  { spec, shape }: DescribedTable,
): readonly PartitionValue[] | string {
  const nullValueCounts = new Map<number, bigint>()
  const lowerBounds = new Map<number, Uint8Array>()
  const upperBounds = new Map<number, Uint8Array>()
  for (const [id, { nullCount, lower, upper }] of facts) {
    if (nullCount !== undefined) nullValueCounts.set(id, nullCount)
    if (lower !== undefined) lowerBounds.set(id, lower)
    if (upper !== undefined) upperBounds.set(id, upper)
  }
  const evidence: FileEvidence = {
    recordCount: rowCount,
    nullValueCounts,
    lowerBounds,
    upperBounds,
  }
  const derived = derivePartition(spec, shape, evidence)
  if (derived.outcome === 'derived') return derived.partition
  return `has no provable partition (${derived.reason}): name it`
}
