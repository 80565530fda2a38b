import { splitLevels } from './stored-name.ts'

/** Tables and views share one name space, so one row type has both. */
export type RowKind = 'table' | 'view'

/** The pointer of a live table or view to its newest metadata file. */
export interface TableRow {
  readonly id: string
  readonly kind: RowKind
  readonly warehouseId: string
  readonly namespaceId: string
  readonly levels: readonly string[]
  readonly name: string
  readonly tableUuid: string
  /** Normalized, without a trailing slash. */
  readonly location: string
  readonly metadataLocation: string
  /** How many metadata files the table has had here before this one. */
  readonly version: bigint
  /** Whether it has folders outside its location, or gave some up; see table-roots.ts. `some`: there may be. */
  readonly rootState: 'unknown' | 'none' | 'some'
  /** The catalog process whose turn it is to commit, when several want to; see commit-turns.ts. */
  readonly commitTurn?: string | undefined
}

export interface TableRecord {
  readonly id: string
  readonly kind: RowKind
  readonly warehouse_id: string
  readonly namespace_id: string
  readonly levels: string
  readonly name: string
  readonly table_uuid: string
  readonly location: string
  readonly metadata_location: string
  readonly version: bigint
  readonly extra_roots?: TableRow['rootState']
  readonly commit_turn?: string | null
}

/** The columns of a TableRecord, with `t` for the table and `n` for its namespace. */
export const TABLE_COLUMNS =
  't.id, t.kind, t.warehouse_id, t.namespace_id, n.levels, t.name, t.table_uuid, t.location, t.metadata_location, t.version, t.extra_roots, t.commit_turn'

/**
 * Joins `n` to `t`. Spelled so that a namespace is always looked up by its id: plans are made once, perhaps over a handful
 * of namespaces, when reading all of them looks just as cheap.
 */
export const JOIN_NAMESPACE =
  'cross join lateral (select levels from namespace where id = t.namespace_id limit 1) as n'

/** The row as the rest of the house sees it. */
export function tableRowOf(record: TableRecord): TableRow {
  return {
    id: record.id,
    kind: record.kind,
    warehouseId: record.warehouse_id,
    namespaceId: record.namespace_id,
    levels: splitLevels(record.levels),
    name: record.name,
    tableUuid: record.table_uuid,
    location: record.location,
    metadataLocation: record.metadata_location,
    version: record.version,
    // Rows of dropped tables do not say.
    rootState: record.extra_roots ?? 'unknown',
    commitTurn: record.commit_turn ?? undefined,
  }
}
