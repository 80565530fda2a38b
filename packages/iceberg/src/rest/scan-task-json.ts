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
  const files = new FileTexts(encoding)
  const deletes = new DeleteFileTexts(files)
  const residuals = new Map<Predicate, string>()
  const texts: string[] = []
  for (const { file, deletes: applied, residual } of tasks) {
    let residualText = residuals.get(residual)
    if (residualText === undefined) {
      residualText = printJson(encodePredicate(residual))
      residuals.set(residual, residualText)
    }
    const references =
      applied.length === 0 ? '' : `,"delete-file-references":[${deletes.references(applied)}]`
    texts.push(`{"data-file":${files.textOf(file)}${references},"residual-filter":${residualText}}`)
  }
  const deleteFiles = deletes.text === '' ? '' : `,"delete-files":[${deletes.text}]`
  return `"file-scan-tasks":[${texts.join(',')}]${deleteFiles}`
}

/** The delete files of one body, each once: several deletion vectors may share a Puffin file. */
class DeleteFileTexts {
  text = ''
  readonly #files: FileTexts
  readonly #places = new Map<string, number>()

  constructor(files: FileTexts) {
    this.#files = files
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
    this.text += `${place === 0 ? '' : ','}${this.#files.textOf(file)}`
    return place
  }
}

/** Files of one body: what many of them share is written once. */
class FileTexts {
  readonly #encoding: ScanTaskEncoding
  /** By the very same array, which the files of a manifest share; of a spec and a partition. */
  readonly #partitions = new Map<number, Map<readonly PartitionValue[], string>>()
  readonly #offsets = new Map<readonly bigint[], string>()
  readonly #formats = new Map<string, string>()
  #last: SharedText | undefined = undefined

  constructor(encoding: ScanTaskEncoding) {
    this.#encoding = encoding
  }

  textOf(file: PlannedFile): string {
    const { dataFile } = file
    const base =
      `{"content":"${dataFile.content}","file-path":${JSON.stringify(dataFile.filePath)}` +
      `${this.#sharedText(file)}${dataFile.fileSizeBytes},"record-count":${dataFile.recordCount},` +
      // @NOTE not in the protocol's description; readers of merge-on-read tables need it
      `"data-sequence-number":${file.sequenceNumber}`
    const metrics = metricsText(dataFile, this.#encoding.statsFieldIds)
    return `${base}${this.#optionalText(dataFile)}${metrics}}`
  }

  /** What the files of a partition tend to have in common. */
  #sharedText({ specId, dataFile }: PlannedFile): string {
    const { fileFormat, partition } = dataFile
    const last = this.#last
    const isSame =
      last?.partition === partition && last.specId === specId && last.fileFormat === fileFormat
    if (isSame) return last.text
    const text =
      `,"file-format":${this.#formatText(fileFormat)},"spec-id":${specId},` +
      `"partition":${this.#partitionText(specId, partition)},"file-size-in-bytes":`
    this.#last = { specId, fileFormat, partition, text }
    return text
  }

  #formatText(format: string): string {
    return remembered(this.#formats, format, () => JSON.stringify(format.toLowerCase()))
  }

  #partitionText(specId: number, values: readonly PartitionValue[]): string {
    const known = remembered(this.#partitions, specId, () => new Map())
    return remembered(known, values, () => {
      const partition = this.#encoding.partitions.get(specId)
      invariant(partition !== undefined, `no partition type for spec ${specId}`)
      return partitionText(values, partition)
    })
  }

  #optionalText(file: DataFile): string {
    let text = ''
    const { splitOffsets } = file
    if (file.keyMetadata !== undefined) text += `,"key-metadata":"${hexOf(file.keyMetadata)}"`
    if (splitOffsets !== undefined) {
      text += remembered(
        this.#offsets,
        splitOffsets,
        () => `,"split-offsets":[${splitOffsets.join(',')}]`,
      )
    }
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
}

interface SharedText {
  readonly specId: number
  readonly fileFormat: string
  readonly partition: readonly PartitionValue[]
  readonly text: string
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
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

const countText = (count: bigint) => String(count)
const boundText = (bytes: Uint8Array) => `"${hexOf(bytes)}"`

function metricsText(file: DataFile, wanted: ReadonlySet<number> | undefined): string {
  if (wanted === undefined || wanted.size === 0 || file.content !== 'data') return ''
  const counts = (name: string, map: ReadonlyMap<number, bigint> | undefined): string =>
    mapText(name, map, { wanted, print: countText })
  const bounds = (name: string, map: ReadonlyMap<number, Uint8Array> | undefined): string =>
    mapText(name, map, { wanted, print: boundText })
  return (
    counts('column-sizes', file.columnSizesBytes) +
    counts('value-counts', file.valueCounts) +
    counts('null-value-counts', file.nullValueCounts) +
    counts('nan-value-counts', file.nanValueCounts) +
    bounds('lower-bounds', file.lowerBounds) +
    bounds('upper-bounds', file.upperBounds)
  )
}

function mapText<Value>(
  name: string,
  map: ReadonlyMap<number, Value> | undefined,
  choice: { readonly wanted: ReadonlySet<number>; readonly print: (value: Value) => string },
): string {
  if (map === undefined || map.size === 0) return ''
  let keys = ''
  let values = ''
  for (const [id, value] of map) {
    if (!choice.wanted.has(id)) continue
    const comma = keys === '' ? '' : ','
    keys += `${comma}${id}`
    values += `${comma}${choice.print(value)}`
  }
  return keys === '' ? '' : `,"${name}":{"keys":[${keys}],"values":[${values}]}`
}

const HEX = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0').toUpperCase(),
)

function hexOf(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte]
  return text
}
