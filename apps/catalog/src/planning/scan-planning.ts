import type { BackgroundTasks } from '../background-tasks.ts'
import { DeleteIndexes } from '../cache/delete-indexes.ts'
import { ScanManifests } from '../cache/scan-manifests.ts'
import { ServerKeys } from '../access/server-keys.ts'
import type { CatalogContext } from '../context.ts'
import { PlanRuns } from './plan-runs.ts'
import { PlanTokens } from './plan-tokens.ts'
import { PlanTurns } from './plan-turns.ts'
import type { PlanningConfig } from './planning-config.ts'
import { RecentPlans } from './recent-plans.ts'
import { makePlanningMetrics, type PlanningMetrics } from './planning-metrics.ts'

/** What a process keeps in memory for the planning of scans. */
export interface ScanPlanning {
  readonly manifests: ScanManifests
  readonly deleteIndexes: DeleteIndexes
  readonly tokens: PlanTokens
  readonly recent: RecentPlans
  readonly runs: PlanRuns
  readonly turns: PlanTurns
  readonly metrics: PlanningMetrics
}

const KEY_PURPOSE = 'scan plans'

/** Puts the parts together. */
export function makeScanPlanning(
  config: PlanningConfig,
  context: CatalogContext,
  background: BackgroundTasks,
): ScanPlanning {
  const manifests = new ScanManifests({ bytesMax: config.cacheBytesMax })
  const runs = new PlanRuns(background)
  const turns = new PlanTurns(config.plansMax)
  return {
    manifests,
    deleteIndexes: new DeleteIndexes(),
    tokens: new PlanTokens(new ServerKeys(context, KEY_PURPOSE), context.nowMs),
    recent: new RecentPlans(),
    runs,
    turns,
    metrics: makePlanningMetrics(context.registry, { manifests, runs, turns }),
  }
}
