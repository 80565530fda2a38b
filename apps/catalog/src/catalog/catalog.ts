import type { SwapBatcher } from '@timelake/database/swap-batcher'
import type { TableRow } from '@timelake/database/table-row'
import type { AuditWriter } from '../access/audit-writer.ts'
import type { Access } from '../access/open-access.ts'
import type { NotedAccess } from '../access/noted-access.ts'
import type { NotedRefusals } from '../access/noted-refusals.ts'
import type { StagedTickets } from '../access/staged-tickets.ts'
import type { BackgroundTasks } from '../background-tasks.ts'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { LoadedView } from '../cache/loaded-view.ts'
import type { LivePaths } from '../cache/live-paths.ts'
import type { ManifestContents } from '../cache/manifest-contents.ts'
import type { ManifestLists } from '../cache/manifest-lists.ts'
import type { MetadataCache } from '../cache/metadata-cache.ts'
import type { TablePointers } from '../cache/pointer-cache.ts'
import type { CatalogConfig } from '../catalog-config.ts'
import type { FooterReads } from '../footer-reads.ts'
import type { CommitLanes } from '../commit-lanes.ts'
import type { CatalogContext } from '../context.ts'
import type { CatalogMetrics } from '../catalog-metrics.ts'
import type { FeedWatch } from '../feed-watch.ts'
import type { PendingCommits } from '../pending-commits.ts'
import type { ScanPlanning } from '../planning/scan-planning.ts'
import type { CommitTurns } from './commit-turns.ts'
import type { GroupMember } from './group-member.ts'
import type { Turnstile } from '../turnstile/turnstile.ts'
import type { Warehouses } from './warehouses.ts'

/** One running catalog: its settings, its world, and what it keeps in memory. Every verb takes it first. */
export interface Catalog {
  readonly config: CatalogConfig
  readonly context: CatalogContext
  /** Who may ask. */
  readonly access: Access
  /** What was changed, given and refused. */
  readonly audit: AuditWriter
  /** What creators of staged tables take along. */
  readonly staged: StagedTickets
  readonly notedAccess: NotedAccess
  readonly notedRefusals: NotedRefusals
  readonly warehouses: Warehouses
  readonly pointers: TablePointers<TableRow>
  /** Of tables. */
  readonly metadata: MetadataCache<LoadedMetadata>
  readonly views: MetadataCache<LoadedView>
  readonly manifestLists: ManifestLists
  readonly manifestContents: ManifestContents
  /** Which data files are live, by the manifests that say so. */
  readonly livePaths: LivePaths
  readonly footers: FooterReads
  readonly lanes: CommitLanes<GroupMember>
  /** When other processes let this one commit to a table. */
  readonly turns: CommitTurns
  /** Moves pointers, those of different tables together. */
  readonly swaps: SwapBatcher
  /** Whose load of a contended table is answered next. */
  readonly turnstile: Turnstile
  /** Tells followers of the events when there may be more. */
  readonly feed: FeedWatch
  readonly pending: PendingCommits
  readonly planning: ScanPlanning
  readonly background: BackgroundTasks
  readonly metrics: CatalogMetrics
}
