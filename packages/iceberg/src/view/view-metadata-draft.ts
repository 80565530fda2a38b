import { InvalidInputError } from '../spec/errors.ts'
import type { Schema } from '../spec/schema.ts'
import {
  VIEW_FORMAT_VERSION,
  type ViewHistoryEntry,
  type ViewMetadata,
  type ViewVersion,
} from './view-metadata.ts'
import type { ViewUpdate } from './view-update.ts'
import { checkDialectsKept } from './view-dialects.ts'
import { retainedLog, retainedVersions } from './view-history.ts'

/**
 * The view while a commit is applied to it. The functions of view-updates.ts change it, record every change they make
 * and omit what changes nothing.
 */
export class ViewMetadataDraft {
  /** Absent while the view is being created. */
  readonly base: ViewMetadata | undefined
  readonly nowMs: number
  readonly changes: ViewUpdate[] = []
  readonly viewUuid: string
  location: string
  schemas: readonly Schema[]
  versions: readonly ViewVersion[]
  currentVersionId: number | undefined
  readonly properties: Map<string, string>
  readonly addedVersionIds = new Set<number>()
  /** What −1 means in the updates that follow, per kind. */
  lastAddedSchemaId: number | undefined = undefined
  lastAddedVersionId: number | undefined = undefined

  constructor(
    from: ViewMetadata | { readonly viewUuid: string; readonly location: string },
    nowMs: number,
  ) {
    const base = 'versions' in from ? from : undefined
    this.base = base
    this.nowMs = nowMs
    this.viewUuid = from.viewUuid
    this.location = from.location
    this.schemas = base?.schemas ?? []
    this.versions = base?.versions ?? []
    this.currentVersionId = base?.currentVersionId
    this.properties = new Map(Object.entries(base?.properties ?? {}))
  }

  /** Notes that this update changed the draft. */
  record(update: ViewUpdate): void {
    this.changes.push(update)
  }

  /**
   * The metadata, its history trimmed. Throws InvalidInputError when the view has no current version or the commit
   * loses a dialect that the current version had before it.
   */
  finish(): ViewMetadata {
    const { base, currentVersionId } = this
    const current = this.versions.find(({ versionId }) => versionId === currentVersionId)
    if (current === undefined) throw new InvalidInputError('Invalid view: no versions were added')
    const properties = Object.fromEntries(this.properties)
    const before = base?.versions.find(({ versionId }) => versionId === base.currentVersionId)
    if (before !== undefined) checkDialectsKept(before, current, properties)
    const versions = retainedVersions(this.versions, {
      currentVersionId: current.versionId,
      addedVersionIds: this.addedVersionIds,
      properties,
    })
    return {
      viewUuid: this.viewUuid,
      formatVersion: VIEW_FORMAT_VERSION,
      location: this.location,
      properties,
      schemas: this.schemas,
      currentVersionId: current.versionId,
      versions,
      versionLog: retainedLog(this.#log(current), versions),
      ...(base?.extra === undefined ? {} : { extra: base.extra }),
    }
  }

  /** One more entry when another version is current than before. */
  #log(current: ViewVersion): readonly ViewHistoryEntry[] {
    const log = this.base?.versionLog ?? []
    const { versionId } = current
    if (versionId === this.base?.currentVersionId) return log
    const timestampMs = this.addedVersionIds.has(versionId) ? current.timestampMs : this.nowMs
    return [...log, { timestampMs, versionId }]
  }
}
