import type { ManifestFile } from '@timelake/iceberg/manifest/manifest-file'
import {
  CorruptFileError,
  InvalidInputError,
  ValidationFailedError,
} from '@timelake/iceberg/spec/errors'
import { normalizeLocation } from '@timelake/iceberg/spec/location'
import { MAIN_BRANCH, type Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import {
  LocationError,
  ObjectNotFoundError,
  ObjectTooLargeError,
  StoreUnavailableError,
} from '@timelake/storage/object-store'
import { readAppendSettings } from '@timelake/timelake/contract/table-settings'
import { snapshotIdOf } from '@timelake/timelake/contract/snapshot-id'
import { UnusableManifestsError } from '../cache/manifest-lists.ts'
import type { Catalog } from './catalog.ts'
import { manifestsOf } from './group-draft.ts'
import type { AppendsAsk } from './appends-ask.ts'
import type { Warehouse } from './warehouse.ts'

/** A branch that files are to be appended to, and what is asked to go there. */
export interface AppendBranch {
  readonly name: string
  /** Absent on a table without snapshots. */
  readonly head: Snapshot | undefined
  /** Of the head. */
  readonly manifests: readonly ManifestFile[]
  /** Those of the asked files that the head has already; normalized locations. */
  readonly live: ReadonlySet<string>
  /** Of the snapshot to be made. */
  readonly snapshotId: bigint
}

/**
 * What the intents are to be appended to, or why that cannot be: ValidationFailedError for a branch that is not there or
 * is a tag, and for manifests that lie outside the table or are encrypted; InvalidInputError for a bad table property; for
 * broken or missing manifests, and a store that is not available, the error that reading them throws.
 */
export async function readAppendBranch(
  catalog: Catalog,
  { warehouse, draft, intents, batches }: AppendsAsk,
  name: string,
): Promise<AppendBranch | Error> {
  const { metadata } = draft
  try {
    readAppendSettings(metadata.properties)
    const head = headOf(metadata, name)
    const snapshotId = newSnapshotId(catalog, metadata)
    if (head === undefined) return { name, head, manifests: [], live: new Set(), snapshotId }
    const manifests = await manifestsOf(catalog, warehouse, { draft, snapshot: head })
    const locations = intents.flatMap(({ batchId, files }) =>
      batches.has(batchId) ? [] : files.map(({ filePath }) => normalizeLocation(filePath)),
    )
    const drafted = new Map(draft.files.map(({ location, bytes }) => [location, bytes]))
    const source = { warehouse, manifests, drafted }
    const live = await catalog.livePaths.findLive(source, new Set(locations))
    return { name, head, manifests, live, snapshotId }
  } catch (error) {
    return refusalOf(error)
  }
}

/**
 * Reads, before anybody waits for it, what `readAppendBranch` will need of the branch as it is now. Throws what that
 * answers instead of a branch.
 */
export async function warmAppendBranch(
  catalog: Catalog,
  { warehouse, metadata, branch }: BranchOfTable,
): Promise<void> {
  try {
    const snapshot = headOf(metadata, branch)
    if (snapshot === undefined) return
    const manifests = await catalog.manifestLists.get(warehouse, { metadata, snapshot })
    await catalog.livePaths.warm({ warehouse, manifests, drafted: new Map() })
  } catch (error) {
    throw refusalOf(error)
  }
}

interface BranchOfTable {
  readonly warehouse: Warehouse
  readonly metadata: TableMetadata
  readonly branch: string
}

/** The head of a branch; undefined for main on a table without it. Throws ValidationFailedError for anything else. */
function headOf(metadata: TableMetadata, branch: string): Snapshot | undefined {
  const ref = metadata.refs[branch]
  if (ref === undefined && branch === MAIN_BRANCH) return undefined
  if (ref === undefined) {
    throw new ValidationFailedError(
      `cannot append to branch ${branch}: the table has no such branch`,
    )
  }
  if (ref.type === 'tag') {
    throw new ValidationFailedError(`cannot append to ${branch}: expected a branch, it is a tag`)
  }
  const head = metadata.snapshots.findLast(({ snapshotId }) => snapshotId === ref.snapshotId)
  if (head !== undefined) return head
  throw new CorruptFileError(
    `cannot append to branch ${branch}: the table has no snapshot ${ref.snapshotId}`,
  )
}

function newSnapshotId({ context }: Catalog, { snapshots }: TableMetadata): bigint {
  const taken = new Set(snapshots.map(({ snapshotId }) => snapshotId))
  let snapshotId = snapshotIdOf(context.newUuid())
  while (snapshotId === 0n || taken.has(snapshotId)) snapshotId = snapshotIdOf(context.newUuid())
  return snapshotId
}

function refusalOf(error: unknown): Error {
  const isUnusable =
    error instanceof UnusableManifestsError ||
    error instanceof ObjectTooLargeError ||
    error instanceof LocationError
  if (isUnusable) {
    return new ValidationFailedError(`cannot append: ${error.message}`, undefined, { cause: error })
  }
  const isExpected =
    error instanceof InvalidInputError ||
    error instanceof CorruptFileError ||
    error instanceof ObjectNotFoundError ||
    error instanceof StoreUnavailableError
  if (!isExpected) throw error
  return error
}
