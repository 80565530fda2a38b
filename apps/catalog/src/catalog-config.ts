import type { AddressRange } from '@timelake/timelake/contract/webhooks/address-ranges'
import { defaultAccessConfig, type AccessConfig } from './access/access-config.ts'
import { defaultDelegationConfig, type DelegationConfig } from './access/delegation-config.ts'
import { defaultPlanningConfig, type PlanningConfig } from './planning/planning-config.ts'
import type { TurnRules } from './turnstile/turn-rules.ts'

/** What an operator may set. `…Ms` are milliseconds; every limit has a name. */
export interface CatalogConfig {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Bearer token of the operator, who may do everything. */
  readonly token?: string
  readonly access: AccessConfig
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** The warehouse of clients that name none. */
  readonly defaultWarehouse: string
  readonly bodyBytesMax: number
  readonly pageSizeMax: number
  /** Largest metadata file, uncompressed. */
  readonly metadataBytesMax: number
  readonly metadataCacheBytesMax: number
  /** Names kept in memory by the exact pointer cache. */
  readonly pointerCacheEntriesMax: number
  /** Whether this process is the only one that changes the database. Otherwise every load reads the row. */
  readonly isOnlyWriter: boolean
  /** How long a warehouse that another process changed may be served as it was. */
  readonly warehouseMaxAgeMs: number
  readonly idempotencyLifetimeMs: number
  readonly idempotencyLeaseMs: number
  readonly commitQueueDepthMax: number
  /** How long a commit is held at a full queue before it is refused. */
  readonly commitQueueFullWaitMs: number
  readonly commitAttemptsMax: number
  /** Whether strict writers of a contended table take turns. */
  readonly isTurnstileOn: boolean
  readonly turns: TurnRules
  /** Callers that follow the events at the same time, and how often this process looks for more while they wait. */
  readonly eventFollowersMax: number
  readonly eventPollMs: number
  /** How often a stream of events without news shows that it is alive. */
  readonly eventHeartbeatMs: number
  readonly planning: PlanningConfig
  readonly delegation: DelegationConfig
  readonly drainTimeoutMs: number
  /** How long after the wish for a purge nothing is deleted. */
  readonly purgeGraceMs: number
  /** Location prefixes beside the warehouse's own where tables may lie. */
  readonly extraAllowedLocations: readonly string[]
  /** Ranges of addresses beside public ones where webhooks may lead. */
  readonly webhookAllowedAddresses: readonly AddressRange[]
}

const MIB = 1_048_576

/** The settings of a catalog that serves one machine. */
export const defaultCatalogConfig: CatalogConfig = {
  host: '127.0.0.1',
  port: 8181,
  access: defaultAccessConfig,
  allowedHosts: [],
  allowedOrigins: [],
  defaultWarehouse: 'main',
  bodyBytesMax: 32 * MIB,
  pageSizeMax: 1_000,
  metadataBytesMax: 256 * MIB,
  metadataCacheBytesMax: 128 * MIB,
  pointerCacheEntriesMax: 100_000,
  isOnlyWriter: true,
  warehouseMaxAgeMs: 1_000,
  idempotencyLifetimeMs: 86_400_000,
  idempotencyLeaseMs: 60_000,
  commitQueueDepthMax: 1_000,
  commitQueueFullWaitMs: 500,
  commitAttemptsMax: 10,
  isTurnstileOn: true,
  turns: { contendedForMs: 3_000, holdMsMax: 3_000, waitMsMax: 45_000 },
  eventFollowersMax: 1_000,
  eventPollMs: 100,
  eventHeartbeatMs: 15_000,
  planning: defaultPlanningConfig,
  delegation: defaultDelegationConfig,
  drainTimeoutMs: 20_000,
  purgeGraceMs: 10_000,
  extraAllowedLocations: [],
  webhookAllowedAddresses: [],
}
