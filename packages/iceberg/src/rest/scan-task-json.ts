import { encodePredicate } from '../expressions/expression-json.ts'
import type { Predicate } from '../expressions/expression.ts'
import type { DataFile } from '../manifest/data-file.ts'
import type { PartitionType } from '../manifest/partition-type.ts'
import { invariant } from '../spec/invariant.ts'
import { encodeJsonValue } from '../spec/json-single-value.ts'
import { printJson } from '../spec/json.ts'
import type { PartitionValue } from '../spec/partition-spec.ts'
import type { IcebergType } from '../spec/type.ts'

/** A file of a plan, with what a reader needs to know beside its own description. */
export interface PlannedFile {
  readonly specId: number
  /** Of the data in it, which says what delete files apply. */
  readonly sequenceNumber: bigint
  readonly dataFile: DataFile
}

/** One file to read, the deletes that apply to it, and the part of the filter that its rows must still pass. */
export interface ScanTask {
  readonly file: PlannedFile
  readonly deletes: readonly PlannedFile[]
  readonly residual: Predicate
}

export interface ScanTaskEncoding {
  /** By spec id, of every spec that a file is of. */
  readonly partitions: ReadonlyMap<number, PartitionType>
  /** Columns whose metrics are written; absent: none. */
  readonly statsFieldIds?: ReadonlySet<number>
}

/**
 * The members `file-scan-tasks` and `delete-files` of ScanTasks, without braces. Each delete file is written once, and
 * references are places in that list. Bounds are the binary single values in hexadecimal digits, partition values a list in
 * the order of the spec, residuals in the older grammar: what the clients that exist read, which is not in all places what
 * the description of the protocol says. Spec: REST catalog, ScanTasks.
 */
export function encodeScanTasks(tasks: Iterable<ScanTask>, encoding: ScanTaskEncoding): string {
  const deletes = new DeleteFileTexts(encoding)
  const residuals = new Map<Predicate, string>()
  let text = ''
  for (const { file, deletes: applied, residual } of tasks) {
    let residualText = residuals.get(residual)
    if (residualText === undefined) {
      residualText = printJson(encodePredicate(residual))
      residuals.set(residual, residualText)
    }
    const references =
      applied.length === 0 ? '' : `,"delete-file-references":[${deletes.references(applied)}]`
    text += `${text === '' ? '' : ','}{"data-file":${fileText(file, encoding)}${references},"residual-filter":${residualText}}`
  }
  const files = deletes.text === '' ? '' : `,"delete-files":[${deletes.text}]`
  return `"file-scan-tasks":[${text}]${files}`
}

/** The delete files of one body, each once: several deletion vectors may share a Puffin file. */
class DeleteFileTexts {
  text = ''
  readonly #encoding: ScanTaskEncoding
  readonly #places = new Map<string, number>()

  constructor(encoding: ScanTaskEncoding) {
    this.#encoding = encoding
  }

  references(files: readonly PlannedFile[]): string {
    return files.map((file) => this.#place(file)).join(',')
  }

  #place(file: PlannedFile): number {
    const { filePath, contentOffset, contentSizeBytes } = file.dataFile
    const key = `${contentOffset} ${contentSizeBytes} ${filePath}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const place = this.#places.size
    this.#places.set(key, place)
    this.text += `${place === 0 ? '' : ','}${fileText(file, this.#encoding)}`
    return place
  }
}

function fileText(file: PlannedFile, encoding: ScanTaskEncoding): string {
  const { dataFile, specId, sequenceNumber } = file
  const partition = encoding.partitions.get(specId)
  invariant(partition !== undefined, `no partition type for spec ${specId}`)
  const { content, fileFormat } = dataFile
  const base =
    `{"content":"${content}","file-path":${JSON.stringify(dataFile.filePath)},` +
    `"file-format":${JSON.stringify(fileFormat === 'PARQUET' ? 'parquet' : fileFormat.toLowerCase())},` +
    `"spec-id":${specId},"partition":${partitionText(dataFile.partition, partition)},` +
    `"file-size-in-bytes":${dataFile.fileSizeBytes},"record-count":${dataFile.recordCount},` +
    // @NOTE not in the protocol's description; readers of merge-on-read tables need it
    `"data-sequence-number":${sequenceNumber}`
  return `${base}${optionalText(dataFile)}${metricsText(dataFile, encoding.statsFieldIds)}}`
}

function partitionText(values: readonly PartitionValue[], { fields }: PartitionType): string {
  if (fields.length === 0) return '[]'
  return `[${fields.map(({ type }, index) => valueText(type, values[index] ?? null)).join(',')}]`
}

/**
 * What JSON has no number for is a text, as the Java library writes it: null would be read as a null, and so would the column
 * of an identity partition.
 */
function valueText(type: IcebergType, value: PartitionValue): string {
  if (value === null) return 'null'
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`
  if (type.kind === 'struct' || type.kind === 'list' || type.kind === 'map') return 'null'
  return printJson(encodeJsonValue(type, value))
}

function optionalText(file: DataFile): string {
  let text = ''
  if (file.keyMetadata !== undefined) text += `,"key-metadata":"${hexOf(file.keyMetadata)}"`
  if (file.splitOffsets !== undefined) text += `,"split-offsets":[${file.splitOffsets.join(',')}]`
  if (file.equalityIds !== undefined && file.content === 'equality-deletes') {
    text += `,"equality-ids":[${file.equalityIds.join(',')}]`
  }
  if (file.sortOrderId !== undefined) text += `,"sort-order-id":${file.sortOrderId}`
  if (file.firstRowId !== undefined) text += `,"first-row-id":${file.firstRowId}`
  if (file.referencedDataFile !== undefined) {
    // @NOTE not in the protocol's description; without it nobody knows what a deletion vector is of
    text += `,"referenced-data-file":${JSON.stringify(file.referencedDataFile)}`
  }
  if (file.contentOffset !== undefined) text += `,"content-offset":${file.contentOffset}`
  if (file.contentSizeBytes !== undefined) {
    text += `,"content-size-in-bytes":${file.contentSizeBytes}`
  }
  return text
}

const print = (count: bigint) => String(count)

function metricsText(file: DataFile, wanted: ReadonlySet<number> | undefined): string {
  if (wanted === undefined || wanted.size === 0 || file.content !== 'data') return ''
  return (
    mapText('column-sizes', file.columnSizesBytes, { wanted, print }) +
    mapText('value-counts', file.valueCounts, { wanted, print }) +
    mapText('null-value-counts', file.nullValueCounts, { wanted, print }) +
    mapText('nan-value-counts', file.nanValueCounts, { wanted, print }) +
    mapText('lower-bounds', file.lowerBounds, { wanted, print: boundText }) +
    mapText('upper-bounds', file.upperBounds, { wanted, print: boundText })
  )
}

function mapText<Value>(
  name: string,
  map: ReadonlyMap<number, Value> | undefined,
  choice: { readonly wanted: ReadonlySet<number>; readonly print: (value: Value) => string },
): string {
  if (map === undefined) return ''
  const ids = [...map.keys()].filter((id) => choice.wanted.has(id))
  if (ids.length === 0) return ''
  // `as`: the ids are the map's own.
  const values = ids.map((id) => choice.print(map.get(id) as Value))
  return `,"${name}":{"keys":[${ids.join(',')}],"values":[${values.join(',')}]}`
}

function boundText(bytes: Uint8Array): string {
  return `"${hexOf(bytes)}"`
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex').toUpperCase()
}
