import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import type { Catalog } from './catalog.ts'
import type { MetadataChange } from './plan-changes.ts'
import type { Warehouse } from './warehouse.ts'
import { discardFile, writeMetadata, type WrittenMetadata } from './write-metadata.ts'

/** A change whose metadata file is durable. */
export type WrittenChange = MetadataChange & { readonly written: WrittenMetadata }

/** Metadata files of one request that are written, or deleted, at one time. */
const METADATA_WRITES_MAX = 8

/**
 * Writes the metadata file of every change. When one cannot be written those of the others are deleted again. Throws what
 * `writeMetadata` throws.
 */
export async function writeChanges(
  catalog: Catalog,
  warehouse: Warehouse,
  changes: readonly MetadataChange[],
): Promise<WrittenChange[]> {
  const results = await mapBounded(changes, METADATA_WRITES_MAX, (change) =>
    write(catalog, warehouse, change).catch((error: unknown) => ({ error })),
  )
  const written = results.flatMap((result) => ('error' in result ? [] : [result]))
  if (written.length === changes.length) return written
  await discardChanges(catalog, warehouse, written)
  throw results.find((result) => 'error' in result)?.error
}

async function write(
  catalog: Catalog,
  warehouse: Warehouse,
  change: MetadataChange,
): Promise<WrittenChange> {
  const { target, metadata } = change
  if (target.kind === 'new') {
    await warehouse.store.prepareTableFolders(normalizeLocation(metadata.location))
  }
  const previous =
    target.kind === 'existing' ? { previousLocation: target.row.metadataLocation } : {}
  return { ...change, written: await writeMetadata(catalog, { warehouse, metadata, ...previous }) }
}

/** Deletes the files of changes that were certainly not applied. */
export async function discardChanges(
  catalog: Catalog,
  warehouse: Warehouse,
  changes: readonly WrittenChange[],
): Promise<void> {
  await mapBounded(changes, METADATA_WRITES_MAX, ({ written }) =>
    discardFile(catalog, warehouse, written.loaded.location),
  )
}
