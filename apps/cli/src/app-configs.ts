import { defaultCatalogConfig, type CatalogConfig } from '@timelake/catalog/catalog-config'
import type { AccessConfig } from '@timelake/catalog/access/access-config'
import { SettingsError, type Settings } from '@timelake/timelake/contract/settings'
import { defaultWorkerConfig, type WorkerConfig } from '@timelake/worker/worker-config'
import { defaultWebhookConfig, type WebhookConfig } from '@timelake/worker/webhooks/webhook-config'
import { WAREHOUSE_NAME, type DataDirectory } from './data-directory.ts'

/** Memory that a commit to a table takes for each byte of its metadata file, at its peak. */
const HEAP_BYTES_PER_METADATA_BYTE = 6

/**
 * The largest metadata file that this process can take: what the settings allow, but never so much that one table
 * exhausts the heap and with it every other table. A larger one is refused, table by table.
 */
export function affordableMetadataBytes(
  { metadataBytesMax }: Pick<Settings, 'metadataBytesMax'>,
  heapBytesMax: number,
): number {
  return Math.min(metadataBytesMax, Math.floor(heapBytesMax / HEAP_BYTES_PER_METADATA_BYTE))
}

export interface CatalogProcess {
  /** How large the heap of this process may grow. */
  readonly heapBytesMax: number
  /** Whether no other process changes the database. */
  readonly isOnlyWriter: boolean
}

/** The catalog's part of the settings. */
export function catalogConfig(
  settings: Settings,
  { heapBytesMax, isOnlyWriter }: CatalogProcess,
): CatalogConfig {
  return {
    ...defaultCatalogConfig,
    host: settings.host,
    port: settings.port,
    ...(settings.token === undefined ? {} : { token: settings.token }),
    access: accessConfig(settings),
    allowedHosts: settings.allowedHosts,
    allowedOrigins: settings.allowedOrigins,
    extraAllowedLocations: settings.extraAllowedLocations,
    defaultWarehouse: WAREHOUSE_NAME,
    bodyBytesMax: settings.bodyBytesMax,
    pageSizeMax: settings.pageSizeMax,
    metadataBytesMax: affordableMetadataBytes(settings, heapBytesMax),
    metadataCacheBytesMax: settings.metadataCacheBytesMax,
    planning: {
      pageFilesMax: settings.planPageFiles,
      asyncFilesMax: settings.planAsyncFiles,
      lifetimeMs: settings.planLifetimeMs,
      cacheBytesMax: settings.planCacheBytesMax,
      plansMax: settings.plansMax,
    },
    delegation: {
      credentialsLifetimeMs: settings.vendedCredentialsLifetimeMs,
      stagedLifetimeMs: settings.stagedTableLifetimeMs,
    },
    commitQueueDepthMax: settings.commitQueueDepthMax,
    commitQueueFullWaitMs: settings.commitQueueFullWaitMs,
    commitAttemptsMax: settings.commitAttemptsMax,
    isTurnstileOn: settings.isTurnstileOn,
    turns: {
      contendedForMs: settings.turnContendedForMs,
      holdMsMax: settings.turnHoldMsMax,
      waitMsMax: settings.turnWaitMsMax,
    },
    idempotencyLifetimeMs: settings.idempotencyLifetimeMs,
    idempotencyLeaseMs: settings.idempotencyLeaseMs,
    drainTimeoutMs: settings.drainTimeoutMs,
    purgeGraceMs: settings.purgeGraceMs,
    webhookAllowedAddresses: settings.webhookAllowedAddresses,
    isOnlyWriter,
  }
}

function accessConfig(settings: Settings): AccessConfig {
  const { oidcIssuers: issuers, oidcAudiences: audiences } = settings
  if (issuers.length > 0 && audiences.length === 0) {
    const variable = 'TIMELAKE_OIDC_AUDIENCES'
    const sentence = `${variable} is missing: expected the audience of tokens that are meant for this server`
    throw new SettingsError(variable, sentence)
  }
  return {
    authentication: settings.authentication,
    tokenLifetimeMs: settings.accessTokenLifetimeMs,
    maxAgeMs: settings.accessMaxAgeMs,
    auditRetentionMs: settings.auditRetentionMs,
    identityProviders:
      issuers.length === 0
        ? undefined
        : {
            issuers,
            audiences,
            algorithms: settings.oidcAlgorithms,
            subjectClaim: settings.oidcSubjectClaim,
            nameClaim: settings.oidcNameClaim,
            groupsClaim: settings.oidcGroupsClaim,
            clockSkewMs: settings.oidcClockSkewMs,
          },
  }
}

/** The worker's part of the settings. */
export function workerConfig(
  settings: Settings,
  process: { readonly directory: DataDirectory; readonly isOnlyWorker: boolean },
): WorkerConfig {
  return {
    ...defaultWorkerConfig,
    jobsDirectory: process.directory.jobsPath,
    quietMs: settings.compactionQuietMs,
    commitCountMax: settings.compactionFileCount,
    purgeGraceMs: settings.purgeGraceMs,
    eventRetentionMs: settings.eventRetentionMs,
    extraAllowedLocations: settings.extraAllowedLocations,
    concurrency: settings.jobConcurrency,
    memoryBytesMax: settings.jobMemoryBytesMax,
    diskBytesMax: settings.jobDiskBytesMax,
    deadlineMs: settings.jobDeadlineMs,
    drainTimeoutMs: settings.drainTimeoutMs,
    isOnlyWorker: process.isOnlyWorker,
  }
}

/** The part of the settings for sending webhooks. */
export function webhookConfig(
  settings: Settings,
  { isOnlySender }: { readonly isOnlySender: boolean },
): WebhookConfig {
  return {
    ...defaultWebhookConfig,
    timeoutMs: settings.webhookTimeoutMs,
    allowedAddresses: settings.webhookAllowedAddresses,
    isOnlySender,
  }
}
