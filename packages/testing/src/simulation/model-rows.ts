/** The rows of the model of a database, as far as a catalog in a simulated world uses them; columns as in the schema. */
export interface ModelRows {
  readonly warehouses: Map<string, WarehouseModel>
  readonly namespaces: Map<string, NamespaceModel>
  readonly tables: Map<string, TableModel>
  /** By id, as they were when they were dropped. */
  readonly dropped: Map<string, DroppedModel>
  readonly events: EventModel[]
  /** By table id and snapshot id. */
  readonly landed: Map<string, LandedModel>
  /** By warehouse id and key. */
  readonly keys: Map<string, KeyModel>
  /** By table id and batch id. */
  readonly batches: Map<string, BatchModel>
  readonly feedId: string
}

export interface WarehouseModel {
  readonly id: string
  readonly name: string
  readonly location: string
  readonly storage_profile: string
  readonly sealed_credentials: null
  readonly settings: string
  readonly version: bigint
}

export interface NamespaceModel {
  readonly id: string
  readonly warehouse_id: string
  readonly levels: string
  readonly properties: string
  readonly default_location: string
}

export interface TableModel {
  readonly id: string
  readonly kind: 'table'
  readonly warehouse_id: string
  readonly namespace_id: string
  readonly name: string
  readonly table_uuid: string
  readonly location: string
  readonly metadata_location: string
  readonly version: bigint
  readonly extra_roots: 'unknown' | 'none' | 'some'
  readonly event_number: bigint
  readonly commit_turn: string | null
  readonly commit_next: string | null
}

/** `event_number` is that of the drop. Nobody asks for purges later, and nothing is purged. */
export interface DroppedModel extends Omit<
  TableModel,
  'extra_roots' | 'commit_turn' | 'commit_next'
> {
  readonly levels: string
  readonly purge_requested: boolean
  readonly dropped_at_ms: bigint
  readonly purge_requested_at_ms: null
  readonly purge_started_at_ms: null
  readonly purged_at_ms: null
}

export interface EventModel {
  readonly seq: bigint
  readonly transaction_id: bigint
  readonly event_id: string
  readonly warehouse_id: string
  readonly table_id: string
  readonly table_uuid: string
  readonly event_number: bigint
  readonly kind: string
  readonly levels: string
  readonly name: string
  readonly payload: string
  readonly created_at_ms: bigint
}

export interface LandedModel {
  readonly table_id: string
  readonly snapshot_id: bigint
  readonly request_hash: string
  readonly metadata_location: string
  readonly landed_at_ms: bigint
}

export interface KeyModel {
  readonly warehouse_id: string
  readonly key: string
  readonly operation: string
  readonly request_hash: string
  readonly lease_until_ms: bigint
  readonly expires_at_ms: bigint
  readonly status: number | null
  readonly body: string | null
  readonly metadata_location: string | null
}

export interface BatchModel {
  readonly table_id: string
  readonly batch_id: string
  readonly request_hash: string
  readonly snapshot_id: bigint
  readonly expires_at_ms: bigint
}

/** A database without rows. */
export function noRows(feedId: string): ModelRows {
  return {
    warehouses: new Map(),
    namespaces: new Map(),
    tables: new Map(),
    dropped: new Map(),
    events: [],
    landed: new Map(),
    keys: new Map(),
    batches: new Map(),
    feedId,
  }
}
