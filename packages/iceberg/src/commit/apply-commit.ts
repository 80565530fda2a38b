import { removeProperties } from './property-updates.ts'
import { assertNever } from '../spec/invariant.ts'
import {
  FORMAT_VERSION_DEFAULT,
  type FormatVersion,
  type TableMetadata,
} from '../spec/table-metadata.ts'
import { checkRequirements } from './check-requirements.ts'
import { addSchema, removeSchemas, setCurrentSchema } from './schema-updates.ts'
import {
  addSnapshot,
  removeSnapshotRef,
  removeSnapshots,
  setSnapshotRef,
} from './snapshot-updates.ts'
import { addSortOrder, checkDefaultSortOrder, setDefaultSortOrder } from './sort-order-updates.ts'
import { addSpec, checkDefaultSpec, removePartitionSpecs, setDefaultSpec } from './spec-updates.ts'
import {
  removePartitionStatistics,
  removeStatistics,
  setPartitionStatistics,
  setStatistics,
} from './statistics-updates.ts'
import {
  addEncryptionKey,
  assignUuid,
  formatVersionOf,
  removeEncryptionKey,
  setLocation,
  setTableProperties,
  upgradeFormatVersion,
} from './table-attribute-updates.ts'
import { type CommitContext, TableMetadataDraft } from './table-metadata-draft.ts'
import type { CommitRequest, TableUpdate } from './table-update.ts'

/**
 * The metadata after the request: requirements checked against `base`, updates applied in their order, all or
 * nothing. `base` is `undefined` for a create (`assert-create`), which starts from nothing at the format version
 * that its first `upgrade-format-version` names, and keeps the client's ids, because files refer to them.
 * Returns `base` itself when nothing changed; then there is no file to write. With `baseMetadataLocation` the file
 * of the base enters the metadata log. Throws CommitFailedError when another base could make the request valid
 * (a requirement, a stale sequence number or first row id), InvalidInputError when none could.
 * Locations are not checked here: see `locationsIn`. Spec: REST catalog, CommitTableRequest.
 */
export function applyCommit(
  base: TableMetadata | undefined,
  request: CommitRequest,
  context: CommitContext,
): TableMetadata {
  checkRequirements(base, request)
  const draft = new TableMetadataDraft(
    base,
    base?.formatVersion ?? initialFormatVersion(request),
    context.nowMs,
  )
  request.updates.forEach((update) => applyUpdate(draft, update))
  if (base !== undefined && draft.changes.length === 0) return base
  checkDefaults(draft)
  return draft.finish(context.baseMetadataLocation)
}

function initialFormatVersion({ updates }: CommitRequest): FormatVersion {
  const upgrade = updates.find(({ action }) => action === 'upgrade-format-version')
  return upgrade?.action === 'upgrade-format-version'
    ? formatVersionOf(upgrade.formatVersion)
    : FORMAT_VERSION_DEFAULT
}

function applyUpdate(draft: TableMetadataDraft, update: TableUpdate): void {
  switch (update.action) {
    case 'assign-uuid':
      return assignUuid(draft, update.uuid)
    case 'upgrade-format-version':
      return upgradeFormatVersion(draft, update.formatVersion)
    case 'add-schema':
      return addSchema(draft, update.schema)
    case 'set-current-schema':
      return setCurrentSchema(draft, update.schemaId)
    case 'add-spec':
      return addSpec(draft, update.spec.fields)
    case 'set-default-spec':
      return setDefaultSpec(draft, update.specId)
    case 'add-sort-order':
      return addSortOrder(draft, update.sortOrder.fields)
    case 'set-default-sort-order':
      return setDefaultSortOrder(draft, update.sortOrderId)
    case 'add-snapshot':
      return addSnapshot(draft, update.snapshot)
    case 'set-snapshot-ref':
      return setSnapshotRef(draft, update.refName, update.ref)
    case 'remove-snapshot-ref':
      return removeSnapshotRef(draft, update.refName)
    case 'remove-snapshots':
      return removeSnapshots(draft, update.snapshotIds)
    case 'set-location':
      return setLocation(draft, update.location)
    case 'set-properties':
      return setTableProperties(draft, update.updates)
    case 'remove-properties':
      return removeProperties(draft, update.removals)
    case 'set-statistics':
      return setStatistics(draft, update.statistics)
    case 'remove-statistics':
      return removeStatistics(draft, update.snapshotId)
    case 'set-partition-statistics':
      return setPartitionStatistics(draft, update.partitionStatistics)
    case 'remove-partition-statistics':
      return removePartitionStatistics(draft, update.snapshotId)
    case 'remove-partition-specs':
      return removePartitionSpecs(draft, update.specIds)
    case 'remove-schemas':
      return removeSchemas(draft, update.schemaIds)
    case 'add-encryption-key':
      return addEncryptionKey(draft, update.encryptionKey)
    case 'remove-encryption-key':
      return removeEncryptionKey(draft, update.keyId)
    default:
      return assertNever(update, 'table update')
  }
}

/** Only a commit that touched them must repair them: an append to a table that came in broken is not refused. */
function checkDefaults(draft: TableMetadataDraft): void {
  const { base } = draft
  const isSchemaSame = base?.currentSchemaId === draft.currentSchemaId
  if (base === undefined || !isSchemaSame || base.defaultSpecId !== draft.defaultSpecId)
    checkDefaultSpec(draft)
  if (base === undefined || !isSchemaSame || base.defaultSortOrderId !== draft.defaultSortOrderId) {
    checkDefaultSortOrder(draft)
  }
}
