import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { classOfRequest, type RequestClass } from '@timelake/iceberg/rebase/class-of-request'
import { findRebaseBase } from '@timelake/iceberg/rebase/find-rebase-base'
import {
  isOwnManifest,
  type ManifestContent,
  type WrittenSnapshot,
} from '@timelake/iceberg/rebase/own-manifests'
import { asksForRebase } from '@timelake/iceberg/rebase/rebase-properties'
import {
  rebaseShapeOf,
  refuseRebase,
  type RebaseRefusal,
  type RebaseShape,
} from '@timelake/iceberg/rebase/rebase-shape'
import { winnerOf } from '@timelake/iceberg/rebase/winner-of'
import { type NewLocationKind, rebaseSnapshots } from '@timelake/iceberg/rebase/rebase-snapshots'
import type { NewFile } from '@timelake/iceberg/snapshot/new-snapshot'
import { CorruptFileError, InvalidInputError } from '@timelake/iceberg/spec/errors'
import { joinLocation } from '@timelake/iceberg/spec/location'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import {
  LocationError,
  ObjectNotFoundError,
  ObjectTooLargeError,
} from '@timelake/storage/object-store'
import { UnusableManifestsError } from '../cache/manifest-lists.ts'
import { type BoundedManifests, boundManifests, keepContents } from './bound-manifests.ts'
import type { Catalog } from './catalog.ts'
import { type GroupDraft, manifestsOf } from './group-draft.ts'
import { metadataFolder } from './metadata-location.ts'
import type { Warehouse } from './warehouse.ts'

/** The request header by which a client asks that its appends are rebased, whatever the table says. Lower case. */
export const REBASE_HEADER = 'x-timelake-rebase-appends'

/** Manifests of one snapshot that are read to attach it elsewhere. */
const OWN_MANIFESTS_MAX = 256
const MANIFEST_READS_MAX = 8

export interface RebaseAsk {
  readonly warehouse: Warehouse
  readonly draft: GroupDraft
  readonly request: CommitRequest
  /** By the header of this request. */
  readonly isAsked: boolean
}

export type RebaseAnswer =
  | {
      readonly outcome: 'rebased'
      /** To be applied to the metadata of the draft instead. */
      readonly request: CommitRequest
      /** Manifests and manifest lists, to be stored before the metadata. */
      readonly files: readonly NewFile[]
      readonly manifestLists: ReadonlyMap<string, readonly ManifestFile[]>
    }
  /** `reason` is a fragment for the message of the 409. */
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'not-asked' }

/** Whether the header asks for it. Throws InvalidInputError for any text but `true`. */
export function isRebaseAsked(header: string | undefined): boolean {
  if (header === undefined) return false
  if (header.trim().toLowerCase() === 'true') return true
  throw new InvalidInputError(`${REBASE_HEADER}: expected true or no such header`)
}

/** How the request waits for a table with these properties. */
export function classOf(
  request: CommitRequest,
  table: { readonly properties: Readonly<Record<string, string>>; readonly isAsked: boolean },
): RequestClass {
  return classOfRequest(request, table.isAsked || asksForRebase(table.properties))
}

/**
 * Attaches a request that failed for a stale state to the state of the draft, where its table or its sender asks for that
 * and nothing is lost by it. Stores nothing. What cannot be read is a refusal; throws what a store throws that fails.
 */
export async function rebaseRequest(catalog: Catalog, ask: RebaseAsk): Promise<RebaseAnswer> {
  const { metadata } = ask.draft
  if (!ask.isAsked && !asksForRebase(metadata.properties)) return { outcome: 'not-asked' }
  const shape = rebaseShapeOf(ask.request)
  const answer = shape.outcome === 'refused' ? shape : await attach(catalog, ask, shape)
  if (answer.outcome === 'rebased') return answer
  const winner = winnerOf(metadata, ask.request)
  return { outcome: 'refused', reason: `${answer.reason}; ${winner}` }
}

async function attach(
  catalog: Catalog,
  ask: RebaseAsk,
  shape: RebaseShape,
): Promise<(RebaseAnswer & { readonly outcome: 'rebased' }) | RebaseRefusal> {
  const { warehouse, draft, request } = ask
  const { metadata } = draft
  const base = findRebaseBase(metadata, { request, shape })
  if (base.outcome === 'refused') return base
  try {
    const written = await Promise.all(
      shape.snapshots.map((snapshot) => readWritten(catalog, warehouse, { metadata, snapshot })),
    )
    const headManifests = await manifestsOrNone(catalog, ask, base.head)
    const bounded = boundHead(catalog, ask, { shape, headManifests })
    const rebased = rebaseSnapshots({
      metadata,
      request,
      shape,
      base,
      written,
      parentManifests: await manifestsOrNone(catalog, ask, base.parent),
      headManifests: bounded.manifests,
      prefixes: tableRoots(metadata),
      nowMs: catalog.context.nowMs(),
      newLocation: (kind) => newLocation(catalog, metadata, kind),
    })
    if (rebased.outcome === 'refused') return rebased
    keepContents(catalog, ask, rebased.newManifests)
    const { files, newManifests, manifestLists } = rebased
    return {
      outcome: 'rebased',
      request: rebased.request,
      files: [...bounded.newManifests, ...newManifests, ...files],
      manifestLists,
    }
  } catch (error) {
    const reason = contentProblem(error)
    if (reason === undefined) throw error
    return refuseRebase(reason)
  }
}

/** A rewrite names the manifests that it replaces, so they stay what they are. */
function boundHead(
  catalog: Catalog,
  { warehouse, draft }: RebaseAsk,
  head: { readonly shape: RebaseShape; readonly headManifests: readonly ManifestFile[] },
): BoundedManifests {
  const { shape, headManifests: manifests } = head
  const [first] = shape.snapshots
  if (shape.kind === 'replace' || first === undefined) return { manifests, newManifests: [] }
  return boundManifests(catalog, { warehouse, draft, manifests, snapshotId: first.snapshotId })
}

/**
 * Reads what rebasing the request would need, so that its turn does not wait for the store. Failures show when its turn
 * comes.
 */
export async function prefetchRebase(
  catalog: Catalog,
  ask: {
    readonly warehouse: Warehouse
    readonly metadata: TableMetadata
    readonly request: CommitRequest
  },
): Promise<void> {
  const { warehouse, metadata, request } = ask
  const shape = rebaseShapeOf(request)
  if (shape.outcome === 'refused') return
  const reads: Promise<unknown>[] = shape.snapshots.map((snapshot) =>
    readWritten(catalog, warehouse, { metadata, snapshot }),
  )
  const parentId = shape.snapshots[0]?.parentSnapshotId
  const parent = metadata.snapshots.findLast(({ snapshotId }) => snapshotId === parentId)
  if (parent !== undefined) {
    reads.push(catalog.manifestLists.get(warehouse, { metadata, snapshot: parent }))
  }
  await Promise.allSettled(reads)
}

async function readWritten(
  catalog: Catalog,
  warehouse: Warehouse,
  { metadata, snapshot }: { readonly metadata: TableMetadata; readonly snapshot: Snapshot },
): Promise<WrittenSnapshot> {
  const manifests = await catalog.manifestLists.get(warehouse, { metadata, snapshot })
  const own = manifests.filter((manifest) => isOwnManifest(snapshot, manifest))
  if (own.length > OWN_MANIFESTS_MAX) {
    throw new ObjectTooLargeError(`snapshot ${snapshot.snapshotId} has ${own.length} manifests`)
  }
  const contents = new Map<string, ManifestContent>()
  await mapBounded(own, MANIFEST_READS_MAX, async (manifest) => {
    const content = await catalog.manifestContents.get(warehouse, { metadata, manifest })
    contents.set(manifest.manifestPath, content)
  })
  return { snapshot, manifests, contents }
}

async function manifestsOrNone(
  catalog: Catalog,
  { warehouse, draft }: RebaseAsk,
  snapshot: Snapshot | undefined,
): Promise<readonly ManifestFile[]> {
  return snapshot === undefined ? [] : manifestsOf(catalog, warehouse, { draft, snapshot })
}

function newLocation(catalog: Catalog, metadata: TableMetadata, kind: NewLocationKind): string {
  const uuid = catalog.context.newUuid()
  const name =
    kind.file === 'manifest' ? `${uuid}-m0.avro` : `snap-${kind.snapshotId}-1-${uuid}.avro`
  return joinLocation(metadataFolder(metadata), name)
}

/** Why content is of no use, as a fragment; undefined for a failure that says nothing about it. */
function contentProblem(error: unknown): string | undefined {
  if (error instanceof UnusableManifestsError || error instanceof CorruptFileError) {
    return error.message
  }
  if (error instanceof ObjectNotFoundError) return `${error.location} is missing`
  if (error instanceof ObjectTooLargeError) return 'it is too large'
  if (error instanceof LocationError) return 'one of its files lies elsewhere'
  return undefined
}
