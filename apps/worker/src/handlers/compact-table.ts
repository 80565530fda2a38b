import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { recordJobOutputs } from '@timelake/database/job-runs'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { CompactionContext } from '@timelake/timelake/compaction-context'
import {
  compactTable,
  type CompactionTotals,
  type CompactTableOutcome,
} from '@timelake/timelake/compact-table'
import { snapshotIdOf } from '@timelake/timelake/contract/snapshot-id'
import type { MergeProcess } from '@timelake/timelake/data/merge-process'
import type { WorkerContext } from '../context.ts'
import { normalizedStore } from '../normalized-store.ts'
import type { JobHandler, JobOutcome, JobRunContext } from '../run-job.ts'
import { identifierOf, type CatalogOfTable } from '../table-catalogs.ts'
import { objectsOf } from '../warehouse-objects.ts'
import type { WorkerMetrics } from '../worker-metrics.ts'

export interface CompactTableOptions {
  readonly context: WorkerContext
  readonly catalogOf: CatalogOfTable
  /** Lends the engine of one run. */
  readonly borrowEngine: () => { readonly engine: MergeProcess; giveBack(): void }
  readonly jobsDirectory: string
  readonly diskBytesMax: number
  readonly metrics: Pick<WorkerMetrics, 'files' | 'bytes'>
  /** Between attempts at a commit. Default: real time. */
  readonly waitMs?: CompactionContext['waitMs']
}

/** The run is no longer ours; whatever it was about to write must not be written. */
export class RunLostError extends Error {
  override readonly name = 'RunLostError'
}

/** The handler of `compact-table`: small files of one table become fewer. */
export function compactTableHandler(options: CompactTableOptions): JobHandler {
  return async (run) => {
    const directory = join(options.jobsDirectory, run.runId)
    const { engine, giveBack } = options.borrowEngine()
    await mkdir(directory, { recursive: true })
    try {
      const context = await compactionContext(options, run, { directory, engine })
      const request = { table: identifierOf(run.table), runId: run.runId }
      const outcome = await compactTable(context, request)
      countTotals(options.metrics, outcome.totals)
      return jobOutcome(outcome, context.nowMs())
    } finally {
      giveBack()
      await rm(directory, { recursive: true, force: true })
    }
  }
}

async function compactionContext(
  { context, catalogOf, diskBytesMax, waitMs = waitRealTime }: CompactTableOptions,
  { runId, table, signal }: JobRunContext,
  { directory, engine }: { readonly directory: string; readonly engine: MergeProcess },
): Promise<CompactionContext> {
  const { database, nowMs, newUuid, reachFaultPoint } = context
  return {
    catalog: await catalogOf(table),
    store: normalizedStore(await objectsOf(context, table.warehouseId)),
    engine,
    directory,
    diskBytesMax,
    async recordOutputs(locations) {
      const recorded = await recordJobOutputs(database, { runId, locations })
      if (recorded === 'lost') throw new RunLostError(`run ${runId} was taken over`)
    },
    nowMs,
    newUuid,
    newSnapshotId: () => snapshotIdOf(newUuid()),
    waitMs,
    reachFaultPoint,
    signal,
  }
}

async function waitRealTime(delayMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(delayMs, undefined, { signal })
}

function countTotals(metrics: CompactTableOptions['metrics'], totals: CompactionTotals): void {
  metrics.files.inc({ direction: 'in' }, totals.removedFileCount)
  metrics.files.inc({ direction: 'out' }, totals.addedFileCount)
  metrics.bytes.inc({ direction: 'in' }, Number(totals.removedSizeBytes))
  metrics.bytes.inc({ direction: 'out' }, Number(totals.addedSizeBytes))
}

/** A conflict counts as a failure: the commits that wait are kept, and the table is looked at again soon. */
function jobOutcome(ended: CompactTableOutcome, nowMs: number): JobOutcome {
  const { outcome, reason, planned, totals, remainingGroupCount, nextTriggerMs } = ended
  const next = outcome === 'succeeded' && remainingGroupCount > 0 ? nowMs : nextTriggerMs
  return {
    state: outcome === 'conflict' ? 'failed' : outcome,
    reason,
    outcome: describeTotals(totals, remainingGroupCount),
    decision: planned,
    ...(next === undefined ? {} : { nextDueAtMs: next }),
  }
}

function describeTotals(totals: CompactionTotals, remainingGroupCount: number): JsonObject {
  return {
    'snapshot-ids': totals.snapshotIds,
    'removed-file-count': BigInt(totals.removedFileCount),
    'added-file-count': BigInt(totals.addedFileCount),
    'removed-size-bytes': totals.removedSizeBytes,
    'added-size-bytes': totals.addedSizeBytes,
    'row-count': totals.rowCount,
    'remaining-group-count': BigInt(remainingGroupCount),
  }
}
