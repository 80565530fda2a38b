import { findNamespace } from '@timelake/database/namespaces'
import { readPointers } from '@timelake/database/read-pointers'
import type { MovedRoots } from '@timelake/database/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import { overwriteTable } from '@timelake/database/tables'
import {
  CommitFailedError,
  CorruptFileError,
  InvalidInputError,
} from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { extraRoots } from '@timelake/iceberg/spec/table-roots'
import { lengthOf } from '@timelake/storage/object-bytes'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import { NameTakenError, NoSuchNamespaceError, NoSuchTableError } from './catalog-errors.ts'
import type { Catalog } from './catalog.ts'
import { idempotencyOf, type MutationScope } from './mutation-scope.ts'
import { commitEventPayload } from './commit-event.ts'
import { findAnyRow, nameTakenBy } from './find-row.ts'
import { allowedPrefixes, checkAllowed, checkTableRoots } from './location-rules.ts'
import { checkName } from './names.ts'
import { insertTableRow } from './new-table-row.ts'
import { settleChange } from './settle-change.ts'
import { identifierKey, type TableIdentifier } from './table-identifier.ts'
import type { Warehouse } from './warehouse.ts'

export interface TableRegistration extends MutationScope {
  readonly identifier: TableIdentifier
  readonly metadataLocation: string
  readonly overwrite: boolean
}

/**
 * Points a name at an existing metadata file, which is read once and never rewritten. Only a file, and only a table,
 * inside the allowed prefixes; what the file lists elsewhere (metadata log, statistics, manifests) is neither
 * read nor ever deleted. `overwrite` re-points an existing table.
 * Throws NoSuchNamespaceError, NameTakenError, MetadataFileMissingError and InvalidInputError, CommitFailedError when
 * others change the table all the time, and what `settleChange` throws.
 * Spec: REST catalog, registerTable.
 */
export async function registerTable(
  catalog: Catalog,
  registration: TableRegistration,
): Promise<LoadedMetadata> {
  const { warehouse, identifier } = registration
  checkName(identifier.name, 'name')
  const existing = await findAnyRow(catalog, warehouse, identifier)
  const lane = existing?.id ?? identifierKey(warehouse.id, identifier)
  return catalog.lanes.run(lane, () => registerInTurn(catalog, registration))
}

async function registerInTurn(
  catalog: Catalog,
  registration: TableRegistration,
): Promise<LoadedMetadata> {
  const { commitAttemptsMax } = catalog.config
  for (let attempt = 1; attempt <= commitAttemptsMax; attempt += 1) {
    const outcome = await registerOnce(catalog, registration)
    if (outcome !== 'stale') return outcome
  }
  throw new CommitFailedError(
    `the table changed ${commitAttemptsMax} times while it was registered`,
  )
}

async function registerOnce(
  catalog: Catalog,
  registration: TableRegistration,
): Promise<LoadedMetadata | 'stale'> {
  const { warehouse, identifier, metadataLocation } = registration
  const namespace = await findNamespace(catalog.context.database, warehouse.id, identifier.levels)
  if (namespace === undefined) throw new NoSuchNamespaceError(identifier.levels)
  const existing = await findAnyRow(catalog, warehouse, identifier)
  if (existing !== undefined && (existing.kind !== 'table' || !registration.overwrite))
    throw new NameTakenError(identifier, { wanted: 'table', existing: existing.kind })
  const prefixes = allowedPrefixes(catalog, warehouse)
  checkAllowed(metadataLocation, prefixes, 'metadata location')
  // Other writers may have replaced the file since it was last read.
  catalog.metadata.delete(warehouse, metadataLocation)
  const loaded = await readRegistered(catalog, warehouse, metadataLocation)
  await checkTableRoots(catalog, warehouse, {
    metadata: loaded.metadata,
    ...(existing === undefined ? {} : { id: existing.id }),
  })
  if (existing !== undefined) return overwrite(catalog, { registration, existing, loaded })
  const outcome = await insertTableRow(catalog, {
    ...registration,
    namespace,
    name: identifier.name,
    written: { loaded, textBytes: lengthOf(loaded.fileBytes()) },
    ownsFile: false,
  })
  if (outcome === 'exists')
    throw await nameTakenBy(catalog, warehouse, { ...identifier, kind: 'table' })
  if (outcome === 'namespace-missing') throw new NoSuchNamespaceError(identifier.levels)
  return loaded
}

/** Here a file that breaks the format is the caller's: InvalidInputError instead of CorruptFileError. */
async function readRegistered(
  catalog: Catalog,
  warehouse: Warehouse,
  metadataLocation: string,
): Promise<LoadedMetadata> {
  try {
    return await catalog.metadata.get(warehouse, metadataLocation)
  } catch (cause) {
    if (!(cause instanceof CorruptFileError)) throw cause
    throw new InvalidInputError(cause.message, undefined, { cause })
  }
}

interface Overwrite {
  readonly registration: TableRegistration
  readonly existing: TableRow
  readonly loaded: LoadedMetadata
}

async function overwrite(catalog: Catalog, change: Overwrite): Promise<LoadedMetadata | 'stale'> {
  const { registration, existing, loaded } = change
  try {
    const outcome = await settleOverwrite(catalog, change)
    if (outcome === 'missing') throw new NoSuchTableError(registration.identifier)
    return outcome === 'stale' ? 'stale' : loaded
  } finally {
    catalog.pointers.forget(existing.warehouseId, existing)
  }
}

type OverwriteOutcome = 'overwritten' | 'missing' | 'stale'

function settleOverwrite(
  catalog: Catalog,
  { registration, existing, loaded }: Overwrite,
): Promise<OverwriteOutcome> {
  const { database, nowMs } = catalog.context
  const { location, metadata } = loaded
  const change = {
    tableId: existing.id,
    // A second send must not undo what others did after the first.
    expected: existing.metadataLocation,
    metadataLocation: location,
    tableUuid: metadata.tableUuid,
    location: normalizeLocation(metadata.location),
    roots: rootsAfter(existing, loaded),
    nowMs: nowMs(),
    event: {
      kind: 'table-registered' as const,
      payload: commitEventPayload({
        metadataLocation: location,
        previousMetadataLocation: existing.metadataLocation,
        metadata,
      }),
    },
    ...idempotencyOf(registration, { status: 200, metadataLocation: location }),
  }
  return settleChange<OverwriteOutcome>({
    what: 'the registration',
    send: () => overwriteTable(database, change),
    isApplied: (outcome) => outcome === 'overwritten',
    findApplied: async () => {
      const pointer = (await readPointers(database, [existing.id])).get(existing.id)
      if (pointer === undefined) return undefined
      if (pointer.metadataLocation === location) return 'overwritten'
      const now = await catalog.metadata.get(registration.warehouse, pointer.metadataLocation)
      const isPast = now.metadata.metadataLog.some(({ metadataFile }) => metadataFile === location)
      return isPast ? 'overwritten' : undefined
    },
  })
}

/** Files of the same table may still be where it was; those of another one are none of its own. */
function rootsAfter(existing: TableRow, { metadata }: LoadedMetadata): MovedRoots {
  const extra = extraRoots(metadata)
  const fresh = [normalizeLocation(metadata.location), ...extra]
  return {
    extra,
    fresh,
    left: existing.tableUuid === metadata.tableUuid ? [existing.location] : undefined,
  }
}
