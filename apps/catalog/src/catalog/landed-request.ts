import { createHash } from 'node:crypto'
import { findLandedCommit, type LandedCommit } from '@timelake/database/landed-commits'
import { snapshotsAdded } from '@timelake/iceberg/commit/snapshots-added'
import { isJsonArray, printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { TableRow } from '@timelake/database/table-row'
import type { Catalog } from './catalog.ts'
import type { ExistingTarget } from './commit-target.ts'
import { createsItsTable, type TableCommit } from './table-commit.ts'

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

/**
 * The same for a request that changes several tables, from the names of its tables and the hashes of their parts, in any
 * order of the tables.
 */
export function transactionRequestHash(
  parts: readonly { readonly table: string; readonly requestHash: string }[],
): string {
  const lines = parts.map(({ table, requestHash }) => `${requestHash} ${table}`)
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex')
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

// No snapshot has these ids. They stand for requests that add none: the newest of a table, those that landed together with
// it, and its creation.
const NEWEST_WITHOUT_SNAPSHOT = -1n
const CREATION_WITHOUT_SNAPSHOT = -2n
const GROUP_WITHOUT_SNAPSHOT = -1_000n

/** What a commit leaves behind so that its repetition is recognised; `place` is its place among those that land together. */
export function landedRecord(
  { requests }: TableCommit,
  requestHash: string,
  place = 0,
): LandedCommit {
  const added = requests.flatMap(snapshotsAdded)
  const newest = place === 0 ? NEWEST_WITHOUT_SNAPSHOT : GROUP_WITHOUT_SNAPSHOT - BigInt(place)
  const substitute = createsItsTable(requests) ? CREATION_WITHOUT_SNAPSHOT : newest
  return {
    requestHash,
    snapshotIds: added.length > 0 ? added : [substitute],
    forgetSnapshotIds: requests.flatMap(({ updates }) =>
      updates.flatMap((update) =>
        update.action === 'remove-snapshots' ? [...update.snapshotIds] : [],
      ),
    ),
  }
}

/**
 * Whether exactly this request landed earlier: one of its snapshots is in the table already, or it creates the table
 * that is there, and the hash of the request is on record. DESIGN: the answer to such a repetition is success.
 */
export async function hasLanded(
  catalog: Catalog,
  { commit: { requests }, row, base }: ExistingTarget,
  requestHash: string,
): Promise<boolean> {
  const isKnown =
    createsItsTable(requests) || holdsAny(base.metadata, requests.flatMap(snapshotsAdded))
  return isKnown && (await findLanded(catalog, row, requestHash)) !== undefined
}

/** Whether the table as it is now is the result of exactly this request, so that repeating it changes nothing. */
export async function isResultOf(
  catalog: Catalog,
  row: TableRow,
  requestHash: string,
): Promise<boolean> {
  const landed = await findLanded(catalog, row, requestHash)
  return landed?.metadataLocation === row.metadataLocation
}

function findLanded({ context }: Catalog, { id: tableId }: TableRow, requestHash: string) {
  return findLandedCommit(context.database, { tableId, requestHash })
}

function holdsAny(metadata: TableMetadata, snapshotIds: readonly bigint[]): boolean {
  if (snapshotIds.length === 0) return false
  const wanted = new Set(snapshotIds)
  return metadata.snapshots.some(({ snapshotId }) => wanted.has(snapshotId))
}
