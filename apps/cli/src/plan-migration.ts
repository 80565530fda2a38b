import type { CatalogEntry, ViewEntry } from '@timelake/iceberg/rest/catalog-entry-json'
import { isSameLocation } from '@timelake/iceberg/spec/location'

/** What the target catalog can do and what the user allows. */
export interface MigrationRules {
  /** Moves what is there already when the source has a later state of it. */
  readonly isOverwriting: boolean
  /** Moves it even when that drops commits which only the target has. */
  readonly isDiscarding: boolean
  /** Whether the target takes views by their metadata file, or at all. */
  readonly views: 'register' | 'create' | 'none'
}

/** One name of the source and what the target has under it. */
export interface MigrationSubject {
  readonly source: CatalogEntry
  readonly target: CatalogEntry | undefined
}

export type MigrationAction =
  | { readonly action: 'register'; readonly entry: CatalogEntry; readonly overwrite: boolean }
  | { readonly action: 'create-view'; readonly entry: ViewEntry }
  | { readonly action: 'none'; readonly outcome: MigrationVerdict; readonly reason: string }

/** `already-there`: nothing to do. `skipped`: a setting or option would allow it. `conflict`: somebody else's name. */
export type MigrationVerdict = 'already-there' | 'skipped' | 'conflict'

/**
 * What is to be done with each subject, in their order. Never touches another table's name; moves a name only forward
 * unless told otherwise. Pure.
 */
export function planMigration(
  subjects: readonly MigrationSubject[],
  rules: MigrationRules,
): MigrationAction[] {
  return subjects.map((subject) => planSubject(subject, rules))
}

function planSubject({ source, target }: MigrationSubject, rules: MigrationRules): MigrationAction {
  if (target !== undefined) return planExisting(source, target, rules)
  if (source.kind === 'table') return { action: 'register', entry: source, overwrite: false }
  switch (rules.views) {
    case 'register':
      return { action: 'register', entry: source, overwrite: false }
    case 'create':
      return { action: 'create-view', entry: source }
    case 'none':
      return none('skipped', 'the target announces no routes for views')
  }
}

function planExisting(
  source: CatalogEntry,
  target: CatalogEntry,
  rules: MigrationRules,
): MigrationAction {
  if (source.kind !== target.kind) return none('conflict', `a ${target.kind} has the name`)
  if (source.uuid !== target.uuid) {
    return isSameView(source, target)
      ? none('already-there', 'a view of the same meaning has the name')
      : none('conflict', `another ${source.kind} has the name, uuid ${target.uuid}`)
  }
  if (isSameLocation(source.metadataLocation, target.metadataLocation)) {
    return none('already-there', 'uuid and metadata file are the same')
  }
  return planMove(source, target, rules)
}

// A view that was made anew, because the target could not register it, has a UUID of its own.
function isSameView(source: CatalogEntry, target: CatalogEntry): boolean {
  return source.kind === 'view' && target.kind === 'view' && source.meaning === target.meaning
}

function planMove(
  source: CatalogEntry,
  target: CatalogEntry,
  rules: MigrationRules,
): MigrationAction {
  const isForward = isLater(source, target)
  const state = isForward
    ? `the target is behind, at ${target.metadataLocation}`
    : `the target has commits that the source lacks, at ${target.metadataLocation}`
  if (source.kind === 'view') {
    return none('skipped', `${state}; views cannot be moved: drop it there and run again`)
  }
  if (!isForward && !rules.isDiscarding) {
    return none('skipped', `${state}; --overwrite --discard-target would drop them`)
  }
  if (!rules.isOverwriting) return none('skipped', `${state}; --overwrite would move it`)
  return { action: 'register', entry: source, overwrite: true }
}

// Tables say which files came before; what neither history contains may have gone on in both places.
function isLater(source: CatalogEntry, target: CatalogEntry): boolean {
  if (source.kind === 'view') return source.lastUpdatedMs > target.lastUpdatedMs
  return source.earlierLocations.some((each) => isSameLocation(each, target.metadataLocation))
}

function none(outcome: MigrationVerdict, reason: string): MigrationAction {
  return { action: 'none', outcome, reason }
}
