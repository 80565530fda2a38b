import { defaultCatalogConfig, type CatalogConfig } from '@timelake/catalog/catalog-config'
import type { Settings } from '@timelake/timelake/contract/settings'
import { defaultWorkerConfig, type WorkerConfig } from '@timelake/worker/worker-config'
import { WAREHOUSE_NAME, type DataDirectory } from './data-directory.ts'

/** The catalog's part of the settings. */
export function catalogConfig(settings: Settings): CatalogConfig {
  return {
    ...defaultCatalogConfig,
    host: settings.host,
    port: settings.port,
    ...(settings.token === undefined ? {} : { token: settings.token }),
    allowedHosts: settings.allowedHosts,
    allowedOrigins: settings.allowedOrigins,
    extraAllowedLocations: settings.extraAllowedLocations,
    defaultWarehouse: WAREHOUSE_NAME,
    bodyBytesMax: settings.bodyBytesMax,
    pageSizeMax: settings.pageSizeMax,
    metadataBytesMax: settings.metadataBytesMax,
    metadataCacheBytesMax: settings.metadataCacheBytesMax,
    commitQueueDepthMax: settings.commitQueueDepthMax,
    commitAttemptsMax: settings.commitAttemptsMax,
    idempotencyLifetimeMs: settings.idempotencyLifetimeMs,
    idempotencyLeaseMs: settings.idempotencyLeaseMs,
    drainTimeoutMs: settings.drainTimeoutMs,
    isOnlyWriter: true,
  }
}

/** The worker's part of the settings. */
export function workerConfig(settings: Settings, { jobsPath }: DataDirectory): WorkerConfig {
  return {
    ...defaultWorkerConfig,
    jobsDirectory: jobsPath,
    quietMs: settings.compactionQuietMs,
    commitCountMax: settings.compactionFileCount,
    concurrency: settings.jobConcurrency,
    memoryBytesMax: settings.jobMemoryBytesMax,
    deadlineMs: settings.jobDeadlineMs,
    drainTimeoutMs: settings.drainTimeoutMs,
    isOnlyWorker: true,
  }
}
