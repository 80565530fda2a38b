import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import type { NewFile } from '@timelake/iceberg/snapshot/new-snapshot'
import type { Catalog } from './catalog.ts'
import type { GroupDraft } from './group-draft.ts'
import type { GroupTable } from './plan-group.ts'
import { discardFile, writeMetadata, writeNewFile, type WrittenMetadata } from './write-metadata.ts'

/** Files of one group that are written at one time. */
const FILE_WRITES_MAX = 64

/** The files of a group, all of them durable and nothing of them referenced yet. */
export interface WrittenGroup {
  readonly written: WrittenMetadata
  readonly draft: GroupDraft
}

/**
 * Writes the manifests, the manifest lists and the metadata file of a draft, all at once. When one cannot be written the
 * others are deleted again. Throws what `writeMetadata` throws.
 */
export async function writeGroup(
  catalog: Catalog,
  { warehouse, row }: GroupTable,
  draft: GroupDraft,
): Promise<WrittenGroup> {
  const { metadata, files } = draft
  const next = { warehouse, metadata, previousLocation: row.metadataLocation }
  const [written, others] = await Promise.all([
    settled(writeMetadata(catalog, next)),
    mapBounded(files, FILE_WRITES_MAX, (file) => settled(writeNewFile(warehouse.store, file))),
  ])
  const failure = [written, ...others].find((result) => 'error' in result)
  if ('value' in written && failure === undefined) return { written: written.value, draft }
  const done = files.filter((_, index) => 'value' in (others[index] ?? {}))
  const metadataFile = 'value' in written ? [written.value.loaded.location] : []
  await discard(catalog, { warehouse }, [...metadataFile, ...done.map(({ location }) => location)])
  throw failure?.error
}

type Settled<Value> = { readonly value: Value } | { readonly error: unknown }

function settled<Value>(promise: Promise<Value>): Promise<Settled<Value>> {
  return promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
}

/** Deletes what was written for a group that was certainly not applied. */
export function discardGroup(
  catalog: Catalog,
  table: GroupTable,
  { written, draft }: WrittenGroup,
): Promise<void> {
  const files = draft.files.map(({ location }: NewFile) => location)
  return discard(catalog, table, [written.loaded.location, ...files])
}

async function discard(
  catalog: Catalog,
  { warehouse }: Pick<GroupTable, 'warehouse'>,
  locations: readonly string[],
): Promise<void> {
  await mapBounded(locations, FILE_WRITES_MAX, (location) =>
    discardFile(catalog, warehouse, location),
  )
}
