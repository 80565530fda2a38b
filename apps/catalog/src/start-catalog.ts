import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { feedHead, openFeed } from '@timelake/database/feed'
import { TableFinder } from '@timelake/database/table-finder'
import { SwapBatcher } from '@timelake/database/swap-batcher'
import { AuditWriter } from './access/audit-writer.ts'
import { makeAuthenticate } from './access/authenticate.ts'
import { openAccess, openAuthentication } from './access/open-access.ts'
import { NotedAccess } from './access/noted-access.ts'
import { NotedRefusals } from './access/noted-refusals.ts'
import { ServerKeys } from './access/server-keys.ts'
import { StagedTickets } from './access/staged-tickets.ts'
import { BackgroundTasks } from './background-tasks.ts'
import { decodeLoadedMetadata } from './cache/loaded-metadata.ts'
import { decodeLoadedView } from './cache/loaded-view.ts'
import { LivePaths } from './cache/live-paths.ts'
import { ManifestContents } from './cache/manifest-contents.ts'
import { ManifestLists } from './cache/manifest-lists.ts'
import { MetadataCache } from './cache/metadata-cache.ts'
import { exactPointers, readThroughPointers, type FindRow } from './cache/pointer-cache.ts'
import type { CatalogConfig } from './catalog-config.ts'
import { makeCatalogMetrics } from './catalog-metrics.ts'
import type { Catalog } from './catalog/catalog.ts'
import { CommitTurns } from './catalog/commit-turns.ts'
import type { GroupMember } from './catalog/group-member.ts'
import { landGroup } from './catalog/land-group.ts'
import { CommitLanes } from './commit-lanes.ts'
import type { CatalogContext } from './context.ts'
import { FeedWatch } from './feed-watch.ts'
import { FooterReads } from './footer-reads.ts'
import { forgetOldKeys } from './forget-old-keys.ts'
import { makeDispatch } from './http/dispatch.ts'
import { makeFetch } from './http/fetch-adapter.ts'
import { makeGuard } from './http/guard.ts'
import { makeNodeListener, type NodeListener } from './http/node-listener.ts'
import { makeObserve } from './http/observe.ts'
import type { TableRow } from '@timelake/database/table-row'
import { reportStore } from './catalog/report-store.ts'
import { PendingCommits } from './pending-commits.ts'
import { recordUnknownRoots } from './record-unknown-roots.ts'
import { makeScanPlanning } from './planning/scan-planning.ts'
import { Turnstile } from './turnstile/turnstile.ts'
import { makeTurnstileMetrics } from './turnstile/turnstile-metrics.ts'
import { Warehouses } from './catalog/warehouses.ts'
import { ROUTES } from './routes.ts'

/** Views are small beside tables: this part of the memory for metadata is theirs. */
const VIEW_CACHE_SHARE = 1 / 16
/** Decoded manifest lists of tables whose appends are attached here. */
const MANIFEST_LIST_CACHE_SHARE = 1 / 4
/** Decoded manifests that such appends brought, which are merged later. */
const MANIFEST_CACHE_SHARE = 1 / 4
/** Hashes of live files, for appends that name files. */
const LIVE_PATH_CACHE_SHARE = 1 / 4

export interface CatalogOptions {
  readonly config: CatalogConfig
  readonly context: CatalogContext
}

export interface RunningCatalog {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string
  /** Answers like the server does, without a network; its callers are trusted. */
  fetch(request: Request): Promise<Response>
  /** Finishes what has begun, within the configured time, and stops. Closes neither database nor store. */
  stop(): Promise<void>
}

/** Serves the catalog until `stop`. Rejects when the address cannot be listened on, or the database does not answer. */
export async function startCatalog(options: CatalogOptions): Promise<RunningCatalog> {
  const { config, context } = options
  await openFeed(context.database, { id: context.newUuid() })
  const catalog = makeCatalog(options)
  const dispatch = makeDispatch(catalog, ROUTES)
  const observe = makeObserve(context.log, catalog.metrics, () => performance.now())
  const authentication = await openAuthentication(config, catalog.access)
  const guard = makeGuard(config, makeAuthenticate(authentication))
  const listener = makeNodeListener(dispatch, { guard, observe })
  const url = await listen(listener, config)
  const stopForgetting = forgetOldKeys(catalog)
  let isStopped = false
  catalog.background.start('record folders of tables', () =>
    recordUnknownRoots(catalog, () => isStopped),
  )
  return {
    url,
    fetch: makeFetch(dispatch, observe),
    stop() {
      stopForgetting()
      isStopped = true
      return stop(catalog, listener)
    },
  }
}

/** Puts the parts of a catalog together; nothing runs yet and no address is listened on. */
export function makeCatalog({ config, context }: CatalogOptions): Catalog {
  const { metadataBytesMax } = config
  const background = new BackgroundTasks(context.log)
  const metadata = new MetadataCache({
    bytesMax: config.metadataCacheBytesMax,
    metadataBytesMax,
    decode: decodeLoadedMetadata,
  })
  const views = new MetadataCache({
    bytesMax: Math.floor(config.metadataCacheBytesMax * VIEW_CACHE_SHARE),
    metadataBytesMax,
    decode: decodeLoadedView,
  })
  const { delay, nowMs } = context
  const lanes = new CommitLanes<GroupMember>({
    depthMax: config.commitQueueDepthMax,
    land: (members) => landGroup(catalog, members),
    untilReady: (tableId) => catalog.turns.beforeGroup(tableId),
    delay,
    nowMs,
  })
  const turnstile = new Turnstile({
    isOn: config.isTurnstileOn,
    rules: config.turns,
    nowMs,
    delay,
    appends: lanes,
    metrics: (lines) => makeTurnstileMetrics(context.registry, lines),
  })
  const feed = makeFeed(config, context)
  const metrics = makeCatalogMetrics(context.registry, { metadata, lanes, feed })
  const processId = context.newUuid()
  const catalog: Catalog = {
    config,
    context,
    ...makeAccessParts(config, context, { background, metrics }),
    warehouses: new Warehouses(context, {
      maxAgeMs: config.warehouseMaxAgeMs,
      onMet: (warehouse) => reportStore({ background, log: context.log }, warehouse),
    }),
    metadata,
    views,
    ...makeManifestCaches(config),
    footers: new FooterReads(),
    lanes,
    turnstile,
    turns: makeTurns(context, { processId, lanes, background }),
    swaps: new SwapBatcher(context.database),
    pointers: makePointers(config, context),
    feed,
    pending: new PendingCommits(),
    planning: makeScanPlanning(config.planning, context, background),
    background,
    metrics,
  }
  return catalog
}

function makeAccessParts(
  config: CatalogConfig,
  context: CatalogContext,
  { background, metrics }: Pick<Catalog, 'background' | 'metrics'>,
): Pick<Catalog, 'access' | 'audit' | 'staged' | 'notedAccess' | 'notedRefusals'> {
  const { nowMs } = context
  const audit = new AuditWriter({ context, background, lost: metrics.auditEntriesLost })
  return {
    access: openAccess(config, context),
    audit,
    staged: new StagedTickets(new ServerKeys(context, 'staged-tables'), {
      nowMs,
      lifetimeMs: config.delegation.stagedLifetimeMs,
    }),
    notedAccess: new NotedAccess(nowMs),
    notedRefusals: new NotedRefusals({ audit, counter: metrics.tokensRefused, nowMs }),
  }
}

function makeManifestCaches({
  metadataCacheBytesMax,
}: CatalogConfig): Pick<Catalog, 'manifestLists' | 'manifestContents' | 'livePaths'> {
  const share = (part: number) => ({ bytesMax: Math.floor(metadataCacheBytesMax * part) })
  return {
    manifestLists: new ManifestLists(share(MANIFEST_LIST_CACHE_SHARE)),
    manifestContents: new ManifestContents(share(MANIFEST_CACHE_SHARE)),
    livePaths: new LivePaths(share(LIVE_PATH_CACHE_SHARE)),
  }
}

function makeTurns(
  { database, nowMs, delay }: CatalogContext,
  parts: Pick<Catalog, 'lanes' | 'background'> & { readonly processId: string },
): CommitTurns {
  const { processId, lanes, background } = parts
  const isBusy = (tableId: string) => !lanes.isFree(tableId)
  return new CommitTurns({ database, processId, nowMs, delay, isBusy, background })
}

function makeFeed(config: CatalogConfig, { database, delay }: CatalogContext): FeedWatch {
  return new FeedWatch({
    readHead: () => feedHead(database),
    delay,
    pollMs: config.eventPollMs,
    followersMax: config.eventFollowersMax,
  })
}

function makePointers(config: CatalogConfig, context: CatalogContext) {
  const finder = new TableFinder(context.database)
  const findRow: FindRow<TableRow> = (warehouseId, { levels, name }) =>
    finder.find({ warehouseId, levels, name })
  return config.isOnlyWriter
    ? exactPointers(findRow, { entriesMax: config.pointerCacheEntriesMax })
    : readThroughPointers(findRow)
}

async function listen({ server }: NodeListener, config: CatalogConfig): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo // `as`: a TCP server has no other kind of address
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return `http://${host}:${port}`
}

async function stop(catalog: Catalog, listener: NodeListener): Promise<void> {
  const { drainTimeoutMs } = catalog.config
  catalog.turnstile.stop()
  catalog.turns.stop()
  catalog.feed.stop()
  catalog.planning.runs.stop()
  await listener.close(drainTimeoutMs)
  catalog.audit.stop()
  const drained = Promise.all([catalog.lanes.drain(), catalog.background.drain()])
  // A store or database that hangs must not keep the process.
  await Promise.race([drained, setTimeout(drainTimeoutMs, undefined, { ref: false })])
}
