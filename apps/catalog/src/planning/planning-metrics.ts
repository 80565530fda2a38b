import { Counter, Gauge, type Registry } from 'prom-client'

/** Counters of scan planning; names begin with `timelake_`. */
export interface PlanningMetrics {
  /** By what was answered: `inline`, `paged`, `submitted`, `failed`. */
  readonly plans: Counter<'outcome'>
  readonly plannedFiles: Counter
  readonly plannedManifests: Counter
}

interface MeasuredPlanning {
  readonly manifests: { readonly entryCount: number; readonly sizeBytes: number }
  readonly runs: { readonly count: number }
  readonly turns: { readonly count: number }
}

/** Makes the metrics in the registry; gauges read the live parts when they are scraped. */
export function makePlanningMetrics(registry: Registry, parts: MeasuredPlanning): PlanningMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers, collect: () => made.set(read()) })
  }
  const { manifests, runs, turns } = parts
  gauge('timelake_plan_cache_entries', 'Manifests in memory', () => manifests.entryCount)
  gauge('timelake_plan_cache_bytes', 'Estimated memory of them', () => manifests.sizeBytes)
  gauge('timelake_plan_runs', 'Plans that are made while callers poll', () => runs.count)
  gauge('timelake_plan_requests', 'Plans and plan tasks that are worked on', () => turns.count)
  return {
    plans: new Counter({
      name: 'timelake_plans_total',
      help: 'Planned scans, by how they were answered',
      labelNames: ['outcome'],
      registers,
    }),
    plannedFiles: new Counter({
      name: 'timelake_planned_files_total',
      help: 'Files given out in scan tasks',
      registers,
    }),
    plannedManifests: new Counter({
      name: 'timelake_planned_manifests_total',
      help: 'Data manifests whose files were looked at',
      registers,
    }),
  }
}
