import { CommitStateUnknownError } from '@timelake/iceberg/io/rest-catalog-errors'
import type { TableIdentifier } from '@timelake/iceberg/rest/table-identifier'
import type { JsonObject } from '@timelake/iceberg/spec/json-value'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { commitRewrite } from './commit-rewrite.ts'
import type { CompactionContext } from './compaction-context.ts'
import { describePlan } from './contract/describe-plan.ts'
import type { CompactionPlan } from './contract/compaction-plan.ts'
import { mergeGroup, placeGroups, type MergedGroup, type PlacedGroup } from './merge-group.ts'
import { planTableCompaction } from './plan-table-compaction.ts'
import { removeOutputs } from './put-output.ts'

/** Groups that one commit replaces: few enough that a lost race costs little, many enough to spare snapshots. */
export const COMMIT_GROUPS_MAX = 16

/** What was achieved, in numbers. */
export interface CompactionTotals {
  readonly snapshotIds: readonly bigint[]
  readonly removedFileCount: number
  readonly addedFileCount: number
  readonly removedSizeBytes: bigint
  readonly addedSizeBytes: bigint
  readonly rowCount: bigint
}

/**
 * `conflict`: somebody changed the inputs meanwhile, plan again soon. `planned` is the decision with its inputs, as JSON.
 * Whatever the outcome, every snapshot in `totals` has been committed.
 */
export interface CompactTableOutcome {
  readonly outcome: 'succeeded' | 'nothing-to-do' | 'skipped' | 'conflict'
  readonly reason: string
  readonly planned: JsonObject
  readonly totals: CompactionTotals
  /** Groups of the plan that were left for the next run. */
  readonly remainingGroupCount: number
  readonly nextTriggerMs?: number
}

export interface CompactTableRequest {
  readonly table: TableIdentifier
  /** Names this run in the summaries of its snapshots. */
  readonly runId: string
}

type Compact = Extract<CompactionPlan, { outcome: 'compact' }>

const NO_TOTALS: CompactionTotals = {
  snapshotIds: [],
  removedFileCount: 0,
  addedFileCount: 0,
  removedSizeBytes: 0n,
  addedSizeBytes: 0n,
  rowCount: 0n,
}

/**
 * One run of compaction: plan on the current snapshot, merge group by group, commit batch by batch. Progress is kept:
 * a later failure leaves earlier batches committed. Inputs are left in place for older snapshots. Outputs of a batch that
 * was certainly not committed are removed; those of a doubtful one are not. Errors: MergeMismatchError (the table was
 * left alone), MergeEngineError, CommitStateUnknownError, those of the catalog and the store, the signal's reason.
 */
export async function compactTable(
  context: CompactionContext,
  request: CompactTableRequest,
): Promise<CompactTableOutcome> {
  const { metadata } = await context.catalog.loadTable(request.table, context.signal)
  const { signal } = context
  const nowMs = context.nowMs()
  const plan = await planTableCompaction({ read: context.store.get, metadata, nowMs, signal })
  if (plan.outcome === 'compact') return runPlan(context, { request, metadata, plan })
  const { outcome, reason } = plan
  const next =
    plan.outcome === 'nothing-to-do' && plan.nextTriggerMs !== undefined
      ? { nextTriggerMs: plan.nextTriggerMs }
      : {}
  return {
    outcome,
    reason,
    planned: describePlan(plan),
    totals: NO_TOTALS,
    remainingGroupCount: 0,
    ...next,
  }
}

interface Run {
  readonly request: CompactTableRequest
  readonly metadata: TableMetadata
  readonly plan: Compact
}

async function runPlan(context: CompactionContext, run: Run): Promise<CompactTableOutcome> {
  const { plan, metadata } = run
  context.reachFaultPoint('compaction.planned')
  let totals = NO_TOTALS
  const skipped: string[] = []
  const end = (outcome: CompactTableOutcome['outcome'], reason: string): CompactTableOutcome => ({
    outcome,
    reason,
    planned: describePlan(plan),
    totals,
    remainingGroupCount: plan.remainingGroupCount,
  })
  for (const batch of batches(placeGroups(plan.groups, metadata, context.newUuid))) {
    context.signal.throwIfAborted()
    const result = await runBatch(context, run, batch)
    skipped.push(...result.skipped)
    if (result.conflict !== undefined) return end('conflict', result.conflict)
    totals = addTotals(totals, result.totals)
  }
  if (totals.snapshotIds.length === 0) return end('skipped', skipped.join('; '))
  const { removedFileCount: removed, addedFileCount: added } = totals
  const rest = skipped.length === 0 ? '' : `; left alone: ${skipped.join('; ')}`
  return end('succeeded', `${removed} files became ${added}${rest}`)
}

/** Consecutive groups of one partition spec, because one rewrite writes with one spec. */
function batches(groups: readonly PlacedGroup[]): readonly (readonly PlacedGroup[])[] {
  const all: PlacedGroup[][] = []
  for (const placed of groups) {
    const batch = all.at(-1)
    const isSameSpec = batch?.[0]?.group.specId === placed.group.specId
    if (batch !== undefined && isSameSpec && batch.length < COMMIT_GROUPS_MAX) batch.push(placed)
    else all.push([placed])
  }
  return all
}

interface BatchResult {
  readonly totals: CompactionTotals
  readonly skipped: readonly string[]
  readonly conflict?: string
}

async function runBatch(
  context: CompactionContext,
  run: Run,
  batch: readonly PlacedGroup[],
): Promise<BatchResult> {
  const locations = batch.flatMap(({ outputLocation }) => outputLocation ?? [])
  await context.recordOutputs(locations)
  context.reachFaultPoint('compaction.outputs-recorded')
  try {
    return await mergeAndCommit(context, run, batch)
  } catch (cause) {
    // Nobody knows whether the outputs are referenced: they stay, and stay recorded.
    if (!(cause instanceof CommitStateUnknownError)) await removeOutputs(context.store, locations)
    throw cause
  }
}

async function mergeAndCommit(
  context: CompactionContext,
  { request, metadata, plan }: Run,
  batch: readonly PlacedGroup[],
): Promise<BatchResult> {
  const merged: Extract<MergedGroup, { outcome: 'merged' }>[] = []
  const skipped: string[] = []
  for (const placed of batch) {
    const result = await mergeGroup(context, placed, { metadata, order: plan.order })
    if (result.outcome === 'merged') merged.push(result)
    else skipped.push(result.reason)
  }
  context.reachFaultPoint('compaction.data-uploaded')
  const [first] = merged
  if (first === undefined) return { totals: NO_TOTALS, skipped }
  const outputs = merged.flatMap((group) => group.outputs)
  const inputs = merged.flatMap(({ group }) => group.inputs.map(({ entry }) => entry.dataFile))
  const commit = await commitRewrite(context, {
    ...request,
    planned: metadata,
    specId: first.group.specId,
    inputPaths: inputs.map(({ filePath }) => filePath),
    outputs,
  })
  if (commit.outcome === 'conflict') {
    await removeOutputs(
      context.store,
      outputs.map(({ filePath }) => filePath),
    )
    return { totals: NO_TOTALS, skipped, conflict: commit.reason }
  }
  const totals = {
    snapshotIds: [commit.snapshotId],
    removedFileCount: inputs.length,
    addedFileCount: outputs.length,
    removedSizeBytes: inputs.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0n),
    addedSizeBytes: outputs.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0n),
    rowCount: outputs.reduce((sum, { recordCount }) => sum + recordCount, 0n),
  }
  return { totals, skipped }
}

function addTotals(a: CompactionTotals, b: CompactionTotals): CompactionTotals {
  return {
    snapshotIds: [...a.snapshotIds, ...b.snapshotIds],
    removedFileCount: a.removedFileCount + b.removedFileCount,
    addedFileCount: a.addedFileCount + b.addedFileCount,
    removedSizeBytes: a.removedSizeBytes + b.removedSizeBytes,
    addedSizeBytes: a.addedSizeBytes + b.addedSizeBytes,
    rowCount: a.rowCount + b.rowCount,
  }
}
