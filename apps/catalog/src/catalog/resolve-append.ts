import { createHash } from 'node:crypto'
import { dataFileProblem } from '@timelake/iceberg/append/data-file-problem'
import { tableShape, type ShapedSpec, type TableShape } from '@timelake/iceberg/append/table-shape'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { AppendRequest, NamedFile } from '@timelake/iceberg/rest/append-json'
import {
  decodeNewDataFile,
  decodePartition,
  type DescribedDataFile,
} from '@timelake/iceberg/rest/content-file-json'
import { object, text } from '@timelake/iceberg/spec/decode'
import {
  CorruptFileError,
  InvalidInputError,
  ValidationFailedError,
} from '@timelake/iceberg/spec/errors'
import { isLocationBelow, normalizeLocation } from '@timelake/iceberg/spec/location'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { ObjectNotFoundError } from '@timelake/storage/object-store'
import { metricsModes } from '@timelake/timelake/contract/metrics-mode'
import {
  describeParquetFile,
  type DescribedTable,
} from '@timelake/timelake/footer/describe-parquet-file'
import { readNameMapping } from '@timelake/timelake/footer/name-mapping'
import { FOOTER_READS_MAX, type FileFooter } from '../footer-reads.ts'
import type { Catalog } from './catalog.ts'
import type { AppendIntent } from './append-intent.ts'
import type { Warehouse } from './warehouse.ts'

export interface UnresolvedAppend {
  readonly warehouse: Warehouse
  readonly metadata: TableMetadata
  readonly request: AppendRequest
}

/**
 * The intent that a request stands for: described files decoded and checked against the table, named ones described by
 * their footers, which are read here. Throws InvalidInputError for whatever does not fit the table, is not below its
 * folders or is no Parquet file, and what the store throws.
 */
export async function resolveAppend(
  catalog: Catalog,
  append: UnresolvedAppend,
): Promise<AppendIntent> {
  const { metadata, request } = append
  checkUnencrypted(metadata)
  const described = await decodeDescribed(catalog, append)
  const specId = request.specId ?? described[0]?.specId ?? metadata.defaultSpecId
  const other = described.find((file) => file.specId !== specId)
  if (other !== undefined) {
    throw new InvalidInputError(`expected files of one spec, got ${specId} and ${other.specId}`)
  }
  const shape = tableShape(metadata)
  const spec = shape.specs.get(specId)
  if (spec === undefined) {
    throw new InvalidInputError(`the table has no partition spec ${specId}`, 'spec-id')
  }
  checkLocations(metadata, [
    ...described.map(({ dataFile }) => dataFile.filePath),
    ...request.named.map(({ location }) => location),
  ])
  const named = await describeNamed(catalog, append, { shape, spec })
  const files = [...described.map(({ dataFile }) => dataFile), ...named]
  for (const file of files) {
    const problem = dataFileProblem(file, spec, shape)
    if (problem !== undefined) throw cannotAppend(file.filePath, problem)
  }
  const { batchId, branch, summary } = request
  return { batchId, branch, summary, files, specId, requestHash: filesHash(request) }
}

/** Descriptions that are decoded before others get a turn. */
const DECODED_AT_ONCE_MAX = 100

async function decodeDescribed(
  { context }: Catalog,
  { metadata, request }: UnresolvedAppend,
): Promise<DescribedDataFile[]> {
  const described: DescribedDataFile[] = []
  for (const [index, json] of request.described.entries()) {
    if (index > 0 && index % DECODED_AT_ONCE_MAX === 0) await context.delay(0)
    described.push(decodeNewDataFile(json, `data-files[${index}]`, metadata))
  }
  return described
}

function checkUnencrypted({ properties }: TableMetadata): void {
  if (properties['encryption.key-id'] === undefined) return
  throw new ValidationFailedError('cannot append: the table is encrypted')
}

/** Only the table's own files are read, and only they may become part of it. */
function checkLocations(metadata: TableMetadata, locations: readonly string[]): void {
  const roots = tableRoots(metadata)
  const known = new Set<string>()
  for (const location of locations) {
    if (!roots.some((root) => isLocationBelow(root, location))) {
      throw cannotAppend(location, `expected a location below ${roots.join(' or ')}`)
    }
    const normalized = normalizeLocation(location)
    if (known.has(normalized)) throw cannotAppend(location, 'it is named twice')
    known.add(normalized)
  }
}

function describeNamed(
  catalog: Catalog,
  { warehouse, metadata, request }: UnresolvedAppend,
  { shape, spec }: { readonly shape: TableShape; readonly spec: ShapedSpec },
): Promise<DataFile[]> {
  if (request.named.length === 0) return Promise.resolve([])
  const { properties, sortOrders, defaultSortOrderId } = metadata
  const sortOrder = sortOrders.find(({ orderId }) => orderId === defaultSortOrderId)
  const table: DescribedTable = {
    shape,
    spec,
    modes: metricsModes(shape.schema, sortOrder, properties),
    nameMapping: readNameMapping(properties),
  }
  return mapBounded(request.named, FOOTER_READS_MAX, async (named) => {
    const partition = statedPartition(named, table)
    const found = await readFooter(catalog, warehouse, named.location)
    const description = describeParquetFile({ ...found, partition }, table)
    if (description.outcome === 'refused') throw cannotAppend(named.location, description.reason)
    return { ...description.file, filePath: named.location }
  })
}

function statedPartition({ partition, location }: NamedFile, { shape, spec }: DescribedTable) {
  if (partition === undefined) return undefined
  const { specId } = spec.spec
  return decodePartition(partition, `partition of ${location}`, { shape, specId })
}

async function readFooter(
  { footers }: Catalog,
  { store }: Warehouse,
  location: string,
): Promise<FileFooter> {
  try {
    return await footers.read(store, location)
  } catch (cause) {
    if (cause instanceof ObjectNotFoundError) throw cannotAppend(location, 'it is not there', cause)
    if (cause instanceof CorruptFileError) throw cannotAppend(location, cause.message, cause)
    throw cause
  }
}

function cannotAppend(location: string, problem: string, cause?: Error): ValidationFailedError {
  return new ValidationFailedError(`cannot append ${location}: ${problem}`, undefined, { cause })
}

/** Equal for requests that name the same files, described or not. */
export function filesHash({ described, named }: AppendRequest): string {
  const locations = [
    ...described.map((json, index) => {
      const path = `data-files[${index}]`
      return text(object(json, path)['file-path'], `${path}.file-path`)
    }),
    ...named.map(({ location }) => location),
  ]
  const sorted = locations.map(normalizeLocation).sort()
  return createHash('sha256').update(sorted.join('\n')).digest('hex')
}
