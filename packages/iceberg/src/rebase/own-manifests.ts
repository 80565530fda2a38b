import type { ManifestEntry } from '../manifest/data-file.ts'
import type { ManifestFile } from '../manifest/manifest-file.ts'
import { isLocationBelow } from '../spec/location.ts'
import type { Snapshot } from '../spec/snapshot.ts'
import { type RebaseRefusal, refuseRebase, shown } from './rebase-shape.ts'

/** What is kept of a manifest that was read: its entries as stored. */
export interface ManifestContent {
  /** Of the file, which may be older than the table's. */
  readonly formatVersion: number
  readonly entries: readonly ManifestEntry[]
}

/** A snapshot as its writer stored it. */
export interface WrittenSnapshot {
  readonly snapshot: Snapshot
  /** Its manifest list. */
  readonly manifests: readonly ManifestFile[]
  /** The manifests in it that `isOwnManifest` picks, by path, partition values in the order and types of their spec. */
  readonly contents: ReadonlyMap<string, ManifestContent>
}

/** A manifest that the snapshot added, with its entries as stored. */
export interface OwnManifest {
  readonly manifest: ManifestFile
  readonly content: ManifestContent
}

export interface OwnManifests {
  readonly outcome: 'read'
  readonly own: readonly OwnManifest[]
  /** Manifests of the parent that are not in the snapshot's list any more. */
  readonly dropped: readonly ManifestFile[]
}

/** Whether the manifest was added by the snapshot and not carried over from its parent. */
export function isOwnManifest({ snapshotId }: Snapshot, manifest: ManifestFile): boolean {
  return manifest.addedSnapshotId === snapshotId
}

/**
 * What the snapshot adds to the manifests of its parent. Refuses a list that lost files or brings manifests from
 * elsewhere, and paths outside of the table's prefixes.
 */
export function findOwnManifests(
  { snapshot, manifests, contents }: WrittenSnapshot,
  parentManifests: readonly ManifestFile[],
  prefixes: readonly string[],
): OwnManifests | RebaseRefusal {
  const parentPaths = new Set(parentManifests.map(({ manifestPath }) => manifestPath))
  const own: OwnManifest[] = []
  const kept = new Set<string>()
  for (const manifest of manifests) {
    const { manifestPath } = manifest
    if (parentPaths.has(manifestPath)) {
      kept.add(manifestPath)
      continue
    }
    const content = contents.get(manifestPath)
    if (content === undefined || !isOwnManifest(snapshot, manifest)) {
      return refuseRebase(`its manifest ${shown(manifestPath)} is of neither it nor its parent`)
    }
    own.push({ manifest, content })
  }
  const problem =
    ownProblem(snapshot, own, prefixes) ??
    lostFiles(
      own,
      parentManifests.filter(({ manifestPath }) => !kept.has(manifestPath)),
    )
  if (problem !== undefined) return refuseRebase(problem)
  const dropped = parentManifests.filter(({ manifestPath }) => !kept.has(manifestPath))
  return { outcome: 'read', own, dropped }
}

function ownProblem(
  { snapshotId }: Snapshot,
  own: readonly OwnManifest[],
  prefixes: readonly string[],
): string | undefined {
  const isBelow = (path: string): boolean =>
    prefixes.some((prefix) => isLocationBelow(prefix, path))
  for (const { manifest, content } of own) {
    if (manifest.keyMetadata !== undefined)
      return `manifest ${shown(manifest.manifestPath)} is encrypted`
    if (!isBelow(manifest.manifestPath)) {
      return `manifest ${shown(manifest.manifestPath)} lies outside the table`
    }
    for (const entry of content.entries) {
      if (entry.status !== 'added') continue
      const { filePath } = entry.dataFile
      if (!isBelow(filePath)) return `file ${shown(filePath)} lies outside the table`
      if (!isOfSnapshot(entry, snapshotId)) {
        return `file ${shown(filePath)} was added by snapshot ${entry.snapshotId}`
      }
    }
  }
  return undefined
}

/** An entry without a snapshot id inherits that of its manifest. */
function isOfSnapshot(entry: ManifestEntry, snapshotId: bigint): boolean {
  return entry.snapshotId === undefined || entry.snapshotId === snapshotId
}

/** The live files of manifests that a writer merged away must be in its own ones, as existing or as deleted. */
function lostFiles(
  own: readonly OwnManifest[],
  dropped: readonly ManifestFile[],
): string | undefined {
  let expected = 0
  for (const { addedFilesCount, existingFilesCount, manifestPath } of dropped) {
    if (addedFilesCount === undefined || existingFilesCount === undefined) {
      return `it dropped manifest ${shown(manifestPath)}, whose file counts are unknown`
    }
    expected += addedFilesCount + existingFilesCount
  }
  let found = 0
  for (const { content } of own) {
    for (const { status } of content.entries) if (status !== 'added') found += 1
  }
  return found === expected
    ? undefined
    : `expected ${expected} files of its parent in its own manifests, found ${found}`
}
