/**
 * The named steps at which a test may kill the process. Production passes `noFaults`.
 * A point is reached after the step it names has finished.
 */
export const FAULT_POINTS = [
  'commit.requirements-checked',
  'commit.metadata-written',
  'commit.swapped',
  'create.metadata-written',
  'create.row-written',
  'transaction.requirements-checked',
  'transaction.metadata-written',
  'transaction.half-swapped',
  'transaction.swapped',
  'compaction.planned',
  'compaction.outputs-recorded',
  'compaction.merged',
  'compaction.data-uploaded',
  'compaction.manifests-uploaded',
  'compaction.committed',
  'compaction.outcome-recorded',
  'webhooks.sent',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

/** Called at each step; a test's implementation kills the process at the chosen one. */
export type ReachFaultPoint = (point: FaultPoint) => void

export const noFaults: ReachFaultPoint = () => {}
