import type { Database } from '@timelake/database/sql-session'
import type { SecretBox } from '@timelake/storage/secret-box'
import type { WarehouseStores } from '@timelake/storage/warehouse-stores'
import type { ReachFaultPoint } from '@timelake/timelake/contract/fault-points'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'

/** Everything that the catalog reaches in the outside world; made once by the program that starts it. */
export interface CatalogContext {
  readonly database: Database
  readonly stores: WarehouseStores
  /** Seals the credentials of warehouses. */
  readonly secretBox: SecretBox
  nowMs(): number
  /** Resolves after `ms`, or at once when the signal aborts. Keeps no process alive. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /** A fresh UUID, lower case. */
  newUuid(): string
  readonly log: Logger
  /** Gets the catalog's metrics. */
  readonly registry: Registry
  readonly reachFaultPoint: ReachFaultPoint
}
