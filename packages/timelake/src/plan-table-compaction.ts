import { readLiveFiles, type LiveFiles, type ReadFile } from '@timelake/iceberg/io/snapshot-files'
import type { Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { tableRoots } from '@timelake/iceberg/spec/table-roots'
import { compactionInput, mainSnapshot, unreadableReason } from './contract/compaction-input.ts'
import type { CompactionPlan } from './contract/compaction-plan.ts'
import { planCompaction } from './contract/plan-compaction.ts'

export interface PlanTableCompaction {
  readonly read: ReadFile
  readonly metadata: TableMetadata
  readonly nowMs: number
  readonly signal?: AbortSignal
}

/**
 * The compaction that a table needs now: reads the manifests of `main` and asks the planner. Changes nothing, so it is
 * also the dry run. Only files in the table's own folders are read; a snapshot that names others is skipped with
 * that reason. Errors: those of `read`, CorruptFileError, the signal's reason.
 */
export async function planTableCompaction(request: PlanTableCompaction): Promise<CompactionPlan> {
  const { metadata, nowMs } = request
  const early = planCompaction(compactionInput({ metadata, nowMs }))
  const snapshot = mainSnapshot(metadata)
  if (early.outcome === 'skipped' || snapshot === undefined) return early
  const live = await readTableFiles(request.read, { metadata, snapshot }, request.signal)
  if (live.outcome !== 'read') {
    return { ...early, outcome: 'skipped', reason: unreadableReason(live) }
  }
  return planCompaction(compactionInput({ metadata, live, nowMs }))
}

/** The live files of a snapshot, nothing outside the table's prefixes. */
export function readTableFiles(
  read: ReadFile,
  source: { readonly metadata: TableMetadata; readonly snapshot: Snapshot },
  signal: AbortSignal | undefined,
): Promise<LiveFiles> {
  const allowedPrefixes = tableRoots(source.metadata)
  const options = signal === undefined ? { allowedPrefixes } : { allowedPrefixes, signal }
  return readLiveFiles(read, source, options)
}
