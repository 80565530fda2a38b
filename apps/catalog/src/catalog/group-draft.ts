import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import type { NewFile } from '@timelake/iceberg/snapshot/new-snapshot'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { Catalog } from './catalog.ts'
import type { Warehouse } from './warehouse.ts'

/**
 * What the members of a group have made of their table so far, on the way from its stored metadata to one new metadata
 * file. Immutable: a member that is refused leaves the draft as it was. Nothing of it is stored yet.
 */
export interface GroupDraft {
  readonly metadata: TableMetadata
  /** Manifests and manifest lists that must be stored before the metadata that names them. All of them are ours. */
  readonly files: readonly NewFile[]
  /** The content of the manifest lists among `files`, by location. */
  readonly manifestLists: ReadonlyMap<string, readonly ManifestFile[]>
}

/** The manifests of a snapshot of the draft, in list order. Throws CorruptFileError, and what the store throws. */
export async function manifestsOf(
  catalog: Catalog,
  warehouse: Warehouse,
  { draft, snapshot }: { readonly draft: GroupDraft; readonly snapshot: Snapshot },
): Promise<readonly ManifestFile[]> {
  const drafted = draft.manifestLists.get(snapshot.manifestList ?? '')
  return (
    drafted ?? (await catalog.manifestLists.get(warehouse, { metadata: draft.metadata, snapshot }))
  )
}
