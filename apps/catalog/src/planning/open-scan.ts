import { bindExpression } from '@timelake/iceberg/expressions/bind-expression'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { partitionType, type PartitionType } from '@timelake/iceberg/manifest/partition-type'
import { compileScanFilter, type ScanFilter } from '@timelake/iceberg/scan/scan-filter'
import { selectManifests } from '@timelake/iceberg/scan/select-manifests'
import { schemasNewestFirst } from '@timelake/iceberg/snapshot/new-snapshot'
import { CorruptFileError } from '@timelake/iceberg/spec/errors'
import { invariant } from '@timelake/iceberg/spec/invariant'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { ObjectTooLargeError } from '@timelake/storage/object-store'
import { UnusableManifestsError } from '../cache/manifest-lists.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Warehouse } from '../catalog/warehouse.ts'
import type { PinnedScan } from './pinned-scan.ts'
import { TableNotPlannableError } from './plan-errors.ts'

/** A table as a plan sees it. */
export interface ScannedTable {
  readonly catalog: Catalog
  readonly warehouse: Warehouse
  readonly metadata: TableMetadata
  /** The folders that the table's files may be read from: its own, and those that it gave up. */
  readonly roots: readonly string[]
}

/** A scan whose manifests are known. Nothing of them is read yet. */
export interface OpenScan {
  readonly scan: PinnedScan
  readonly filter: ScanFilter
  /** By spec id, of every spec of the table. */
  readonly partitions: ReadonlyMap<number, PartitionType>
  /** Data manifests that may hold files with rows that match, and their places among all data manifests, in list order. */
  readonly data: readonly PlacedManifest[]
  /** Those that may hold deletes for such files. */
  readonly deletes: readonly ManifestFile[]
}

export interface PlacedManifest {
  readonly manifest: ManifestFile
  /** Does not depend on the filter: pages are told by it. */
  readonly place: number
}

/**
 * Binds the filter and finds the manifests. Throws InvalidInputError for a filter that does not fit the schema,
 * TableNotPlannableError, CorruptFileError and what the store throws.
 */
export async function openScan(table: ScannedTable, scan: PinnedScan): Promise<OpenScan> {
  const { metadata } = table
  const caseSensitive = scan.request.isCaseSensitive
  const predicate = bindExpression(scan.request.filter, scan.schema, { caseSensitive })
  const filter = compileScanFilter(predicate, metadata)
  const manifests = await plannable(() => listManifests(table, scan))
  for (const manifest of manifests) checkSpec(filter, manifest)
  const { addedIn } = scan.source
  const selected = selectManifests({ manifests, filter, ...(addedIn && { addedIn }) })
  const data = manifests.filter(({ content }) => content === 'data')
  const places = new Map(data.map(({ manifestPath }, place) => [manifestPath, place]))
  const schemas = schemasNewestFirst(metadata)
  return {
    scan,
    filter,
    partitions: new Map(
      metadata.partitionSpecs.map((spec) => [spec.specId, partitionType(spec, schemas)]),
    ),
    data: selected.data.map((manifest) => {
      const place = places.get(manifest.manifestPath)
      invariant(place !== undefined, `${manifest.manifestPath} is not in the list`)
      return { manifest, place }
    }),
    deletes: selected.deletes,
  }
}

/** Whether the scan has to read every live file. */
export function isWholeTable({ filter, scan }: OpenScan): boolean {
  return filter.predicate.kind === 'true' && scan.source.addedIn === undefined
}

/** How many files the scan looks at; unknown counts are taken for one. */
export function candidateFileCount({ data }: OpenScan): number {
  let count = 0
  for (const { manifest } of data) {
    count += (manifest.addedFilesCount ?? 1) + (manifest.existingFilesCount ?? 0)
  }
  return count
}

/** Each manifest once: an incremental scan meets most of them in several lists. */
async function listManifests(
  { catalog, warehouse, metadata, roots }: ScannedTable,
  { source }: PinnedScan,
): Promise<ManifestFile[]> {
  const manifests = new Map<string, ManifestFile>()
  for (const snapshot of source.snapshots) {
    const list = await catalog.manifestLists.get(warehouse, { metadata, snapshot, roots })
    for (const manifest of list) {
      if (!manifests.has(manifest.manifestPath)) manifests.set(manifest.manifestPath, manifest)
    }
  }
  return [...manifests.values()]
}

function checkSpec({ specFilters }: ScanFilter, manifest: ManifestFile): void {
  const { partitionSpecId, manifestPath } = manifest
  if (specFilters.has(partitionSpecId)) return
  throw new CorruptFileError(
    `cannot read manifest ${manifestPath}: the table has no partition spec ${partitionSpecId}`,
  )
}

/** What the reading gives. Files that this server does not touch are a matter for the client: TableNotPlannableError. */
export async function plannable<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (cause) {
    const isRefused =
      cause instanceof UnusableManifestsError || cause instanceof ObjectTooLargeError
    if (!isRefused) throw cause
    const message = `the server cannot plan scans of this table: ${cause.message}`
    throw new TableNotPlannableError(message, { cause })
  }
}
