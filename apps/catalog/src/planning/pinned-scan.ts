import { decodePlanRequest, type PlanRequest } from '@timelake/iceberg/rest/plan-json'
import { scanSource, type ScanAsk, type ScanSource } from '@timelake/iceberg/scan/scan-source'
import { InvalidInputError } from '@timelake/iceberg/spec/errors'
import { printJson } from '@timelake/iceberg/spec/json'
import type { JsonObject, JsonValue } from '@timelake/iceberg/spec/json-value'
import { indexSchema } from '@timelake/iceberg/spec/schema-index'
import type { Schema } from '@timelake/iceberg/spec/schema'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { object, int } from '@timelake/iceberg/spec/decode'

/** A scan of one state of a table: whatever is committed later, it means the same files. */
export interface PinnedScan {
  readonly request: PlanRequest
  readonly source: ScanSource
  /** What names in the request are of, and what residuals are written for. */
  readonly schema: Schema
  /** Columns whose metrics come with the files. */
  readonly statsFieldIds: ReadonlySet<number>
  /** JSON that `reopenScan` makes the same scan from, as long as the table keeps its snapshots. */
  readonly text: string
}

/**
 * The scan that a request asks for, of the table as it is now. Throws InvalidInputError for a malformed request, snapshots that
 * the table does not have and columns that the schema does not have.
 */
export function pinScan(metadata: TableMetadata, json: JsonObject): PinnedScan {
  const request = decodePlanRequest(json)
  const source = scanSource(metadata, request.source)
  const { schema } = source
  const idOf = columnFinder(schema, request)
  for (const [index, name] of (request.select ?? []).entries()) {
    if (!isMetadataColumn(name)) idOf(name, `select[${index}]`)
  }
  const text = printJson({
    'schema-id': BigInt(schema.schemaId),
    request: {
      ...pinnedSource(request.source, source),
      filter: json['filter'],
      'case-sensitive': json['case-sensitive'],
      'stats-fields': json['stats-fields'],
    },
  })
  return { request, source, schema, statsFieldIds: statsOf(request, idOf), text }
}

/** The scan in the JSON of `pinScan`; undefined when the table has lost what it is of. */
export function reopenScan(metadata: TableMetadata, json: JsonValue): PinnedScan | undefined {
  const raw = object(json, 'scan')
  const request = decodePlanRequest(object(raw['request'], 'request'))
  const schemaId = int(raw['schema-id'], 'schema-id')
  const schema = metadata.schemas.find((each) => each.schemaId === schemaId)
  const source = sourceOf(metadata, request.source)
  if (schema === undefined || source === undefined) return undefined
  const statsFieldIds = statsOf(request, columnFinder(schema, request))
  return { request, source, schema, statsFieldIds, text: printJson(json) }
}

/** The source was there when the scan was pinned: it is not the caller who is wrong. */
function sourceOf(metadata: TableMetadata, ask: ScanAsk): ScanSource | undefined {
  try {
    return scanSource(metadata, ask)
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined
    throw error
  }
}

/** The schema is pinned by its id, so only the snapshots are left to say. */
function pinnedSource(ask: ScanAsk, source: ScanSource): JsonObject {
  if (source.addedIn === undefined) return { 'snapshot-id': source.snapshots[0]?.snapshotId }
  return { 'start-snapshot-id': ask.startSnapshotId, 'end-snapshot-id': ask.endSnapshotId }
}

/** Columns that engines add to a scan themselves: where a row is, and what became of it. Spec: Reserved Field IDs. */
const METADATA_COLUMNS: ReadonlySet<string> = new Set([
  '_file',
  '_pos',
  '_deleted',
  '_spec_id',
  '_partition',
  '_row_id',
  '_last_updated_sequence_number',
  '_change_type',
  '_change_ordinal',
  '_commit_snapshot_id',
])

/** Also for a member of one, such as `_partition.day`. */
function isMetadataColumn(name: string): boolean {
  return METADATA_COLUMNS.has(name.split('.', 1)[0] ?? name)
}

type ColumnFinder = (name: string, path: string) => number

function columnFinder(schema: Schema, { isCaseSensitive }: PlanRequest): ColumnFinder {
  const { idsByName } = indexSchema(schema)
  const ids = isCaseSensitive
    ? idsByName
    : new Map([...idsByName].reverse().map(([name, id]) => [name.toLowerCase(), id]))
  return (name, path) => {
    const id = ids.get(isCaseSensitive ? name : name.toLowerCase())
    if (id !== undefined) return id
    throw new InvalidInputError(`expected a column of schema ${schema.schemaId}, got ${name}`, path)
  }
}

function statsOf({ statsFields = [] }: PlanRequest, idOf: ColumnFinder): ReadonlySet<number> {
  return new Set(statsFields.map((name, index) => idOf(name, `stats-fields[${index}]`)))
}
