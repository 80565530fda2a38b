import type { CommitRequest } from '../commit/table-update.ts'
import type { Snapshot } from '../spec/snapshot.ts'

/** Snapshots of one request that are attached together; DuckDB sends one for each INSERT of a transaction. */
export const REBASE_SNAPSHOTS_MAX = 64

/** What a request that can be attached to another head consists of. */
export interface RebaseShape {
  readonly outcome: 'rebasable'
  readonly kind: 'append' | 'replace'
  readonly branch: string
  /** What the request says that the branch points at; absent: the branch must not exist. */
  readonly expectedHeadId?: bigint
  /** At least one, each the parent of the next; a single one when it is a replace. */
  readonly snapshots: readonly Snapshot[]
}

/** Why a request stays strict: a fragment that goes on after "because". */
export interface RebaseRefusal {
  readonly outcome: 'refused'
  readonly reason: string
}

/** A refusal with this reason. */
export function refuseRebase(reason: string): RebaseRefusal {
  return { outcome: 'refused', reason }
}

/** Summary members by which writers find their own commits again; with them a commit is more than its files. */
const IDENTITY_KEYS = new Set(['wap.id', 'published-wap-id', 'source-snapshot-id'])
const IDENTITY_PREFIXES = ['flink.', 'kafka.connect.', 'spark.sql.streaming.']
/** What stands in a message of a text that a client chose. */
const NAME_LENGTH_MAX = 80

/**
 * What the request adds, when it does nothing but add snapshots to one branch: appends, each on the one before, or one
 * replace; with the branch's update, and statistics. Judges the request alone; see `findRebaseBase` for the table.
 * Otherwise the reason why it must find the state that it asks for.
 */
export function rebaseShapeOf(request: CommitRequest): RebaseShape | RebaseRefusal {
  const snapshots: Snapshot[] = []
  for (const update of request.updates) {
    if (update.action === 'add-snapshot') snapshots.push(update.snapshot)
    else if (update.action !== 'set-snapshot-ref' && update.action !== 'set-statistics') {
      return refuseRebase(`it also asks for ${update.action}`)
    }
  }
  const branch = branchOf(request, snapshots)
  if (typeof branch !== 'string') return branch
  const problem = chainProblem(snapshots) ?? snapshots.map(snapshotProblem).find(isText)
  if (problem !== undefined) return refuseRebase(problem)
  const kind = kindOf(snapshots)
  if (kind === undefined) return refuseRebase(operationProblem(snapshots))
  const expected = expectedHeadOf(request, branch, snapshots)
  if ('outcome' in expected) return expected
  return { outcome: 'rebasable', kind, branch, snapshots, ...expected }
}

function isText(value: string | undefined): value is string {
  return value !== undefined
}

function branchOf(
  { updates }: CommitRequest,
  snapshots: readonly Snapshot[],
): string | RebaseRefusal {
  const added = new Set(snapshots.map(({ snapshotId }) => snapshotId))
  let branch: string | undefined
  let headId: bigint | undefined
  for (const update of updates) {
    if (update.action !== 'set-snapshot-ref') continue
    const { refName, ref } = update
    if (branch !== undefined && refName !== branch) {
      return refuseRebase(`it moves both ${shown(branch)} and ${shown(refName)}`)
    }
    if (ref.type !== 'branch' || !added.has(ref.snapshotId)) {
      return refuseRebase(`it points ${shown(refName)} at something else than its own snapshot`)
    }
    branch = refName
    headId = ref.snapshotId
  }
  if (branch === undefined) return refuseRebase('it moves no branch')
  return headId === snapshots.at(-1)?.snapshotId
    ? branch
    : refuseRebase(`it leaves ${shown(branch)} behind its last snapshot`)
}

function chainProblem(snapshots: readonly Snapshot[]): string | undefined {
  if (snapshots.length > REBASE_SNAPSHOTS_MAX) {
    return `it adds ${snapshots.length} snapshots, expected at most ${REBASE_SNAPSHOTS_MAX}`
  }
  const isChain = snapshots.every(
    ({ parentSnapshotId }, at) => at === 0 || parentSnapshotId === snapshots[at - 1]?.snapshotId,
  )
  return isChain ? undefined : 'its snapshots do not follow each other'
}

function snapshotProblem({
  snapshotId,
  summary,
  keyId,
  manifestList,
}: Snapshot): string | undefined {
  if (keyId !== undefined) return `snapshot ${snapshotId} is encrypted`
  if (manifestList === undefined) return `snapshot ${snapshotId} has no manifest list`
  const identity = Object.keys(summary ?? {}).find(isIdentity)
  return identity === undefined
    ? undefined
    : `its summary has ${shown(identity)}, by which its writer finds its commits again`
}

function isIdentity(key: string): boolean {
  const lower = key.toLowerCase()
  return IDENTITY_KEYS.has(lower) || IDENTITY_PREFIXES.some((prefix) => lower.startsWith(prefix))
}

function kindOf(snapshots: readonly Snapshot[]): 'append' | 'replace' | undefined {
  if (snapshots.every(({ summary }) => summary?.['operation'] === 'append')) return 'append'
  const isReplace = snapshots.length === 1 && snapshots[0]?.summary?.['operation'] === 'replace'
  return isReplace ? 'replace' : undefined
}

function operationProblem(snapshots: readonly Snapshot[]): string {
  const operations = snapshots.map(({ summary }) => shown(summary?.['operation'] ?? 'none'))
  const expected = snapshots.length === 1 ? 'append or replace' : 'append for each of its snapshots'
  return `its operation is ${[...new Set(operations)].join(' and ')}, expected ${expected}`
}

/** What it requires of the branch and what its first snapshot stands on must be the same, or it proves nothing. */
function expectedHeadOf(
  { requirements }: CommitRequest,
  branch: string,
  [first]: readonly Snapshot[],
): { expectedHeadId?: bigint } | RebaseRefusal {
  const asserted = requirements.flatMap((requirement) =>
    requirement.type === 'assert-ref-snapshot-id' && requirement.ref === branch
      ? [requirement.snapshotId === -1n ? undefined : requirement.snapshotId]
      : [],
  )
  if (asserted.length === 0) return refuseRebase(`it requires nothing of ${shown(branch)}`)
  const expectedHeadId = asserted[0]
  if (asserted.some((id) => id !== expectedHeadId)) {
    return refuseRebase(`it requires two states of ${shown(branch)}`)
  }
  if (expectedHeadId === undefined) return {}
  return first?.parentSnapshotId === expectedHeadId
    ? { expectedHeadId }
    : refuseRebase(
        `it requires ${shown(branch)} at ${expectedHeadId}, but its snapshot stands on ${first?.parentSnapshotId ?? 'none'}`,
      )
}

/** A text of a client, short and on one line. */
export function shown(text: string): string {
  const plain = text.replaceAll(/[^\x20-\x7e\u00a0-\uffff]/g, '?')
  return plain.length > NAME_LENGTH_MAX ? `${plain.slice(0, NAME_LENGTH_MAX)}…` : plain
}
