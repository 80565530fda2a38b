import type { CommitRequest } from '@timelake/iceberg/commit/table-update'
import { CommitStateUnknownError } from '@timelake/iceberg/io/rest-catalog-errors'
import type { DataFile } from '@timelake/iceberg/manifest/data-file'
import type { TableIdentifier } from '@timelake/iceberg/rest/table-identifier'
import { rewriteFiles, type RewriteOutcome } from '@timelake/iceberg/snapshot/rewrite-files'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import { joinLocation } from '@timelake/iceberg/spec/location'
import { MAIN_BRANCH, type Snapshot } from '@timelake/iceberg/spec/snapshot'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import type { CompactionContext } from './compaction-context.ts'
import { mainSnapshot, unreadableReason } from './contract/compaction-input.ts'
import { readTableFiles } from './plan-table-compaction.ts'
import { putOutput, removeOutputs } from './put-output.ts'

/** Commits of one rewrite after somebody else committed first. */
export const COMMIT_ATTEMPTS_MAX = 8
/** Questions about a commit whose answer was lost. */
const OUTCOME_QUESTIONS_MAX = 5
const FIRST_WAIT_MS = 100
const WAIT_GROWTH = 2

/** The summary member by which the run that made a snapshot is recognised. */
export const RUN_ID_SUMMARY_KEY = 'timelake.run-id'

export interface Rewrite {
  readonly table: TableIdentifier
  readonly runId: string
  /** The metadata that was planned on: identity and schema must still be the same. */
  readonly planned: TableMetadata
  /** All groups of one partition spec. */
  readonly specId: number
  readonly inputPaths: readonly string[]
  readonly outputs: readonly DataFile[]
}

/** `conflict`: it was certainly not committed, and planning again may help; no manifest of it is left. */
export type RewriteCommit =
  | { readonly outcome: 'committed'; readonly snapshotId: bigint }
  | { readonly outcome: 'conflict'; readonly reason: string }

/**
 * Replaces the inputs by the outputs in one `replace` snapshot on whatever the head of `main` is now: appends that came
 * after the plan are kept, and the inputs are proven live on that head. Throws CommitStateUnknownError when it cannot be
 * found out whether the commit landed; nothing was deleted then. Other errors mean that it was not committed.
 */
export async function commitRewrite(
  context: CompactionContext,
  rewrite: Rewrite,
): Promise<RewriteCommit> {
  let reason = ''
  for (let attempt = 1; attempt <= COMMIT_ATTEMPTS_MAX; attempt++) {
    const { metadata } = await context.catalog.loadTable(rewrite.table, context.signal)
    const changed = changedReason(rewrite.planned, metadata)
    if (changed !== undefined) return { outcome: 'conflict', reason: changed }
    const outcome = await attemptCommit(context, rewrite, metadata)
    if (outcome.outcome !== 'stale') return outcome
    reason = outcome.reason
    await context.waitMs(FIRST_WAIT_MS * WAIT_GROWTH ** (attempt - 1), context.signal)
  }
  return {
    outcome: 'conflict',
    reason: `${COMMIT_ATTEMPTS_MAX} commits lost their race: ${reason}`,
  }
}

type Attempt = RewriteCommit | { readonly outcome: 'stale'; readonly reason: string }

/** What makes the merged files wrong for the table as it is now. Spec changes do not: inputs keep their spec. */
function changedReason(planned: TableMetadata, now: TableMetadata): string | undefined {
  if (now.tableUuid !== planned.tableUuid) return 'another table has taken the name'
  if (now.location !== planned.location) return 'the table has moved'
  if (now.currentSchemaId !== planned.currentSchemaId) return 'the schema has changed'
  return undefined
}

async function attemptCommit(
  context: CompactionContext,
  rewrite: Rewrite,
  metadata: TableMetadata,
): Promise<Attempt> {
  const parent = mainSnapshot(metadata)
  if (parent === undefined) return { outcome: 'conflict', reason: 'the table has been emptied' }
  const files = await buildSnapshot(context, rewrite, { metadata, parent })
  if (files.outcome === 'refused') return { outcome: 'conflict', reason: files.message }
  const objects = [...files.manifests, files.manifestList]
  const locations = objects.map(({ location }) => location)
  await context.recordOutputs(locations)
  try {
    for (const { location, bytes } of objects) await putOutput(context.store, location, { bytes })
    context.reachFaultPoint('compaction.manifests-uploaded')
    // A process that slept through its lease stops here: others may have removed its outputs meanwhile.
    await context.recordOutputs([])
    await commitKnown(context, rewrite, { metadata, parent, snapshot: files.snapshot })
  } catch (cause) {
    if (cause instanceof CommitStateUnknownError) throw cause
    await removeOutputs(context.store, locations)
    if (!(cause instanceof CommitFailedError)) throw cause
    return { outcome: 'stale', reason: cause.message }
  }
  context.reachFaultPoint('compaction.committed')
  return { outcome: 'committed', snapshotId: files.snapshot.snapshotId }
}

interface Head {
  readonly metadata: TableMetadata
  readonly parent: Snapshot
}

async function buildSnapshot(
  context: CompactionContext,
  rewrite: Rewrite,
  { metadata, parent }: Head,
): Promise<RewriteOutcome | { readonly outcome: 'refused'; readonly message: string }> {
  const source = { metadata, snapshot: parent }
  const live = await readTableFiles(context.store.get, source, context.signal)
  if (live.outcome !== 'read') return { outcome: 'refused', message: unreadableReason(live) }
  const folder =
    metadata.properties['write.metadata.path'] || joinLocation(metadata.location, 'metadata')
  return rewriteFiles({
    metadata,
    parent,
    parentManifests: live.manifests,
    entriesByManifest: live.entriesByManifest,
    inputPaths: rewrite.inputPaths,
    outputs: rewrite.outputs,
    specId: rewrite.specId,
    identity: {
      snapshotId: context.newSnapshotId(),
      timestampMs: context.nowMs(),
      commitUuid: context.newUuid(),
      fileLocation: (fileName) => joinLocation(folder, fileName),
      summary: { 'engine-name': 'timelake', [RUN_ID_SUMMARY_KEY]: rewrite.runId },
    },
  })
}

/**
 * Commits and returns once it is known to be committed. A lost answer is asked for again with the same key, which the
 * catalog answers with the outcome of the first; and the table is looked at for the snapshot. Once there was doubt, only
 * a lost race that the table confirms ends it; an abort or any other trouble leaves CommitStateUnknownError.
 */
async function commitKnown(
  context: CompactionContext,
  rewrite: Rewrite,
  head: Head & { readonly snapshot: Snapshot },
): Promise<void> {
  const { catalog, signal } = context
  const request = requestOf(head)
  const idempotencyKey = context.newUuid()
  const commit = () => catalog.commitTable(rewrite.table, request, { idempotencyKey, signal })
  try {
    await commit()
    return
  } catch (cause) {
    if (!(cause instanceof CommitStateUnknownError)) throw cause
  }
  for (let question = 1; question <= OUTCOME_QUESTIONS_MAX; question++) {
    const answer = await settled(commit)
    if (answer === 'committed' || (await hasLanded(context, rewrite, head.snapshot))) return
    if (answer instanceof CommitFailedError) throw answer
    await waitInDoubt(context, FIRST_WAIT_MS * WAIT_GROWTH ** question)
  }
  throw new CommitStateUnknownError('the catalog does not tell whether the commit landed')
}

async function settled(commit: () => Promise<unknown>): Promise<'committed' | Error> {
  try {
    await commit()
    return 'committed'
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause))
  }
}

async function waitInDoubt(context: CompactionContext, delayMs: number): Promise<void> {
  try {
    await context.waitMs(delayMs, context.signal)
  } catch (cause) {
    throw new CommitStateUnknownError('stopped before the outcome of the commit was known', {
      cause,
    })
  }
}

function requestOf({
  metadata,
  parent,
  snapshot,
}: Head & { readonly snapshot: Snapshot }): CommitRequest {
  const kept = metadata.refs[MAIN_BRANCH]
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid: metadata.tableUuid },
      { type: 'assert-ref-snapshot-id', ref: MAIN_BRANCH, snapshotId: parent.snapshotId },
      { type: 'assert-current-schema-id', currentSchemaId: metadata.currentSchemaId },
    ],
    updates: [
      { action: 'add-snapshot', snapshot },
      {
        action: 'set-snapshot-ref',
        refName: MAIN_BRANCH,
        ref: { ...kept, type: 'branch', snapshotId: snapshot.snapshotId },
      },
    ],
  }
}

/** Whether the table holds the snapshot. A table that cannot be read leaves the doubt, so its error counts as one. */
async function hasLanded(
  context: CompactionContext,
  rewrite: Rewrite,
  { snapshotId }: Snapshot,
): Promise<boolean> {
  try {
    const { metadata } = await context.catalog.loadTable(rewrite.table, context.signal)
    return metadata.snapshots.some((snapshot) => snapshot.snapshotId === snapshotId)
  } catch (cause) {
    throw new CommitStateUnknownError('cannot find out whether the commit landed', { cause })
  }
}
