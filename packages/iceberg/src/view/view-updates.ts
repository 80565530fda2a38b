import { isSameSchema } from '../commit/schema-updates.ts'
import { sameValue } from '../commit/same-value.ts'
import { LAST_ADDED } from '../commit/table-update.ts'
import { InvalidInputError, ValidationFailedError } from '../spec/errors.ts'
import { stripTrailingSlashes } from '../spec/location.ts'
import type { Schema } from '../spec/schema.ts'
import { FORMAT_VERSION_MAX } from '../spec/table-metadata.ts'
import { validateSchema } from '../spec/validate-schema.ts'
import { checkRepresentations } from './view-dialects.ts'
import type { ViewMetadataDraft } from './view-metadata-draft.ts'
import { VIEW_FORMAT_VERSION, type ViewVersion } from './view-metadata.ts'

const VERSION_ID_MAX = 2_147_483_647

/** Accepts the UUID that the view has. Throws InvalidInputError for another one. */
export function assignUuid(draft: ViewMetadataDraft, uuid: string): void {
  if (uuid.toLowerCase() === draft.viewUuid.toLowerCase()) return
  throw new InvalidInputError(`Cannot reassign uuid: expected ${draft.viewUuid}, got ${uuid}`)
}

/** Accepts the one format version that there is. Throws InvalidInputError for others. */
export function upgradeFormatVersion(formatVersion: number): void {
  if (formatVersion === VIEW_FORMAT_VERSION) return
  throw new InvalidInputError(
    `Unsupported format version: v${formatVersion} (supported: v${VIEW_FORMAT_VERSION})`,
  )
}

/**
 * Adds a schema with the client's field ids. An equal one (whatever its id) is used again; else the id is the next
 * after the highest, first 0, never the one sent.
 */
export function addSchema(draft: ViewMetadataDraft, schema: Schema): void {
  // Views have no versions of the table format: every type of the newest one is allowed.
  validateSchema(schema, FORMAT_VERSION_MAX)
  const existing = draft.schemas.find((other) => isSameSchema(other, schema))
  const added = existing ?? {
    ...schema,
    schemaId: nextId(
      draft.schemas.map((s) => s.schemaId),
      0,
    ),
  }
  draft.lastAddedSchemaId = added.schemaId
  if (existing !== undefined) return
  draft.schemas = [...draft.schemas, added]
  draft.record({ action: 'add-schema', schema: added })
}

/** Moves the view's root, stored without a trailing slash. Whether the location is allowed is the caller's check. */
export function setLocation(draft: ViewMetadataDraft, requested: string): void {
  const location = stripTrailingSlashes(requested)
  if (location === '') throw new InvalidInputError('Cannot set location: it is empty')
  if (location === draft.location) return
  draft.location = location
  draft.record({ action: 'set-location', location })
}

/**
 * Adds a version. One with the same content (its id and time aside) is used again; an id that is taken, or lower than
 * a taken one, becomes the next after the highest. Schema id −1 is the schema added last. Throws InvalidInputError for
 * an unknown schema and for representations that contradict each other.
 */
export function addViewVersion(draft: ViewMetadataDraft, version: ViewVersion): void {
  const schemaId = version.schemaId === LAST_ADDED ? draft.lastAddedSchemaId : version.schemaId
  if (schemaId === undefined)
    throw new ValidationFailedError('Cannot set last added schema: no schema has been added')
  if (!draft.schemas.some((schema) => schema.schemaId === schemaId))
    throw new InvalidInputError(`Cannot add version with unknown schema: ${schemaId}`)
  checkRepresentations(version)
  const resolved = { ...version, schemaId }
  const existing = draft.versions.find((other) => isSameVersion(other, resolved))
  const added = existing ?? { ...resolved, versionId: newVersionId(draft, version.versionId) }
  draft.lastAddedVersionId = added.versionId
  if (existing !== undefined) return
  draft.versions = [...draft.versions, added]
  draft.addedVersionIds.add(added.versionId)
  draft.record({ action: 'add-view-version', viewVersion: added })
}

/** Makes a version current; −1 is the one added last. Throws InvalidInputError for an unknown one. */
export function setCurrentViewVersion(draft: ViewMetadataDraft, requestedId: number): void {
  const id = requestedId === LAST_ADDED ? draft.lastAddedVersionId : requestedId
  if (id === undefined) {
    throw new ValidationFailedError(
      'Cannot set last version id: no current version id has been set',
    )
  }
  if (id === draft.currentVersionId) return
  if (!draft.versions.some(({ versionId }) => versionId === id))
    throw new InvalidInputError(`Cannot set current version to unknown version: ${id}`)
  draft.currentVersionId = id
  draft.record({ action: 'set-current-view-version', viewVersionId: id })
}

function isSameVersion(left: ViewVersion, right: ViewVersion): boolean {
  return sameValue(
    { ...left, versionId: 0, timestampMs: 0 },
    { ...right, versionId: 0, timestampMs: 0 },
  )
}

/** Above every id there is, and above 0: −1 has a meaning of its own. */
function newVersionId(draft: ViewMetadataDraft, sentId: number): number {
  const id = Math.max(
    sentId,
    nextId(
      draft.versions.map(({ versionId }) => versionId),
      1,
    ),
  )
  if (id <= VERSION_ID_MAX) return id
  throw new InvalidInputError('Cannot add version: no version id is left')
}

function nextId(ids: readonly number[], first: number): number {
  return ids.reduce((highest, id) => Math.max(highest, id), first - 1) + 1
}
