import { removeProperties, setProperties } from '../commit/property-updates.ts'
import { CommitFailedError } from '../spec/errors.ts'
import { assertNever } from '../spec/invariant.ts'
import type { ViewMetadata } from './view-metadata.ts'
import { ViewMetadataDraft } from './view-metadata-draft.ts'
import type { ViewCommitRequest, ViewRequirement, ViewUpdate } from './view-update.ts'
import {
  addSchema,
  addViewVersion,
  assignUuid,
  setCurrentViewVersion,
  setLocation,
  upgradeFormatVersion,
} from './view-updates.ts'

/**
 * The metadata after the request: requirements checked against `base`, updates applied in their order, all or
 * nothing. Returns `base` itself when nothing changed; then there is no file to write. Throws CommitFailedError when a
 * requirement fails, InvalidInputError when no base could make the request valid. Locations are not checked here.
 * Spec: REST catalog, CommitViewRequest.
 */
export function applyViewCommit(
  base: ViewMetadata,
  request: ViewCommitRequest,
  context: { readonly nowMs: number },
): ViewMetadata {
  request.requirements.forEach((requirement) => checkRequirement(base, requirement))
  const draft = new ViewMetadataDraft(base, context.nowMs)
  request.updates.forEach((update) => applyUpdate(draft, update))
  return draft.changes.length === 0 ? base : draft.finish()
}

function checkRequirement(base: ViewMetadata, requirement: ViewRequirement): void {
  if (requirement.uuid.toLowerCase() === base.viewUuid.toLowerCase()) return
  throw new CommitFailedError(
    `Requirement failed: view UUID does not match: expected ${base.viewUuid} != ${requirement.uuid}`,
  )
}

function applyUpdate(draft: ViewMetadataDraft, update: ViewUpdate): void {
  switch (update.action) {
    case 'assign-uuid':
      return assignUuid(draft, update.uuid)
    case 'upgrade-format-version':
      return upgradeFormatVersion(update.formatVersion)
    case 'add-schema':
      return addSchema(draft, update.schema)
    case 'set-location':
      return setLocation(draft, update.location)
    case 'set-properties':
      return setProperties(draft, update.updates)
    case 'remove-properties':
      return removeProperties(draft, update.removals)
    case 'add-view-version':
      return addViewVersion(draft, update.viewVersion)
    case 'set-current-view-version':
      return setCurrentViewVersion(draft, update.viewVersionId)
    default:
      return assertNever(update, 'view update')
  }
}
