import type { Database } from '@timelake/database/sql-session'
import type { SendRequest } from '@timelake/iceberg/io/rest-catalog'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'

/** Everything that the worker reaches in the outside world; made once by the program that starts it. */
export interface WorkerContext {
  readonly database: Database
  readonly stores: WarehouseStores
  /** The catalog: a function in the same process, or `fetch`. */
  readonly catalogFetch: SendRequest
  /** Where `catalogFetch` finds the catalog. Default: a name that a catalog in the same process ignores. */
  readonly catalogUri?: string
  readonly catalogToken?: string
  nowMs(): number
  newUuid(): string
  readonly log: Logger
  /** Gets the worker's metrics. */
  readonly registry: Registry
  readonly reachFaultPoint: ReachFaultPoint
}
