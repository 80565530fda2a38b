import { createHash } from 'node:crypto'
import { findLandedCommit, type LandedCommit } from '@timelake/database/landed-commits'
import { createsTable } from '@timelake/iceberg/commit/check-requirements'
import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { isJsonArray, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { TableRow } from '@timelake/database/table-row'
import type { Catalog } from './catalog.ts'

/**
 * The hash by which a repeated commit is recognised: SHA-256 of the canonical JSON of its requirements, in any order,
 * and its updates, in theirs.
 */
export function commitRequestHash(body: JsonObject): string {
  const requirements = isJsonArray(body['requirements']) ? body['requirements'] : []
  const sorted = requirements.map((item) => printJson(canonical(item))).sort()
  const updates = printJson(canonical(body['updates'] ?? null))
  return createHash('sha256')
    .update(`${sorted.join('\n')}\n\n${updates}`)
    .digest('hex')
}

/** Members in the order of their names, so that spelling differences of one JSON value disappear. */
function canonical(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(canonical)
  if (value === null || typeof value !== 'object') return value
  const sorted: Record<string, JsonValue> = {}
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    if (member !== undefined) Object.defineProperty(sorted, name, entry(canonical(member)))
  }
  return sorted
}

function entry(value: JsonValue): PropertyDescriptor {
  return { value, enumerable: true }
}

// No snapshot has these ids. They stand for requests that add none: the newest of a table, and its creation.
const NEWEST_WITHOUT_SNAPSHOT = -1n
const CREATION_WITHOUT_SNAPSHOT = -2n

/** What a commit leaves behind so that its repetition is recognised. */
export function landedRecord(request: CommitRequest, requestHash: string): LandedCommit {
  const added = snapshotsAdded(request)
  const substitute = createsTable(request) ? CREATION_WITHOUT_SNAPSHOT : NEWEST_WITHOUT_SNAPSHOT
  return {
    requestHash,
    snapshotIds: added.length > 0 ? added : [substitute],
    forgetSnapshotIds: request.updates.flatMap((update) =>
      update.action === 'remove-snapshots' ? [...update.snapshotIds] : [],
    ),
  }
}

/**
 * Whether exactly this request landed earlier: one of its snapshots is in the table already, or it creates the table
 * that is there, and the hash of the request is on record. DESIGN: the answer to such a repetition is success.
 */
export async function hasLanded(
  catalog: Catalog,
  row: TableRow,
  commit: { request: CommitRequest; requestHash: string; base: TableMetadata; creates: boolean },
): Promise<boolean> {
  const { request, requestHash, base, creates } = commit
  if (!creates && !holdsAny(base, snapshotsAdded(request))) return false
  const landed = await findLandedCommit(catalog.context.database, { tableId: row.id, requestHash })
  return landed !== undefined
}

/** Whether the table as it is now is the result of exactly this request, so that repeating it changes nothing. */
export async function isResultOf(
  catalog: Catalog,
  row: TableRow,
  requestHash: string,
): Promise<boolean> {
  const landed = await findLandedCommit(catalog.context.database, { tableId: row.id, requestHash })
  return landed?.metadataLocation === row.metadataLocation
}

function holdsAny(metadata: TableMetadata, snapshotIds: readonly bigint[]): boolean {
  if (snapshotIds.length === 0) return false
  const wanted = new Set(snapshotIds)
  return metadata.snapshots.some(({ snapshotId }) => wanted.has(snapshotId))
}
