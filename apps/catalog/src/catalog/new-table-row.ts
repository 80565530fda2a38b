import type { NamespaceRow } from '@timelake/database/namespaces'
import { extraRoots } from '@timelake/iceberg/spec/table-roots'
import type { Catalog } from './catalog.ts'
import type { MutationScope } from './mutation-scope.ts'
import { commitEventPayload } from './commit-event.ts'
import { insertRow, type NewRowOutcome } from './new-row.ts'
import type { WrittenMetadata } from './write-metadata.ts'

export interface NewTableRow extends MutationScope {
  readonly namespace: NamespaceRow
  readonly name: string
  readonly written: WrittenMetadata
  /** Whether this process wrote the file for this row; somebody else's file is never deleted. */
  readonly ownsFile: boolean
}

/** Makes the row of a table whose metadata file is written, as `insertRow` does, and keeps the metadata in memory. */
export async function insertTableRow(catalog: Catalog, table: NewTableRow): Promise<NewRowOutcome> {
  const { loaded, textBytes } = table.written
  const { location: metadataLocation, metadata } = loaded
  const outcome = await insertRow(catalog, {
    ...table,
    kind: 'table',
    uuid: metadata.tableUuid,
    location: metadata.location,
    extraRoots: extraRoots(metadata),
    metadataLocation,
    event: {
      kind: table.ownsFile ? 'table-created' : 'table-registered',
      payload: commitEventPayload({ metadataLocation, metadata }),
    },
  })
  if (outcome === 'created') catalog.metadata.put(table.warehouse, loaded, textBytes)
  return outcome
}
