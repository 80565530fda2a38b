import { setProperties } from './property-updates.ts'
import { InvalidInputError } from '../spec/errors.ts'
import { stripTrailingSlashes } from '../spec/location.ts'
import {
  type EncryptedKey,
  FORMAT_VERSION_MAX,
  type FormatVersion,
} from '../spec/table-metadata.ts'
import { withoutReservedProperties } from './reserved-properties.ts'
import type { TableMetadataDraft } from './table-metadata-draft.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Sets the UUID of a table that is being created. Throws InvalidInputError for another UUID than an existing table's. */
export function assignUuid(draft: TableMetadataDraft, uuid: string): void {
  if (!UUID.test(uuid))
    throw new InvalidInputError(`Cannot assign uuid: expected a UUID, got ${uuid}`)
  if (draft.base !== undefined && uuid.toLowerCase() !== draft.base.tableUuid.toLowerCase()) {
    throw new InvalidInputError(
      `Cannot re-assign table UUID: expected ${draft.base.tableUuid}, got ${uuid}`,
    )
  }
  if (draft.base !== undefined || draft.tableUuid === uuid) return
  draft.tableUuid = uuid
  draft.record({ action: 'assign-uuid', uuid })
}

/** A number as a format version. Throws InvalidInputError outside 1 to 3. */
export function formatVersionOf(formatVersion: number): FormatVersion {
  if (formatVersion === 1 || formatVersion === 2 || formatVersion === 3) return formatVersion
  throw new InvalidInputError(
    `Unsupported format version: v${formatVersion} (supported: v${FORMAT_VERSION_MAX})`,
  )
}

/** Raises the format version. Throws InvalidInputError for a lower or unsupported one. Row ids start at 0 in v3. */
export function upgradeFormatVersion(draft: TableMetadataDraft, requested: number): void {
  const formatVersion = formatVersionOf(requested)
  if (formatVersion < draft.formatVersion) {
    throw new InvalidInputError(
      `Cannot downgrade v${draft.formatVersion} table to v${formatVersion}`,
    )
  }
  if (formatVersion === draft.formatVersion) return
  draft.formatVersion = formatVersion
  if (formatVersion >= 3) draft.nextRowId ??= 0n
  draft.record({ action: 'upgrade-format-version', formatVersion })
}

/** Moves the table's root, stored without a trailing slash. Whether the location is allowed is the caller's check. */
export function setLocation(draft: TableMetadataDraft, requested: string): void {
  const location = stripTrailingSlashes(requested)
  if (location === '') throw new InvalidInputError('Cannot set location: it is empty')
  if (location === draft.location) return
  draft.location = location
  draft.record({ action: 'set-location', location })
}

/** Sets properties. Reserved keys are consumed elsewhere or meaningless, and never stored. */
export function setTableProperties(
  draft: TableMetadataDraft,
  updates: Readonly<Record<string, string>>,
): void {
  setProperties(draft, withoutReservedProperties(updates))
}

/** Adds an encryption key unless one with its id is there already. */
export function addEncryptionKey(draft: TableMetadataDraft, encryptionKey: EncryptedKey): void {
  if (draft.encryptionKeys.has(encryptionKey.keyId)) return
  draft.encryptionKeys.set(encryptionKey.keyId, encryptionKey)
  draft.record({ action: 'add-encryption-key', encryptionKey })
}

/** Removes an encryption key, if it is there. */
export function removeEncryptionKey(draft: TableMetadataDraft, keyId: string): void {
  if (draft.encryptionKeys.delete(keyId)) draft.record({ action: 'remove-encryption-key', keyId })
}
