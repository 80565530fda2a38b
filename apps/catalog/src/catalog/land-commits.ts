import { checkRequirements, createsTable } from '@timelake/iceberg/commit/check-requirements'
import type { CommitRequest, TableUpdate } from '@timelake/iceberg/commit/table-update'
import { mapBounded } from '@timelake/iceberg/io/map-bounded'
import { CommitFailedError } from '@timelake/iceberg/spec/errors'
import type { TableMetadata } from '@timelake/iceberg/spec/table-metadata'
import { isRootProperty } from '@timelake/iceberg/spec/table-roots'
import type { TableRow } from '@timelake/database/table-row'
import type { OrderingClass } from '../commit-lanes.ts'
import type { LoadedMetadata } from '../cache/loaded-metadata.ts'
import type { Catalog } from './catalog.ts'
import { findTarget, type CommitTarget, type KnownRow } from './commit-target.ts'
import { findAnyRow } from './find-row.ts'
import { hasLanded, isResultOf } from './landed-request.ts'
import { checkLocations, planChange, type PlannedChange } from './plan-changes.ts'
import { classOf, prefetchRebase } from './rebase-request.ts'
import { publishChanges } from './publish-changes.ts'
import { queueMember } from './queue-member.ts'
import { faultPointsOf } from './commit-fault-points.ts'
import type { CommitSet, TableCommit } from './table-commit.ts'
import { identifierKey } from './table-identifier.ts'
import { writeChanges } from './write-changes.ts'

/** What each table has after the commits landed; undefined where a repetition finds its table gone again. */
export type LandedTables = readonly (LoadedMetadata | undefined)[]

/** Tables of one request that are looked up at one time. */
const TARGET_READS_MAX = 8

/**
 * Lands all commits of the set or none; answers the metadata of their tables, in their order, durable and visible to every
 * later load. The repetition of a landed request changes nothing and succeeds. Commits of one table take turns; a lost
 * race with another process is tried again on the new state, requirements included.
 * Throws NoSuchTableError, NoSuchNamespaceError, NameTakenError (by a view), CommitFailedError (a requirement, or too many
 * lost races) and InvalidInputError, all of them with nothing applied; NotAppliedError likewise; CommitStateUnknownError
 * when the outcome could not be found out.
 */
export async function landCommits(catalog: Catalog, set: CommitSet): Promise<LandedTables> {
  for (const { requests } of set.commits) requests.forEach(createsTable)
  const known = await mapBounded(set.commits, TARGET_READS_MAX, async ({ identifier }) => ({
    row: await findAnyRow(catalog, set.warehouse, identifier),
  }))
  const lanes = set.commits.map(
    ({ identifier }, index) => known[index]?.row?.id ?? identifierKey(set.warehouse.id, identifier),
  )
  const [commit] = set.commits
  const row = known[0]?.row
  if (commit !== undefined && row !== undefined && mayJoinGroup(set, row)) {
    return [await landInGroup(catalog, set, { commit, row })]
  }
  // Without anybody in front, what was found is as good as what would be found again.
  const fresh = lanes.every((lane) => catalog.lanes.isFree(lane)) ? known : []
  return catalog.lanes.runAcross(lanes, () => landInTurn(catalog, set, fresh))
}

/** Whether the set is a commit of one table that is there and stays where it is. */
function mayJoinGroup({ commits }: CommitSet, row: TableRow): boolean {
  const [commit, ...others] = commits
  if (commit === undefined || others.length > 0 || row.kind !== 'table') return false
  return !commit.requests.some((request) => createsTable(request) || request.updates.some(mayMove))
}

/** Whether the update may give the table other folders. */
function mayMove(update: TableUpdate): boolean {
  switch (update.action) {
    case 'set-location':
      return true
    case 'set-properties':
      return Object.keys(update.updates).some(isRootProperty)
    case 'remove-properties':
      return update.removals.some(isRootProperty)
    default:
      return false
  }
}

async function landInGroup(
  catalog: Catalog,
  set: CommitSet,
  { commit, row }: { readonly commit: TableCommit; readonly row: TableRow },
): Promise<LoadedMetadata> {
  const { warehouse, slot, requestHash, answers, isRebaseAsked } = set
  const { identifier, requests } = commit
  const { orderingClass, hasWaited } = await prepare(catalog, set, { commit, row })
  const answer = await queueMember(catalog, row.id, {
    warehouse,
    slot,
    identifier,
    ask: { kind: 'request', requests, requestHash, answers, isRebaseAsked },
    orderingClass,
    // Without anybody in front, what was found is as good as what would be found again.
    known: !hasWaited && catalog.lanes.isFree(row.id) ? row : undefined,
  })
  return answer.loaded
}

interface Prepared {
  readonly orderingClass: OrderingClass
  /** Whether the table may have changed meanwhile. */
  readonly hasWaited: boolean
}

/**
 * How the commit waits. What attaching it to another state will need is read before it takes its place, or everybody who
 * lands with it would wait for that.
 */
async function prepare(
  catalog: Catalog,
  { warehouse, isRebaseAsked }: CommitSet,
  { commit, row }: { readonly commit: TableCommit; readonly row: TableRow },
): Promise<Prepared> {
  const location = row.metadataLocation
  const loaded =
    catalog.metadata.peek(warehouse, location) ?? (await catalog.metadata.get(warehouse, location))
  const { metadata } = loaded
  const { properties } = metadata
  const classes = commit.requests.map((request) =>
    classOf(request, { properties, isAsked: isRebaseAsked }),
  )
  const [first = 'strict'] = classes
  if (first === 'strict' || classes.some((other) => other !== first)) {
    return { orderingClass: 'strict', hasWaited: false }
  }
  // Without anybody in front, a commit on the newest state will not be attached to another one.
  const [request] = commit.requests
  if (request !== undefined && catalog.lanes.isFree(row.id) && isMet(metadata, request)) {
    return { orderingClass: first, hasWaited: false }
  }
  await Promise.all(
    commit.requests.map((one) => prefetchRebase(catalog, { warehouse, metadata, request: one })),
  )
  return { orderingClass: first, hasWaited: true }
}

function isMet(metadata: TableMetadata, request: CommitRequest): boolean {
  try {
    checkRequirements(metadata, request)
    return true
  } catch (error) {
    if (error instanceof CommitFailedError) return false
    throw error
  }
}

async function landInTurn(
  catalog: Catalog,
  set: CommitSet,
  known: readonly KnownRow[],
): Promise<LandedTables> {
  const { commitAttemptsMax } = catalog.config
  for (let attempt = 1; attempt <= commitAttemptsMax; attempt += 1) {
    const outcome = await landOnce(catalog, set, attempt === 1 ? known : [])
    if (outcome !== 'stale') return outcome
    catalog.metrics.commitRaces.inc()
  }
  throw new CommitFailedError(`the table changed ${commitAttemptsMax} times during the commit`)
}

async function landOnce(
  catalog: Catalog,
  set: CommitSet,
  known: readonly KnownRow[],
): Promise<LandedTables | 'stale'> {
  const { warehouse } = set
  const { reachFaultPoint } = catalog.context
  const found = await findTargets(catalog, set, known)
  if (await landedBefore(catalog, set, found)) return found.map(presentMetadata)
  const targets = found.map(targetOf)
  const planned = await planOrRecognize(catalog, set, targets)
  if (planned === 'landed-before') return found.map(presentMetadata)
  const points = faultPointsOf(set, targets)
  reachFaultPoint(points.checked)
  const changes = planned.filter((one) => one.change !== 'hold')
  if (changes.length === 0) return found.map(presentMetadata)
  await checkLocations(catalog, warehouse, changes)
  const written = await writeChanges(catalog, warehouse, changes)
  reachFaultPoint(points.written)
  const held = planned.flatMap((one) => (one.change === 'hold' ? [one.target] : []))
  if ((await publishChanges(catalog, { set, written, held })) === 'stale') return 'stale'
  reachFaultPoint(points.published)
  const changed = new Map(written.map((one) => [one.target.commit, one.written.loaded]))
  return targets.map((target) => changed.get(target.commit) ?? presentMetadata({ target }))
}

/** A table of the set as it is, or why it is of no use. */
type Found = { readonly target: CommitTarget } | { readonly error: unknown }

function findTargets(
  catalog: Catalog,
  { warehouse, commits }: CommitSet,
  known: readonly KnownRow[],
): Promise<Found[]> {
  const asked = commits.map((commit, index) => ({ commit, known: known[index] }))
  return mapBounded(asked, TARGET_READS_MAX, (one) =>
    findTarget(catalog, warehouse, one).then(
      (target) => ({ target }),
      (error: unknown) => ({ error }),
    ),
  )
}

function targetOf(found: Found): CommitTarget {
  if ('error' in found) throw found.error
  return found.target
}

function presentMetadata(found: Found): LoadedMetadata | undefined {
  return 'target' in found && found.target.kind === 'existing' ? found.target.base : undefined
}

/** The set landed as a whole, so one table that says so is enough, whatever became of the others since. */
async function landedBefore(
  catalog: Catalog,
  { requestHash }: CommitSet,
  found: readonly Found[],
): Promise<boolean> {
  for (const one of found) {
    if ('error' in one || one.target.kind === 'new') continue
    if (await hasLanded(catalog, one.target, requestHash)) return true
  }
  return false
}

/** The changes of the set, or the news that one of its tables is the very result of this request. */
async function planOrRecognize(
  catalog: Catalog,
  { requestHash }: CommitSet,
  targets: readonly CommitTarget[],
): Promise<PlannedChange[] | 'landed-before'> {
  try {
    return targets.map((target) => planChange(catalog, target))
  } catch (error) {
    if (!(error instanceof CommitFailedError)) throw error
    for (const target of targets) {
      if (target.kind === 'new') continue
      if (await isResultOf(catalog, target.row, requestHash)) return 'landed-before'
    }
    throw error
  }
}
