import type { IdempotencyOutcome } from '@timelake/database/idempotency'
import type { SwapBatcher } from '@timelake/database/swap-batcher'
import type { TableRow } from '@timelake/database/table-row'
import type { BackgroundTasks } from '../background-tasks.ts'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { LoadedView } from '../cache/loaded-view.ts'
import type { ManifestLists } from '../cache/manifest-lists.ts'
import type { MetadataCache } from '../cache/metadata-cache.ts'
import type { TablePointers } from '../cache/pointer-cache.ts'
import type { CatalogConfig } from '../catalog-config.ts'
import type { CommitLanes } from '../commit-lanes.ts'
import type { CatalogContext } from '../context.ts'
import type { CatalogMetrics } from '../catalog-metrics.ts'
import type { Warehouse } from './warehouse.ts'
import type { Warehouses } from './warehouses.ts'

/** One running catalog: its settings, its world, and what it keeps in memory. Every verb takes it first. */
export interface Catalog {
  readonly config: CatalogConfig
  readonly context: CatalogContext
  readonly warehouses: Warehouses
  readonly pointers: TablePointers<TableRow>
  /** Of tables. */
  readonly metadata: MetadataCache<LoadedMetadata>
  readonly views: MetadataCache<LoadedView>
  readonly manifestLists: ManifestLists
  readonly lanes: CommitLanes
  /** Moves pointers, those of different tables together. */
  readonly swaps: SwapBatcher
  readonly background: BackgroundTasks
  readonly metrics: CatalogMetrics
}

/** Where a mutation writes down its outcome, when the caller sent an Idempotency-Key. */
export interface IdempotencySlot {
  /**
   * The ticket that stores the outcome in the transaction of the change. Asking for it is a promise to write it.
   */
  ticket(outcome: StoredOutcome): { warehouseId: string; key: string; outcome: StoredOutcome }
}

/** The answer of a finished mutation; a `metadataLocation` stands for a LoadTableResult made again from that file. */
export type StoredOutcome = IdempotencyOutcome

/** What every mutation gets beside its own input. */
export interface MutationScope {
  readonly warehouse: Warehouse
  readonly slot: IdempotencySlot | undefined
}

/** `{ idempotency }` for a database function, or nothing when the caller sent no key. */
export function idempotencyOf(scope: MutationScope, outcome: StoredOutcome) {
  return scope.slot === undefined ? {} : { idempotency: scope.slot.ticket(outcome) }
}
